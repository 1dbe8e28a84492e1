// Policies of one network that explore by the gradients of its outputs: NeuralUCB and neural Thompson sampling.
#pragma once

#include <stein/policies/gradient_variance.h>
#include <stein/policies/neural_policy.h>
#include <stein/policies/student_t.h>

#include <vector>

namespace stein::policies {

/// One network, and a variance σ_a² of what it predicts for every arm (GradientVariance).
class GradientPolicy : public NeuralPolicy {
 public:
  /// The network, and how widely it explores.
  struct Options : NeuralPolicy::Options {
    double exploration = 0.1;
    double gradient_precision = 1;

    template <class V>
    void describe(V& v) {
      v("exploration", exploration, "what the sd that the gradients say is multiplied with", non_negative);
      v("gradient_precision", gradient_precision, "λ: what Z = λI + Σ g gᵀ/m begins with", positive);
      NeuralPolicy::Options::describe(v);
    }
  };

  void observe(const envs::Context& context, const Outcome& outcome) override;
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 protected:
  /// Throws Error(usage) naming the option that is out of range or does not fit the bandit or the device, and for a
  /// likelihood that is not Gaussian and for averaged weights.
  GradientPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed, inference::Device device);

  /// A normal variable for every arm that can be chosen: its mean is what the network predicts, its sd `exploration`
  /// times σ_a, in the unit of the scaled rewards. Valid until the next call.
  std::span<const StudentT> rewards(const envs::Context& context);

 private:
  double exploration_;
  GradientVariance variance_;
  std::vector<StudentT> rewards_;
};

/// NeuralUCB (Zhou, Li & Gu 2020, algorithm 1): the arm of the largest upper bound; equals share the probability.
class NeuralUcb final : public GradientPolicy {
 public:
  /// Throws as GradientPolicy.
  NeuralUcb(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed, inference::Device device = {})
      : GradientPolicy(options, spec, seed, device) {}
  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;

 private:
  std::vector<double> bounds_;
};

/// Neural Thompson sampling (Zhang, Zhou, Li & Gu 2021, algorithm 1): the arm of the largest draw; propensities are
/// integrals over the normal densities.
class NeuralTs final : public GradientPolicy {
 public:
  /// Throws as GradientPolicy.
  NeuralTs(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed, inference::Device device = {})
      : GradientPolicy(options, spec, seed, device) {}
  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;

 private:
  std::vector<double> draws_;
  LargestProbability<StudentTDensity> quadrature_;
};

}  // namespace stein::policies
