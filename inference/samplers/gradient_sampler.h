// Samplers that ask for one gradient a step: all but the move itself.
#pragma once

#include <stein/inference/sampler.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/samplers/gradient_clip.h>
#include <stein/inference/samplers/schedule.h>

#include <functional>
#include <memory>
#include <optional>

namespace stein::inference {

/// Asks for one gradient a step, checks and clips it, and leaves the move to the derived class. Optimizers, SVGD and
/// the stochastic-gradient MCMC family are moves.
template <class Scalar>
class GradientSampler : public Sampler<Scalar> {
 public:
  StepReport step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) override;
  StepReport settle(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) override;
  void scale_step_size(double factor) override { schedule_.scale_step_size(factor); }
  bool exploring(std::int64_t t) const override { return schedule_.exploring(t); }
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  /// Called in step t = 0, 1, … if it is one of those that `looks` chooses, with the particles where their gradients
  /// were taken, before clipping and before the move: what a ConfigurationalTemperature wants to see. For these steps a
  /// device is waited for. Not part of the saved state.
  void observe_gradients(
      std::function<void(const Particles<Scalar>&)> observer,
      std::function<bool(std::int64_t t)> looks = [](std::int64_t) { return true; }) {
    observer_ = std::move(observer), looks_ = std::move(looks);
  }

  /// Steps taken so far.
  std::int64_t steps() const { return steps_; }
  const Schedule& schedule() const { return schedule_; }

 protected:
  /// @param ensemble  the particles that will be moved, at least one of at least one coordinate
  /// @throws Error(usage) naming the option or the size that is out of range
  GradientSampler(const Schedule& schedule, const GradientClipOptions& clip, const Ensemble& ensemble);

  /// Moves the particles before the gradient is asked for, where an integrator splits its step.
  virtual void before_gradient(Particles<Scalar>& particles) { static_cast<void>(particles); }
  /// Moves the particles along their clipped gradients: step `steps()`. Gradients are finite, or there is a watch.
  /// @returns whether all coordinates are finite after it, or a watch is told
  virtual bool move(Particles<Scalar>& particles, const Batch<Scalar>& batch) = 0;
  /// Sets what the sampler keeps for coordinates of particle i that are held at zero (`free` is 0) to zero as well.
  virtual void hold_state(std::int64_t i, std::span<const std::uint8_t> free) = 0;

  /// One evaluation and move without `Target::adapt`.
  void advance(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch);
  /// `Target::adapt` with the noise of the last evaluation.
  void adapt(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch);

  std::int64_t rows() const { return rows_.count; }
  std::int64_t size() const { return size_; }
  std::uint64_t seed() const { return seed_; }
  const Driver<Scalar>& driver() const { return driver_; }
  /// What the moves of a device are given; null where they answer at once.
  MoveWatch* watch() const { return watch_.get(); }

 private:
  /// Waits for the step before; throws Error(numeric) saying what it met.
  void settle(const Particles<Scalar>& particles);
  /// Throws Error(numeric) where the step before met something: it was none.
  void check(const std::optional<NotFiniteNumber>& found, const Particles<Scalar>& particles);
  /// Puts coordinates that the target holds at zero there, after whatever has moved them.
  void hold(Particles<Scalar>& particles, const Target<Scalar>& target);

  Schedule schedule_;
  GradientClipOptions clip_;
  RowRange rows_;
  std::int64_t size_;
  std::uint64_t seed_;
  const Driver<Scalar>& driver_;
  std::unique_ptr<MoveWatch> watch_;
  std::int64_t steps_ = 0;
  std::function<void(const Particles<Scalar>&)> observer_;
  std::function<bool(std::int64_t)> looks_;
};

}  // namespace stein::inference
