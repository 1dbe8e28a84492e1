// Stein variational gradient descent between policies: particles are pushed apart by what they do, not by their
// weights.
#pragma once

#include <stein/inference/storage/matrix.h>
#include <stein/inference/targets/function_kernel.h>
#include <stein/policies/control_policy.h>

#include <span>
#include <vector>

namespace stein::agents {

/// Slopes of every particle's outputs that somebody has prepared for a batch, as a score.
class PreparedSlopes final : public inference::OutputScore<float> {
 public:
  void resize(std::int64_t particles, std::int64_t rows, std::int64_t outputs, std::int64_t constants);
  /// By the outputs of particle i, [n, K].
  inference::MatrixView<float> outputs(std::int64_t i) { return {outputs_.row(i).data(), rows_, columns_}; }
  /// The slopes by all outputs of particle i as one row, [n·K].
  std::span<float> all_outputs(std::int64_t i) { return outputs_.row(i); }
  /// By its constants, [C].
  std::span<float> constants(std::int64_t i) {
    return std::span(constants_)
        .subspan(static_cast<std::size_t>(i * constant_count_), static_cast<std::size_t>(constant_count_));
  }

  bool has_value() const override { return false; }
  double score(std::int64_t particle, std::int64_t first, inference::MatrixView<const float> outputs,
               std::span<const float> constants, inference::MatrixView<float> gradient,
               std::span<float> constant_gradient) const override;

 private:
  std::int64_t rows_ = 0, columns_ = 0, constant_count_ = 0;
  inference::Matrix<float> outputs_;  ///< [M, n·K]
  std::vector<float> constants_;      ///< [M·C]
};

/// Function-space SVGD (inference::FunctionKernel) whose functions are policies. With f_i the behaviour of particle i
/// (policies::ActionDistribution::behaviour) at n states that all particles look at, its squared distances the mean
/// over the states of KL(π_i ‖ π_j) + KL(π_j ‖ π_i) to second order, and g_j the slope of J/α by the outputs of
/// particle j, the outputs of particle i have the slope
///   Σ_j [k(f_j, f_i) g_j + ∇_{f_j} k(f_j, f_i)] / Σ_j k(f_j, f_i),
/// which the network pulls back to its weights. What behaviours are measured in, and the bandwidth, are constants of
/// the step. Particles whose hidden units are permuted are one policy to it, and climb as one.
class BehaviourKernel {
 public:
  /// @throws Error(usage) naming an option that is out of range, and for a linear kernel
  explicit BehaviourKernel(const inference::SvgdKernelOptions& options) : kernel_(options) {}

  /// Prepares the slopes at the weights that the policies have.
  /// @param states     [n, O] as the networks see them, the same for all particles
  /// @param counts     [n] whether a state counts; else it only fills up, and moves nothing but what `objective` says
  /// @param objective  J/α: scores the outputs of every particle at these n states
  void look_at(const policies::ControlPolicy& policy, inference::MatrixView<const float> states,
               std::span<const std::uint8_t> counts, const inference::OutputScore<float>& objective);

  /// What a posterior climbs.
  const inference::OutputScore<float>& score() const { return score_; }
  /// The repulsion alone.
  const inference::OutputScore<float>& repulsion() const { return repulsion_; }

 private:
  using Parameters = policies::ActionDistribution::Parameters;
  void place(const policies::ActionDistribution& distribution, std::span<const Parameters> parameters,
             std::span<const std::uint8_t> counts);
  void repel(const policies::ActionDistribution& distribution, const Parameters& own, std::int64_t i);
  void climb(std::int64_t i);

  inference::FunctionKernel kernel_;
  inference::Matrix<float> outputs_;  ///< [M, n·K]
  std::vector<float> scales_;         ///< [n·F] that behaviours are measured in
  double share_ = 0;                  ///< 1/√(states that count)
  inference::Matrix<float> behaviours_;  ///< [M, n·F] less their mean, × share: ‖f_i − f_j‖² is a mean over states
  PreparedSlopes drive_, repulsion_, score_;
};

}  // namespace stein::agents
