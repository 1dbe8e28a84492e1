// Stein variational gradient descent: particles climb together and push one another apart.
#pragma once

#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/svgd_kernel.h>

namespace stein::inference {

/// The kernel, and the optimizer that follows its direction.
struct SvgdOptions {
  SvgdKernelOptions kernel{};
  OptimizerOptions optimizer{};

  template <class V>
  void describe(V& v) {
    kernel.describe(v);
    optimizer.describe(v);
  }
};

/// Stein variational gradient descent (Liu & Wang 2016, eq. 8): moves all particles jointly along the kernelised
/// gradient.
///
/// One step: φ_i += ε (1/M) Σ_j [ k(φ_j, φ_i) ∇ log p(φ_j) + ∇_{φ_j} k(φ_j, φ_i) ], through `options.optimizer`. The
/// gradients hold ∇ log p of the full joint (not of a mean). With the RBF median kernel the fixed point has too little
/// variance in high dimension; tests/inference/samplers/svgd_test.cpp holds it to the known values. Cost: O(M² Q)
/// multiply-adds, one pass over the particles for the distances and one for the update; of `least_shared` particles or
/// more on the host, ranks each do some.
template <class Scalar>
class Svgd final : public GradientSampler<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = SvgdOptions;
  /// M particles take M² Q multiply-adds to be moved, and M Q numbers to be brought: from some 28 (ranks of one machine
  /// at 4.8 GB/s, AVX-512) to 83 (1.6 GB/s) on, a rank that moves its share saves more than it waits.
  static constexpr std::int64_t least_shared = 64;
  /// The parameters and errors of GradientSampler; the update itself draws nothing.
  Svgd(const Options& options, const Ensemble& ensemble);

  std::string_view name() const override { return "svgd"; }
  std::string_view form() const override { return method_name(state_.method()); }
  void share_moves(distributed::Communicator& ranks) override;
  void bring_together() override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  /// Of the last step, at the positions before it; empty where a GPU makes them, of up to 45 particles: they stay
  /// there.
  const KernelWeights& kernel() const { return weights_; }

 private:
  bool move(Particles<Scalar>& particles, const Batch<Scalar>& batch) override;
  void hold_state(std::int64_t i, std::span<const std::uint8_t> free) override { state_.hold(this->driver(), i, free); }

  OptimizerState<Scalar> state_;
  distributed::Communicator* ranks_ = &distributed::single_process();  ///< which move some particles each
  Device device_;
  SvgdKernelOptions kernel_options_;
  KernelWeights weights_;
  std::vector<double> distances_;  ///< or inner products, [M·M]
};

}  // namespace stein::inference
