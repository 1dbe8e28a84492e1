// A way of moving particles along the gradient of a log density.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/batch.h>
#include <stein/inference/particles.h>
#include <stein/inference/target.h>

namespace stein::inference {

/// What one step did.
struct StepReport {
  bool accepted = true;    ///< false only where a Metropolis test rejected the proposal
  bool divergent = false;  ///< the trajectory left the region where its integrator is stable
};

/// Moves all particles by one step, pulling as many gradients from the target as it needs, and calls `Target::adapt`
/// once after every step that was accepted.
template <class Scalar>
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// @throws Error(usage)    unless the particles have the rows and coordinates that the sampler was made for
  /// @throws Error(numeric)  naming the first coordinate whose gradient is not finite, and the particles are left as
  /// they
  ///                         were; or the first that the step itself has taken out of the finite numbers, and the
  ///                         particles are of no more use
  virtual StepReport step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) = 0;

  /// Everything that the next step depends on besides the particles: momenta, averages, step count.
  virtual void save(Snapshot& snapshot) const = 0;
  virtual void restore(const Snapshot& snapshot) = 0;
};

}  // namespace stein::inference
