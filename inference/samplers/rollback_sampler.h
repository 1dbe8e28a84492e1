// A sampler with a way back: where a step leaves the finite numbers, an earlier state and half the step size.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/sampler.h>

#include <deque>
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

/// What follows when the sampler has gone back.
enum class AfterRollback {
  step_again,  ///< with the same batch, which must not carry state: that of an earlier minibatch does not go with it
  wait,        ///< nothing: the batch was made by the particles that were lost, as the rollouts of a policy are, or is
               ///< one of a stream whose state went back: its owner goes on where that state belongs, or resets it
};

/// Moves particles as another sampler does. Where that one leaves the finite numbers, particles, sampler, target and
/// carried state go back to the last state kept and the step size is halved from there on. Two states are kept: if the
/// run diverges again before there is a newer one, it goes back to the older, since the newer may have been on its way
/// out already. So up to 2 `keep_every` steps are lost, and memory for three times the state is needed.
///
/// Where the host of a device runs ahead of it, a step is known to have diverged once the next is asked for. That one
/// is lost too where the sampler waits: also if `settle` has looked in between, so that a run takes the same steps
/// wherever it was saved. No state is kept, and the first step of all is not left, before it is known to be finite.
template <class Scalar>
class RollbackSampler final : public Sampler<Scalar> {
 public:
  /// Throws Error(usage) naming the option that is out of range.
  explicit RollbackSampler(std::unique_ptr<Sampler<Scalar>> sampler, const RollbackOptions& options = {},
                           AfterRollback after = AfterRollback::step_again);

  /// The report says whether a state was kept, whether it went back, and how many steps were lost. Where it waits,
  /// no step is taken.
  /// @throws Error(usage)    for a batch with carried state where it would step again
  /// @throws Error(numeric)  naming sampler, step and coordinate if the first step of all diverges, or one does once
  ///                         more after all rollbacks; the particles are those of the state it went back to
  StepReport step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) override;
  /// The report says whether it went back, and how many steps were lost: the last one among them.
  /// @throws Error(numeric)  as `step`
  StepReport settle(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) override;
  /// Goes back as after a step that diverged, with half the step size: for an owner to whom the particles, finite as
  /// they are, gave something that is not. Their minibatches must carry no state.
  /// @param reason  a sentence for `warning`, "the prediction of arm 0 is inf"
  /// @throws Error(numeric)  with the reason where no step was taken since the start, or after all rollbacks
  void take_back(Particles<Scalar>& particles, Target<Scalar>& target, std::string_view reason);
  void scale_step_size(double factor) override;
  void share_moves(distributed::Communicator& ranks) override { sampler_->share_moves(ranks); }
  void bring_together() override { sampler_->bring_together(); }
  std::string_view name() const override { return sampler_->name(); }
  std::string_view form() const override { return sampler_->form(); }
  bool exploring(std::int64_t t) const override { return sampler_->exploring(t); }
  /// With the states that can be gone back to.
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  /// So far.
  std::int64_t rollbacks() const { return rollbacks_; }
  /// A sentence about the last rollback, if there was one.
  std::optional<std::string> warning() const;

 private:
  /// A state that can be gone back to.
  struct Generation {
    Snapshot state;
    std::int64_t age = 0;  ///< steps that going back to it would take back
    double scale = 1;      ///< of the step size since then
    bool used = false;     ///< it was gone back to before
  };
  void keep(const Particles<Scalar>& particles, const Target<Scalar>& target, const Batch<Scalar>& batch);
  /// Goes back and halves the step size. Returns the steps that it takes back. Throws Error(numeric) with the reason
  /// where it gives up.
  std::int64_t lose(std::string_view reason, Particles<Scalar>& particles, Target<Scalar>& target,
                    const Batch<Scalar>& batch);
  /// Returns the steps that it takes back.
  std::int64_t go_back(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch);

  std::unique_ptr<Sampler<Scalar>> sampler_;
  RollbackOptions options_;
  AfterRollback after_;
  std::int64_t steps_ = 0, rollbacks_ = 0;  ///< steps: those lost counted too
  std::deque<Generation> kept_;             ///< the newest first, at most two
  std::string reason_;                      ///< of the last rollback
  bool skips_ = false;                      ///< the next batch is lost with the step before it
};

}  // namespace stein::inference
