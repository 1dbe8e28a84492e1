// The linear policies of `stein bench replay` as a user of Eigen and the standard library writes them.
#pragma once

#include <stein/bench/eigen_regressions.h>
#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <random>
#include <vector>

namespace stein::bench {

/// LinUCB and linear Thompson sampling, with a regression for every arm or one for all; without intercept.
class EigenPolicy final : public policies::BanditPolicy {
 public:
  /// How it decides: LinUCB where `alpha` > 0, by one draw an arm else.
  struct Options {
    bool common = false;  ///< one regression of all products of context and features of arms
    double alpha = 0;
    double prior_precision = 1, prior_shape = 6, prior_rate = 6;  ///< as of policies::LinTs
  };
  EigenPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  policies::Decision decide(const envs::Context& context, std::int64_t step, policies::Propensities wanted) override;
  void observe(const envs::Context& context, const policies::Outcome& outcome) override;

 private:
  EigenSums sums() { return {inverses_.data(), moments_.data(), coefficients_.data()}; }
  void predict(const envs::Context& context);
  /// Writes z of the arm in a place to `row`.
  void multiply_out(const envs::Context& context, std::size_t place, double* row) const;
  void judge_by_bounds();
  void judge_by_draws(const envs::Context& context);

  Options options_;
  envs::BanditSpec spec_;
  std::uint64_t seed_;
  std::int64_t columns_;
  EigenRegressions regressions_ = eigen_regressions();
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_;
  std::vector<double> inverses_, moments_, coefficients_;
  std::vector<double> counts_, squares_;               ///< [regressions] of interactions, and of their rewards
  std::vector<double> rows_;                           ///< x, or z of every arm
  std::vector<double> means_, leverages_, judgement_;  ///< [choices]
};

}  // namespace stein::bench
