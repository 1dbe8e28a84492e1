// Momentum SGD, RMSprop and Adam: the temperature-0 samplers, and the preconditioners of SVGD's direction.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/sampler.h>

namespace stein::inference {

enum class OptimizerMethod { sgd, rmsprop, adam };

struct OptimizerOptions {
  OptimizerMethod method = OptimizerMethod::adam;
  double step_size = 1e-3;    ///< multiplies the (preconditioned) direction
  double step_half_life = 0;  ///< updates after which the step size is half, thrice as many for a quarter; 0: constant
  double momentum = 0.9;      ///< of the direction: sgd and adam (β₁); rmsprop has none
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

/// One coordinate:
///   sgd:      m ← μ m + d;            x ← x + h m
///   rmsprop:  v ← β v + (1 − β) d²;   x ← x + h d / (√v + ε)
///   adam:     m ← μ m + (1 − μ) d;  v ← β v + (1 − β) d²;  x ← x + h m / (√v c + ε)
/// with d the direction of ascent (Kingma & Ba 2015, Algorithm 1; Tieleman & Hinton 2012). `ascend_vector` in
/// fused/svgd_pass.cpp does the same operations in the same order, so a float has the same bits there on every SIMD
/// target that multiplies and adds in one rounding.
template <class Scalar>
void update_coordinate(OptimizerMethod method, const OptimizerStep& step, Scalar direction, Scalar& value, Scalar& mean,
                       Scalar& square);

/// Averages that an optimizer keeps for every coordinate, [M, Q] each, and the number of updates so far.
template <class Scalar>
class OptimizerState {
 public:
  /// @param rows  M, at least 1
  /// @param size  Q, coordinates of a particle, at least 1
  /// @throws Error(usage) naming the option or the size that is out of range
  OptimizerState(const OptimizerOptions& options, std::int64_t rows, std::int64_t size);

  /// The numbers of the next update; counts it.
  OptimizerStep advance();
  MatrixView<Scalar> mean() { return {mean_.data(), rows_, size_, stride_}; }
  MatrixView<Scalar> square() { return {square_.data(), rows_, size_, stride_}; }
  std::int64_t rows() const { return rows_; }
  std::int64_t size() const { return size_; }
  std::int64_t updates() const { return updates_; }
  const OptimizerOptions& options() const { return options_; }

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state has another shape.
  void restore(const Snapshot& snapshot);

 private:
  OptimizerOptions options_;
  std::int64_t rows_, size_;
  std::int64_t stride_;  ///< of the rows of both averages: whole cache lines, which the SIMD passes read and write
  std::int64_t updates_ = 0;
  AlignedBuffer<Scalar> mean_, square_;
};

/// Scales every direction longer than `clip_norm` down to it (true clipping: shorter ones stay as they are).
template <class Scalar>
void clip_rows(MatrixView<Scalar> directions, double clip_norm);

/// A sampler that asks for one gradient a step and moves along it through an optimizer: all but the move itself.
template <class Scalar>
class GradientSampler : public Sampler<Scalar> {
 public:
  StepReport step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) final;
  void save(Snapshot& snapshot) const override { state_.save(snapshot); }
  void restore(const Snapshot& snapshot) override { state_.restore(snapshot); }

 protected:
  GradientSampler(const OptimizerOptions& options, std::int64_t rows, std::int64_t size, std::uint64_t seed)
      : state_(options, rows, size), seed_(seed) {}
  /// Moves the particles along their gradients, which are finite and clipped.
  /// @returns whether all their coordinates are finite after it
  virtual bool move(Particles<Scalar>& particles) = 0;

  OptimizerState<Scalar> state_;

 private:
  std::uint64_t seed_;
};

/// Every particle climbs on its own: maximum a posteriori for M = 1, an ensemble without repulsion for M > 1.
template <class Scalar>
class Optimizer final : public GradientSampler<Scalar> {
 public:
  using Options = OptimizerOptions;
  /// @param rows  M, the particles that will be moved, at least 1
  /// @param size  Q, coordinates of a particle, at least 1
  /// @param seed  keys whatever the target draws (dropout, ε); the update itself draws nothing
  /// @throws Error(usage) naming the option or the size that is out of range
  Optimizer(const Options& options, std::int64_t rows, std::int64_t size, std::uint64_t seed)
      : GradientSampler<Scalar>(options, rows, size, seed) {}

 private:
  bool move(Particles<Scalar>& particles) override;
};

}  // namespace stein::inference
