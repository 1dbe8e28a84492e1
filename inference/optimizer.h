// Momentum SGD, RMSprop and Adam: the temperature-0 samplers, and the preconditioners of SVGD's direction.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/sampler.h>

namespace stein::inference {

enum class OptimizerMethod { sgd, rmsprop, adam };

struct OptimizerOptions {
  OptimizerMethod method = OptimizerMethod::adam;
  double step_size = 1e-3;  ///< multiplies the (preconditioned) direction
  double step_half_life =
      0;  ///< after this many updates the step size is half, after three times as many a quarter; 0: constant
  double momentum = 0.9;        ///< of the direction: sgd and adam (β₁); rmsprop has none
  double square_decay = 0.999;  ///< of the squared direction: rmsprop and adam (β₂)
  double epsilon = 1e-8;        ///< added to the root
  double clip_norm = 0;         ///< longest direction of one particle; 0: no clipping

  template <class V>
  void describe(V& v) {
    v("optimizer", method, "how the direction is preconditioned",
      {{"sgd", OptimizerMethod::sgd}, {"rmsprop", OptimizerMethod::rmsprop}, {"adam", OptimizerMethod::adam}});
    v("step_size", step_size, "multiplies the preconditioned direction", positive);
    v("step_half_life", step_half_life, "h/(1 + t/τ): updates after which the step size is half; 0 keeps it",
      non_negative, "updates");
    v("momentum", momentum, "decay of the averaged direction (sgd; β₁ of adam)",
      Range{.low = 0, .high = 1, .high_open = true});
    v("square_decay", square_decay, "decay of the averaged square (rmsprop; β₂ of adam)",
      Range{.low = 0, .high = 1, .high_open = true});
    v("optimizer_epsilon", epsilon, "added to the root of the averaged square", positive);
    v("clip_norm", clip_norm, "longest direction of one particle, ∇ of the full log joint; 0: no clipping",
      non_negative);
  }
};

/// The numbers that one update of every coordinate shares.
struct OptimizerStep {
  double step_size;  ///< with Adam's bias correction of the first moment folded in
  double momentum;
  double square_decay;
  double square_correction;  ///< 1/√(1 − β₂ᵗ) for Adam, else 1
  double epsilon;
};

/// One coordinate, for floats, doubles and (as the same lines) SIMD vectors in fused/svgd_pass.cpp:
///   sgd:      m ← μ m + d;            x ← x + h m
///   rmsprop:  v ← β v + (1 − β) d²;   x ← x + h d / (√v + ε)
///   adam:     m ← μ m + (1 − μ) d;  v ← β v + (1 − β) d²;  x ← x + h m / (√v c + ε)
/// with d the direction of ascent (Kingma & Ba 2015, Algorithm 1; Tieleman & Hinton 2012).
template <class Scalar>
void update_coordinate(OptimizerMethod method, const OptimizerStep& step, Scalar direction, Scalar& value, Scalar& mean,
                       Scalar& square);

/// Averages that an optimizer keeps for every coordinate, [M, Q] each, and the number of updates so far.
template <class Scalar>
class OptimizerState {
 public:
  OptimizerState(const OptimizerOptions& options, std::int64_t rows, std::int64_t size);

  /// The numbers of the next update; counts it.
  OptimizerStep advance();
  MatrixView<Scalar> mean() { return {mean_.data(), rows_, size_, stride_}; }
  MatrixView<Scalar> square() { return {square_.data(), rows_, size_, stride_}; }
  std::int64_t updates() const { return updates_; }
  const OptimizerOptions& options() const { return options_; }

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  OptimizerOptions options_;
  std::int64_t rows_, size_, stride_, updates_ = 0;
  AlignedBuffer<Scalar> mean_, square_;
};

/// Scales every direction longer than `clip_norm` down to it (true clipping: shorter ones stay as they are).
template <class Scalar>
void clip_rows(MatrixView<Scalar> directions, double clip_norm);

/// Throws Error(numeric) naming the first coordinate that is not finite, if there is one.
template <class Scalar>
void check_finite(MatrixView<const Scalar> gradients, const Layout& layout, std::int64_t first_row, std::int64_t step);

/// Every particle climbs on its own: maximum a posteriori for M = 1, an ensemble without repulsion for M > 1.
template <class Scalar>
class Optimizer final : public Sampler<Scalar> {
 public:
  using Options = OptimizerOptions;
  Optimizer(const Options& options, std::int64_t rows, std::int64_t size, std::uint64_t seed);

  StepReport step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) override;
  void save(Snapshot& snapshot) const override { state_.save(snapshot); }
  void restore(const Snapshot& snapshot) override { state_.restore(snapshot); }

 private:
  OptimizerState<Scalar> state_;
  std::uint64_t seed_;
};

}  // namespace stein::inference
