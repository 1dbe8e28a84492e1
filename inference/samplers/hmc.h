// Hamiltonian Monte Carlo on the full data, with a Metropolis test.
#pragma once

#include <stein/inference/samplers/hamiltonian_sampler.h>

namespace stein::inference {

/// Those of every trajectory, and how long one is.
struct HmcOptions {
  TrajectoryOptions trajectory{};
  std::int64_t leapfrog_steps = 16;

  template <class V>
  void describe(V& v) {
    trajectory.describe(v);
    v("leapfrog_steps", leapfrog_steps, "L: leapfrog steps of a trajectory", between(1, 1e6));
  }
};

/// Hamiltonian Monte Carlo (Duane et al. 1987; Neal 2011; Hernández et al., equations 11 to 14): L leapfrog steps and a
/// Metropolis test, so that the posterior is exact at any step size. Give it the full batch: with minibatches the test
/// means nothing. Every particle is a chain of its own.
template <class Scalar>
class Hmc final : public HamiltonianSampler<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = HmcOptions;
  /// @param ensemble  its particles are independent chains, at least one of at least one coordinate
  /// @throws Error(usage) naming the option or the size that is out of range
  Hmc(const Options& options, const Ensemble& ensemble);
  std::string_view name() const override { return "hmc"; }

 private:
  std::unique_ptr<Walker<Scalar>> make_walker() const override;

  std::int64_t leapfrog_steps_;
};

}  // namespace stein::inference
