// A sampler with a way back: where a step leaves the finite numbers, an earlier state and half the step size.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/sampler.h>

#include <memory>
#include <optional>
#include <string>

namespace stein::inference {

/// How often a state to go back to is kept, and how often one is gone back to.
struct RollbackOptions {
  std::int64_t keep_every = 256;  ///< steps from one kept state to the next
  std::int64_t rollbacks = 3;     ///< before it gives up

  template <class V>
  void describe(V& v) {
    v("keep_every", keep_every, "steps from one state that can be gone back to, to the next", at_least(1), "steps");
    v("rollbacks", rollbacks, "times that a diverged run goes back and halves its step size", between(0, 30));
  }
};

/// Moves particles as another sampler does. Where that one leaves the finite numbers, particles, sampler and target go
/// back to the last state kept, the step size is halved from there on, and the step is taken again with the same batch:
/// up to `keep_every` steps are lost, and no batch is asked for twice. Kept are copies of all three: as much memory
/// again as they have.
template <class Scalar>
class RollbackSampler final : public Sampler<Scalar> {
 public:
  /// Throws Error(usage) naming the option that is out of range.
  explicit RollbackSampler(std::unique_ptr<Sampler<Scalar>> sampler, const RollbackOptions& options = {});

  /// The report says how many steps were lost, the samples of which a Collector's user drops.
  /// @throws Error(numeric)  naming sampler, step and coordinate if the first step of all diverges, or one does once
  ///                         more after all rollbacks; the particles are those of the last state kept
  StepReport step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) override;
  void scale_step_size(double factor) override;
  std::string_view name() const override { return sampler_->name(); }
  std::string_view form() const override { return sampler_->form(); }
  /// Of the steps of the sampler inside: after a rollback those lag behind the steps of this one.
  bool exploring(std::int64_t t) const override { return sampler_->exploring(t); }
  /// With the state that can be gone back to.
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  /// So far.
  std::int64_t rollbacks() const { return rollbacks_; }
  /// A sentence about the last rollback, if there was one.
  std::optional<std::string> warning() const;

 private:
  void keep(const Particles<Scalar>& particles, const Target<Scalar>& target);
  void go_back(Particles<Scalar>& particles, Target<Scalar>& target);

  std::unique_ptr<Sampler<Scalar>> sampler_;
  RollbackOptions options_;
  std::int64_t steps_ = 0, rollbacks_ = 0;  ///< steps: those lost counted too
  std::int64_t since_kept_ = 0;             ///< steps that a rollback would take back
  Snapshot kept_;
  double scale_ = 1;    ///< of the step size since that state
  std::string reason_;  ///< of the last rollback
};

}  // namespace stein::inference
