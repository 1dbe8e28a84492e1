#include <stein/inference/fused/diffusion_pass.h>
#include <stein/inference/samplers/diffusion.h>
#include <stein/inference/samplers/diffusion_pass.h>

#include <string>

namespace stein::inference {

std::size_t state_count(Dynamics dynamics) {
  switch (dynamics) {
    case Dynamics::sgld: return 0;
    case Dynamics::psgld:
    case Dynamics::sghmc:
    case Dynamics::sgnht_scalar: return 1;
    case Dynamics::sgnht:
    case Dynamics::sgnht_rest: return 2;
    case Dynamics::santa_euler:
    case Dynamics::santa_splitting:
    case Dynamics::santa_refinement:
    case Dynamics::santa_splitting_refinement:
    case Dynamics::santa_half_move: return 3;
  }
  return 0;
}

template <class Scalar>
Diffusion<Scalar>::Diffusion(Dynamics dynamics, const Schedule& schedule, const GradientClipOptions& clip,
                             const Ensemble& ensemble)
    : GradientSampler<Scalar>(schedule, clip, ensemble), dynamics_(dynamics) {
  const std::int64_t rows = ensemble.rows.count;
  for (std::size_t k = 0; k < state_count(dynamics); ++k)
    states_[k] = Matrix<Scalar>(rows, ensemble.size(), ensemble.device);
  if (dynamics != Dynamics::sgnht_scalar) return;
  thermostats_.resize(static_cast<std::size_t>(rows));
  momentum_squares_.resize(static_cast<std::size_t>(rows));
}

template <class Scalar>
Dynamics Diffusion<Scalar>::dynamics(std::int64_t) const {
  return dynamics_;
}

template <class Scalar>
MatrixView<const Scalar> Diffusion<Scalar>::state(std::size_t k) const {
  STEIN_CHECK(k < state_count(dynamics_), "this sampler keeps {} numbers for a coordinate, got index {}",
              state_count(dynamics_), k);
  return states_[k].view();
}

template <class Scalar>
MatrixView<Scalar> Diffusion<Scalar>::mutable_state(std::size_t k) {
  return states_[k].view();
}

template <class Scalar>
void Diffusion<Scalar>::draw_state(std::size_t k, double deviation, const Particles<Scalar>& particles) {
  const NoiseKey key{.seed = this->seed(), .step = k + 1, .stream = Stream::initial_values};
  this->driver().draw(mutable_state(k), key, particles.first_row(), deviation);
}

template <class Scalar>
void Diffusion<Scalar>::fill_state(std::size_t k, double value) {
  states_[k].fill(static_cast<Scalar>(value));
}

template <class Scalar>
bool Diffusion<Scalar>::move(Particles<Scalar>& particles, const Batch<Scalar>& batch) {
  const std::int64_t t = this->steps();
  const bool finite = pass(dynamics(t), numbers(t, batch.data_size), particles);
  if (!momentum_squares_.empty()) move_thermostats(momentum_squares_);
  return finite;
}

template <class Scalar>
bool Diffusion<Scalar>::pass(Dynamics dynamics, const DiffusionNumbers& numbers, Particles<Scalar>& particles) {
  DiffusionStep<Scalar> step{
      .dynamics = dynamics,
      .numbers = numbers,
      .values = particles.values(),
      .gradients = particles.gradients(),
      .thermostats = thermostats_,
      .noise = {.seed = this->seed(), .step = static_cast<std::uint64_t>(this->steps()), .stream = Stream::sampler},
      .first_row = particles.first_row(),
      .watch = this->watch()};
  for (std::size_t k = 0; k < state_count(dynamics_); ++k) step.states[k] = mutable_state(k);
  DiffusionResult result{.momentum_squares = momentum_squares_};
  this->driver().diffuse(step, result);
  return result.finite;
}

template <class Scalar>
void Diffusion<Scalar>::hold_state(std::int64_t i, std::span<const std::uint8_t> free) {
  STEIN_CHECK(dynamics_ != Dynamics::sgnht_scalar,
              "{}: with one thermostat a particle no coordinate can be held at zero; use one a coordinate",
              this->name());
  for (std::size_t k = 0; k < state_count(dynamics_); ++k) this->driver().hold(mutable_state(k).row(i), free);
}

template <class Scalar>
void Diffusion<Scalar>::save(Snapshot& snapshot) const {
  GradientSampler<Scalar>::save(snapshot);
  for (std::size_t k = 0; k < state_count(dynamics_); ++k) states_[k].save(snapshot, "state" + std::to_string(k));
  if (!thermostats_.empty()) snapshot.put("thermostats", thermostats_);
}

template <class Scalar>
void Diffusion<Scalar>::restore(const Snapshot& snapshot) {
  GradientSampler<Scalar>::restore(snapshot);
  for (std::size_t k = 0; k < state_count(dynamics_); ++k) states_[k].restore(snapshot, "state" + std::to_string(k));
  if (!thermostats_.empty()) snapshot.get("thermostats", std::span<Scalar>(thermostats_));
}

template class Diffusion<float>;
template class Diffusion<double>;

}  // namespace stein::inference
