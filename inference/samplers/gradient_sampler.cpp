#include <stein/inference/samplers/gradient_sampler.h>
#include <stein/inference/storage/host_copy.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

/// Throws Error(numeric) naming the first number that is not finite, where there is one: "the gradient of
/// layer0.bias[3] of particle 1 is nan at update 7".
template <class Scalar>
void fail_not_finite(std::string_view what, MatrixView<const Scalar> all, const Particles<Scalar>& particles,
                     std::int64_t update) {
  const Matrix<Scalar> copy = host_copy(all, particles.device());
  const MatrixView<const Scalar> rows = copy.view();
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int64_t q = 0; q < rows.columns; ++q)
      if (!std::isfinite(rows(i, q)))
        fail(ErrorKind::numeric, "the {} of {} of particle {} is {} at update {}", what,
             particles.layout().describe_position(q), particles.first_row() + i, rows(i, q), update);
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
}

template <class Scalar>
void GradientSampler<Scalar>::advance(Particles<Scalar>& particles, Target<Scalar>& target,
                                      const Batch<Scalar>& batch) {
  check_particles(particles, rows_, size_);
  before_gradient(particles);
  const NoiseKey noise{.seed = seed_, .step = static_cast<std::uint64_t>(steps_), .stream = Stream::model};
  target.evaluate(particles.coordinates(), batch, noise, {.gradient = particles.gradients()});
  const bool looks_first = !driver_.moves_look || observer_ || clip_.clip_norm != 0;
  if (looks_first && !driver_.all_finite(particles.gradients()))
    fail_not_finite<Scalar>("gradient", particles.gradients(), particles, steps_);
  if (observer_) observer_(particles);
  driver_.clip(particles.gradients(), clip_);
  if (!move(particles, batch)) {
    fail_not_finite<Scalar>("gradient", particles.gradients(), particles, steps_);
    fail_not_finite<Scalar>("value", particles.values(), particles, steps_);
  }
  hold(particles, target);
  ++steps_;
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
  adapt(particles, target, batch);
  return {.exploring = exploring};
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
  steps_ = snapshot.get_scalar<std::int64_t>("updates");
  schedule_.restore(snapshot);
}

template class GradientSampler<float>;
template class GradientSampler<double>;

}  // namespace stein::inference
