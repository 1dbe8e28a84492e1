#include <stein/inference/samplers/gradient_sampler.h>
#include <stein/inference/storage/host_copy.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

/// Throws Error(numeric): "the gradient of layer0.bias[3] of particle 1 is nan at update 7". What is no number has no
/// sign there: ∞ − ∞ has one on some processors.
template <class Scalar>
[[noreturn]] void fail_at(const NotFiniteNumber& found, const Particles<Scalar>& particles, std::int64_t update) {
  const double number = std::isnan(found.number) ? std::abs(found.number) : found.number;
  fail(ErrorKind::numeric, "the {} of {} of particle {} is {} at update {}", found.gradient ? "gradient" : "value",
       particles.layout().describe_position(found.column), particles.first_row() + found.row, number, update);
}

/// The same of the first number that is not finite, where there is one.
template <class Scalar>
void fail_not_finite(bool gradient, MatrixView<const Scalar> all, const Particles<Scalar>& particles,
                     std::int64_t update) {
  const Matrix<Scalar> copy = host_copy(all, particles.device());
  const MatrixView<const Scalar> rows = copy.view();
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int64_t q = 0; q < rows.columns; ++q)
      if (!std::isfinite(rows(i, q)))
        fail_at<Scalar>({.gradient = gradient, .row = i, .column = q, .number = rows(i, q)}, particles, update);
}

}  // namespace

template <class Scalar>
GradientSampler<Scalar>::GradientSampler(const Schedule& schedule, const GradientClipOptions& clip,
                                         const Ensemble& ensemble)
    : schedule_(schedule),
      clip_(checked(clip)),
      rows_(ensemble.rows),
      size_(ensemble.size()),
      seed_(ensemble.seed),
      driver_(inference::driver<Scalar>(ensemble)) {
  check_sampler_size(rows_.count, size_);
  if (driver_.watch != nullptr) watch_ = driver_.watch(ensemble.device);
}

template <class Scalar>
void GradientSampler<Scalar>::advance(Particles<Scalar>& particles, Target<Scalar>& target,
                                      const Batch<Scalar>& batch) {
  check_particles(particles, rows_, size_);
  const bool looks = observer_ && looks_(steps_);
  if (looks) settle(particles);
  if (watch_) watch_->begin();
  before_gradient(particles);
  const NoiseKey noise{.seed = seed_, .step = static_cast<std::uint64_t>(steps_), .stream = Stream::model};
  target.evaluate(particles.coordinates(), batch, noise, {.gradient = particles.gradients()});
  if ((!watch_ || looks) && !driver_.all_finite(particles.gradients()))
    fail_not_finite<Scalar>(true, particles.gradients(), particles, steps_);
  if (looks) observer_(particles);
  driver_.clip(particles.gradients(), clip_, watch());
  if (!move(particles, batch)) fail_not_finite<Scalar>(false, particles.values(), particles, steps_);
  hold(particles, target);
  if (watch_) check(watch_->end(), particles);
  ++steps_;
}

template <class Scalar>
void GradientSampler<Scalar>::settle(const Particles<Scalar>& particles) {
  if (watch_) check(watch_->settle(), particles);
}

template <class Scalar>
void GradientSampler<Scalar>::check(const std::optional<NotFiniteNumber>& found, const Particles<Scalar>& particles) {
  if (found) fail_at(*found, particles, --steps_);
}

template <class Scalar>
StepReport GradientSampler<Scalar>::settle(Particles<Scalar>& particles, Target<Scalar>&, const Batch<Scalar>&) {
  settle(particles);
  return {.accepted = false, .taken = false};
}

template <class Scalar>
void GradientSampler<Scalar>::hold(Particles<Scalar>& particles, const Target<Scalar>& target) {
  for (std::int64_t i = 0; i < particles.rows(); ++i) {
    const std::span<const std::uint8_t> free = target.free_coordinates(particles.first_row() + i);
    if (free.empty()) continue;
    driver_.hold(particles.values().row(i), free);
    hold_state(i, free);
  }
}

template <class Scalar>
void GradientSampler<Scalar>::adapt(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) {
  const NoiseKey noise{.seed = seed_, .step = static_cast<std::uint64_t>(steps_ - 1), .stream = Stream::model};
  target.adapt(particles.coordinates(), batch, noise, particles.buffers());
  hold(particles, target);
}

template <class Scalar>
StepReport GradientSampler<Scalar>::step(Particles<Scalar>& particles, Target<Scalar>& target,
                                         const Batch<Scalar>& batch) {
  const bool exploring = this->exploring(steps_);
  advance(particles, target, batch);
  const bool settled = !watch_ || target.adapts();
  if (settled) settle(particles);
  adapt(particles, target, batch);
  return {.exploring = exploring, .settled = settled};
}

template <class Scalar>
void GradientSampler<Scalar>::save(Snapshot& snapshot) const {
  SavedSampler::of(*this, rows_, size_).save(snapshot);
  snapshot.put("updates", steps_);
  schedule_.save(snapshot);
}

template <class Scalar>
void GradientSampler<Scalar>::restore(const Snapshot& snapshot) {
  SavedSampler::of(*this, rows_, size_).check(snapshot);
  if (watch_) static_cast<void>(watch_->settle());  // of steps that are forgotten
  steps_ = snapshot.get_scalar<std::int64_t>("updates");
  schedule_.restore(snapshot);
}

template class GradientSampler<float>;
template class GradientSampler<double>;

}  // namespace stein::inference
