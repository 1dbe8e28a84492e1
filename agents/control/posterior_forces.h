// What moves the particles of a Stein posterior in one update, taken apart.
#pragma once

#include <stein/agents/control/learning_measures.h>
#include <stein/inference/samplers/svgd_kernel.h>
#include <stein/inference/storage/matrix.h>
#include <stein/inference/target.h>

namespace stein::agents {

/// Positions of the particles before an update, their gradients there, and what prior and repulsion add to them.
class PosteriorForces {
 public:
  /// Measures drive and prior of particles where they are, before they move. @param batch  the minibatch of that update
  PosteriorForces(inference::Target<float>& target, const inference::Particles<float>& particles,
                  const inference::Batch<float>& batch);

  /// Takes the repulsion of a kernel that does not see weights: what `repulsion` scores the batch with, pulled back to
  /// the weights.
  void take_repulsion(inference::Target<float>& target, const inference::Particles<float>& particles,
                      const inference::Batch<float>& batch, const inference::OutputScore<float>& repulsion);
  /// [M, Q] of the full log joint, where they were asked for.
  void take_gradients(const inference::Particles<float>& particles);

  /// @param kernel  of weights, that has moved them; null where the repulsion was taken
  PosteriorParts parts(const inference::SvgdKernelOptions* kernel) const;

 private:
  inference::Matrix<float> positions_, priors_, gradients_, repulsions_;  ///< [M, Q] on the host; the last may be empty
};

}  // namespace stein::agents
