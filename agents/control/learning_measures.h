// What one watches a control agent learn by: how far the policies moved, how good the baseline is, how long gradients
// are.
#pragma once

#include <stein/inference/samplers/svgd_kernel.h>
#include <stein/inference/storage/matrix_view.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stein::agents {

/// How far an update has moved a policy on the rows that it was made from.
struct PolicyChange {
  double approximate_kl = 0;  ///< KL(π_old ‖ π) in nats, by the mean of r − 1 − log r, r = π/π_old (Schulman 2020)
  double clip_share = 0;  ///< of the rows with |r − 1| > ε
  double surrogate = 0;   ///< mean of min(r A, clip(r, 1 − ε, 1 + ε) A); of r A without a clip ratio
};

/// @param log_ratio   log r of every row, of which the first entries are looked at
/// @param advantages  of the same rows
/// @param clip_ratio  ε; 0: nothing is clipped
PolicyChange policy_change(std::span<const float> log_ratio, std::span<const float> advantages, double clip_ratio);

/// Lengths of the three parts of the Stein direction, each the mean over particles, in units of ∇ of the full log
/// joint; clipping and preconditioning come after.
struct PosteriorParts {
  double drive = 0;      ///< Σ_j k_ij ∇(J_j/α)
  double prior = 0;      ///< Σ_j k_ij ∇ log p₀(x_j)
  double repulsion = 0;  ///< Σ_j ∇_{x_j} k_ij

  double sum() const { return drive + prior + repulsion; }
};

/// @param weights    of the kernel at `positions`
/// @param gradients  [M, Q] of the full log joint
/// @param priors     [M, Q] of the log prior alone
PosteriorParts posterior_parts(const inference::KernelWeights& weights, inference::MatrixView<const float> positions,
                               inference::MatrixView<const float> gradients, inference::MatrixView<const float> priors);

/// Of a kernel that does not see weights (BehaviourKernel): the gradients [M, Q] hold all three parts, the drive
/// through the kernel, the prior of the particle itself and the repulsion.
PosteriorParts posterior_parts(inference::MatrixView<const float> gradients, inference::MatrixView<const float> priors,
                               inference::MatrixView<const float> repulsions);

/// What is measured of one iteration, as means over particles.
struct LearningMeasures {
  double entropy = 0;                     ///< of the policies before the update, in nats, the mean over all rows
  PolicyChange change{};                  ///< by all updates of the iteration
  std::optional<double> deviation{};      ///< of actions that are numbers: their sd before the update
  double explained_variance = 0;          ///< of the returns by the baseline, before it learned from them
  double value_loss = 0;                  ///< half the mean squared error of the baseline, the same moment
  double gradient_norm = 0;               ///< of the last update, of ∇ of the full log joint before it is clipped
  double step_size = 0;                   ///< of the last update
  std::optional<PosteriorParts> parts{};  ///< of the first update, where the posterior is Stein's
  /// The share of all rows that a particle learns from, where rollouts are shared (SharedRollouts::effective_share):
  /// how much alike particles act.
  std::optional<double> effective_share{};

  /// Tag and value of each, as metrics record them. @param clipped  whether the surrogate is
  std::vector<std::pair<std::string, double>> tagged(bool clipped) const;
};

}  // namespace stein::agents
