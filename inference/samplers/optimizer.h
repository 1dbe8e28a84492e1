// Momentum SGD, RMSprop and Adam: the temperature-0 samplers, and the preconditioners of SVGD's direction.
#pragma once

#include <stein/inference/samplers/gradient_sampler.h>
#include <stein/inference/samplers/optimizer_step.h>
#include <stein/inference/storage/matrix.h>

namespace stein::inference {

/// The method, its step sizes and its averages.
struct OptimizerOptions {
  OptimizerMethod method = OptimizerMethod::adam;
  StepSizeOptions step{};
  double momentum = 0.9;        ///< of the direction: sgd and adam (β₁); rmsprop has none
  double square_decay = 0.999;  ///< of the squared direction: rmsprop and adam (β₂)
  double epsilon = 1e-8;        ///< added to the root
  GradientClipOptions clip{};

  template <class V>
  void describe(V& v) {
    v("optimizer", method, "how the direction is preconditioned",
      {{"sgd", OptimizerMethod::sgd}, {"rmsprop", OptimizerMethod::rmsprop}, {"adam", OptimizerMethod::adam}});
    step.describe(v);
    v("momentum", momentum, "decay of the averaged direction (sgd; β₁ of adam)",
      Range{.low = 0, .high = 1, .high_open = true});
    v("square_decay", square_decay, "decay of the averaged square (rmsprop; β₂ of adam)",
      Range{.low = 0, .high = 1, .high_open = true});
    v("optimizer_epsilon", epsilon, "added to the root of the averaged square", positive);
    clip.describe(v);
  }
};

constexpr std::string_view method_name(OptimizerMethod method) {
  return method == OptimizerMethod::sgd ? "sgd" : method == OptimizerMethod::rmsprop ? "rmsprop" : "adam";
}

/// Averages that an optimizer keeps for every coordinate, [M, Q] each.
template <class Scalar>
class OptimizerState {
 public:
  /// Throws Error(usage) naming the option that is out of range.
  OptimizerState(const OptimizerOptions& options, const Ensemble& ensemble);

  /// The numbers of update t = 0, 1, … at step size h.
  OptimizerStep step(std::int64_t t, double step_size) const;
  /// Without data where the method keeps none: RMSprop, and SGD without momentum.
  MatrixView<Scalar> mean() { return mean_.view(); }
  MatrixView<Scalar> square() { return square_.view(); }
  OptimizerMethod method() const { return options_.method; }
  /// Sets the averages of particle i to zero where `free` is 0.
  void hold(const Driver<Scalar>& driver, std::int64_t i, std::span<const std::uint8_t> free);

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state has another shape.
  void restore(const Snapshot& snapshot);

 private:
  OptimizerOptions options_;
  Matrix<Scalar> mean_, square_;
};

/// Every particle climbs on its own: maximum a posteriori for M = 1, an ensemble without repulsion for M > 1.
template <class Scalar>
class Optimizer final : public GradientSampler<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = OptimizerOptions;
  /// The parameters and errors of GradientSampler; the update itself draws nothing.
  Optimizer(const Options& options, const Ensemble& ensemble);

  std::string_view name() const override { return "optimizer"; }
  std::string_view form() const override { return method_name(state_.method()); }
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 private:
  bool move(Particles<Scalar>& particles, const Batch<Scalar>& batch) override;
  void hold_state(std::int64_t i, std::span<const std::uint8_t> free) override { state_.hold(this->driver(), i, free); }

  OptimizerState<Scalar> state_;
};

}  // namespace stein::inference
