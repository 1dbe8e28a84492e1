#include <stein/inference/samplers/rollback_sampler.h>

namespace stein::inference {

template <class Scalar>
RollbackSampler<Scalar>::RollbackSampler(std::unique_ptr<Sampler<Scalar>> sampler, const RollbackOptions& options)
    : sampler_(std::move(sampler)), options_(checked(options)) {}

template <class Scalar>
StepReport RollbackSampler<Scalar>::step(Particles<Scalar>& particles, Target<Scalar>& target,
                                         const Batch<Scalar>& batch) {
  if (steps_ % options_.keep_every == 0) keep(particles, target);
  std::int64_t lost = 0;
  while (true) {
    try {
      StepReport report = sampler_->step(particles, target, batch);
      report.lost_steps = lost;
      ++steps_, ++since_kept_;
      return report;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numeric) throw;
      go_back(particles, target);
      const std::string_view sentence = error.what();
      const bool named = sentence.starts_with(name());
      reason_ = named ? std::string(sentence) : fmt::format("{}: {}", name(), sentence);
      if (steps_ == 0) fail(ErrorKind::numeric, "{}", reason_);
      if (rollbacks_ == options_.rollbacks)
        fail(ErrorKind::numeric, "{}, after {} rollbacks, each with half the step size", reason_, rollbacks_);
      lost += since_kept_;
      since_kept_ = 0;
      ++rollbacks_;
      scale_ /= 2;
      sampler_->scale_step_size(scale_);
    }
  }
}

template <class Scalar>
void RollbackSampler<Scalar>::scale_step_size(double factor) {
  scale_ *= factor;
  sampler_->scale_step_size(factor);
}

template <class Scalar>
std::optional<std::string> RollbackSampler<Scalar>::warning() const {
  if (rollbacks_ == 0) return {};
  return fmt::format("the sampler has gone back {} time{}, and its step size is 1/{} of what was set: {}", rollbacks_,
                     rollbacks_ == 1 ? "" : "s", std::int64_t{1} << rollbacks_, reason_);
}

template <class Scalar>
void RollbackSampler<Scalar>::keep(const Particles<Scalar>& particles, const Target<Scalar>& target) {
  Snapshot values, moments, latents;
  particles.save(values);
  sampler_->save(moments);
  target.save(latents);
  kept_ = {};
  scale_ = 1;
  since_kept_ = 0;
  kept_.put_part("particles", values);
  kept_.put_part("sampler", moments);
  kept_.put_part("target", latents);
}

template <class Scalar>
void RollbackSampler<Scalar>::go_back(Particles<Scalar>& particles, Target<Scalar>& target) {
  particles.restore(kept_.part("particles"));
  sampler_->restore(kept_.part("sampler"));
  target.restore(kept_.part("target"));
}

template <class Scalar>
void RollbackSampler<Scalar>::save(Snapshot& snapshot) const {
  sampler_->save(snapshot);
  Snapshot own;
  own.put("steps", steps_);
  own.put("rollbacks", rollbacks_);
  own.put("since_kept", since_kept_);
  own.put("scale", scale_);
  own.put_text("reason", reason_);
  own.put_part("kept", kept_);
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
  since_kept_ = own.template get_scalar<std::int64_t>("since_kept");
  scale_ = own.template get_scalar<double>("scale");
  reason_ = own.get_text("reason");
  kept_ = own.part("kept");
}

template class RollbackSampler<float>;
template class RollbackSampler<double>;

}  // namespace stein::inference
