// The no-U-turn sampler.
#pragma once

#include <stein/inference/samplers/hamiltonian_sampler.h>

namespace stein::inference {

/// Those of every trajectory, and how far one may double.
struct NutsOptions {
  TrajectoryOptions trajectory{};
  std::int64_t max_depth = 10;

  template <class V>
  void describe(V& v) {
    trajectory.describe(v);
    v("max_depth", max_depth, "a trajectory has at most 2^max_depth leapfrog steps", between(1, 20));
  }
};

/// The no-U-turn sampler (Hoffman & Gelman 2014) with multinomial draws from the trajectory and the generalised
/// criterion (Betancourt 2017, appendix A), checked across neighbouring subtrees too, as Stan does since 2.21. The
/// warm-up tunes step size and diagonal mass in Stan's windows. Give it the full batch. Every particle is a chain of
/// its own.
template <class Scalar>
class Nuts final : public HamiltonianSampler<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = NutsOptions;
  /// @param ensemble  its particles are independent chains, at least one of at least one coordinate
  /// @throws Error(usage) naming the option or the size that is out of range
  Nuts(const Options& options, const Ensemble& ensemble);
  std::string_view name() const override { return "nuts"; }

 private:
  std::unique_ptr<Walker<Scalar>> make_walker() const override;

  std::int64_t max_depth_;
};

}  // namespace stein::inference
