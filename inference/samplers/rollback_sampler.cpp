#include <stein/inference/samplers/rollback_sampler.h>

#include <algorithm>
#include <utility>

namespace stein::inference {

template <class Scalar>
RollbackSampler<Scalar>::RollbackSampler(std::unique_ptr<Sampler<Scalar>> sampler, const RollbackOptions& options,
                                         AfterRollback after)
    : sampler_(std::move(sampler)), options_(checked(options)), after_(after) {}

template <class Scalar>
StepReport RollbackSampler<Scalar>::step(Particles<Scalar>& particles, Target<Scalar>& target,
                                         const Batch<Scalar>& batch) {
  STEIN_CHECK(after_ == AfterRollback::wait || batch.inputs.carried.empty(),
              "{}: carried state of an earlier minibatch does not go with this one, expected AfterRollback::wait",
              name());
  StepReport before;
  if (std::exchange(skips_, false)) {
    before.accepted = before.taken = false;
    return before;
  }
  while (true) {
    try {
      // After a step that was lost the state kept before it is still there, untouched.
      const bool there = !kept_.empty() && kept_.front().age == 0;
      if (steps_ % options_.keep_every == 0 && !there) {
        sampler_->settle(particles, target, batch);
        keep(particles, target, batch);
        before.kept = true;
      }
      StepReport report = sampler_->step(particles, target, batch);
      if (steps_ == 0 && !report.settled) {
        sampler_->settle(particles, target, batch);
        report.settled = true;
      }
      report.kept = before.kept, report.went_back = before.went_back, report.lost_steps = before.lost_steps;
      ++steps_;
      for (Generation& generation : kept_) ++generation.age;
      return report;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numeric) throw;
      before.lost_steps += lose(error.what(), particles, target, batch);
      before.went_back = true;
    }
    if (after_ == AfterRollback::wait) {
      before.accepted = before.taken = false;
      return before;
    }
  }
}

template <class Scalar>
StepReport RollbackSampler<Scalar>::settle(Particles<Scalar>& particles, Target<Scalar>& target,
                                           const Batch<Scalar>& batch) {
  StepReport report{.accepted = false, .taken = false};
  try {
    sampler_->settle(particles, target, batch);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numeric) throw;
    report.lost_steps = lose(error.what(), particles, target, batch);
    report.went_back = true;
    skips_ = after_ == AfterRollback::wait;
  }
  return report;
}

template <class Scalar>
void RollbackSampler<Scalar>::take_back(Particles<Scalar>& particles, Target<Scalar>& target, std::string_view reason) {
  if (kept_.empty()) fail(ErrorKind::numeric, "{}: {}", name(), reason);
  lose(reason, particles, target, {});
}

template <class Scalar>
std::int64_t RollbackSampler<Scalar>::lose(std::string_view reason, Particles<Scalar>& particles,
                                           Target<Scalar>& target, const Batch<Scalar>& batch) {
  const std::int64_t lost = go_back(particles, target, batch);
  const bool named = reason.starts_with(name());
  reason_ = named ? std::string(reason) : fmt::format("{}: {}", name(), reason);
  if (steps_ == 0) fail(ErrorKind::numeric, "{}", reason_);
  if (rollbacks_ == options_.rollbacks)
    fail(ErrorKind::numeric, "{}, after {} rollbacks, each with half the step size", reason_, rollbacks_);
  ++rollbacks_;
  for (Generation& generation : kept_) generation.scale /= 2;
  sampler_->scale_step_size(kept_.front().scale);
  return lost;
}

template <class Scalar>
void RollbackSampler<Scalar>::scale_step_size(double factor) {
  for (Generation& generation : kept_) generation.scale *= factor;
  sampler_->scale_step_size(factor);
}

template <class Scalar>
std::optional<std::string> RollbackSampler<Scalar>::warning() const {
  if (rollbacks_ == 0) return {};
  return fmt::format("the sampler has gone back {} time{}, and its step size was divided by {}: {}", rollbacks_,
                     rollbacks_ == 1 ? "" : "s", std::int64_t{1} << rollbacks_, reason_);
}

template <class Scalar>
void RollbackSampler<Scalar>::keep(const Particles<Scalar>& particles, const Target<Scalar>& target,
                                   const Batch<Scalar>& batch) {
  if (kept_.size() == 2) kept_.pop_back();  // first: there is never memory for three
  sampler_->bring_together();               // kept states are saved, and are those of one process
  Generation generation;
  generation.state.put_saved("particles", particles);
  generation.state.put_saved("sampler", *sampler_);
  generation.state.put_saved("target", target);
  if (!batch.inputs.carried.empty()) batch.inputs.carried.save(generation.state);
  kept_.push_front(std::move(generation));
}

template <class Scalar>
std::int64_t RollbackSampler<Scalar>::go_back(Particles<Scalar>& particles, Target<Scalar>& target,
                                              const Batch<Scalar>& batch) {
  if (kept_.front().used && kept_.size() > 1) kept_.pop_front();
  Generation& generation = kept_.front();
  if (!batch.inputs.carried.empty()) batch.inputs.carried.restore(generation.state);
  particles.restore(generation.state.part("particles"));
  sampler_->restore(generation.state.part("sampler"));
  target.restore(generation.state.part("target"));
  generation.used = true;
  const std::int64_t lost = generation.age;
  for (Generation& each : kept_) each.age -= lost;
  return lost;
}

template <class Scalar>
void RollbackSampler<Scalar>::save(Snapshot& snapshot) const {
  sampler_->save(snapshot);
  Snapshot own;
  own.put("steps", steps_);
  own.put("rollbacks", rollbacks_);
  own.put_text("reason", reason_);
  if (skips_) own.put("skips", std::uint8_t{1});
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    Snapshot part;
    part.put("age", kept_[k].age);
    part.put("scale", kept_[k].scale);
    part.put("used", std::int64_t{kept_[k].used});
    part.put_part("state", kept_[k].state);
    own.put_part("generation" + std::to_string(k), part);
  }
  snapshot.put_part("rollback", own);
}

template <class Scalar>
void RollbackSampler<Scalar>::restore(const Snapshot& snapshot) {
  sampler_->restore(snapshot);
  if (!snapshot.contains("rollback/steps"))
    fail(ErrorKind::data, "the checkpoint holds the state of '{}' and none that it could go back to", name());
  const Snapshot own = snapshot.part("rollback");
  steps_ = own.template get_scalar<std::int64_t>("steps");
  rollbacks_ = own.template get_scalar<std::int64_t>("rollbacks");
  reason_ = own.get_text("reason");
  skips_ = own.contains("skips");
  kept_.clear();
  if (own.contains("since_kept")) {  // older checkpoints: one state
    kept_.push_back({.state = own.part("kept"),
                     .age = own.template get_scalar<std::int64_t>("since_kept"),
                     .scale = own.template get_scalar<double>("scale")});
    return;
  }
  for (std::size_t k = 0; k < 2 && own.contains(fmt::format("generation{}/age", k)); ++k) {
    const Snapshot part = own.part("generation" + std::to_string(k));
    kept_.push_back({.state = part.part("state"),
                     .age = part.template get_scalar<std::int64_t>("age"),
                     .scale = part.template get_scalar<double>("scale"),
                     .used = part.template get_scalar<std::int64_t>("used") != 0});
  }
}

template class RollbackSampler<float>;
template class RollbackSampler<double>;

}  // namespace stein::inference
