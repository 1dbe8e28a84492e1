// The policy that everything is measured against: every arm with the same probability.
#pragma once

#include <stein/policies/bandit_policy.h>

#include <vector>

namespace stein::policies {

/// Draws arms uniformly and learns nothing.
class Uniform final : public BanditPolicy {
 public:
  /// None.
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  static constexpr bool learns = false;

  Uniform(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;

 private:
  envs::BanditSpec spec_;
  std::uint64_t seed_;
  std::vector<double> propensities_;
};

}  // namespace stein::policies
