#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/santa.h>

#include <cmath>

namespace stein::inference {
namespace {

const bool registered =
    register_sampler<Santa<float>>("santa", "stochastic annealing thermostats with adaptive momentum");

}  // namespace

template <class Scalar>
Santa<Scalar>::Santa(const Options& options, const Ensemble& ensemble)
    : Diffusion<Scalar>(Dynamics::santa_euler, Schedule(options.step, options.temperature), options.clip, ensemble),
      options_(checked(options)) {}

template <class Scalar>
bool Santa<Scalar>::refining(std::int64_t t) const {
  const bool explored = options_.exploration_steps > 0 && t >= options_.square.warm_up + options_.exploration_steps;
  return explored || t < options_.square.warm_up || this->schedule().exploring(t);
}

template <class Scalar>
Dynamics Santa<Scalar>::dynamics(std::int64_t t) const {
  if (options_.scheme == SantaScheme::euler) return refining(t) ? Dynamics::santa_refinement : Dynamics::santa_euler;
  return refining(t) ? Dynamics::santa_splitting_refinement : Dynamics::santa_splitting;
}

template <class Scalar>
void Santa<Scalar>::before_gradient(Particles<Scalar>& particles) {
  const std::int64_t t = this->steps();
  if (t < options_.square.warm_up) return;  // u and α are 0: nothing moves
  if (t == options_.square.warm_up) {
    const double root = std::sqrt(this->schedule().step_size(t));
    this->draw_state(0, root, particles);
    this->fill_state(2, root * options_.initial_thermostat);
  }
  if (options_.scheme == SantaScheme::euler) return;
  this->pass(Dynamics::santa_half_move, {.epsilon = options_.square.epsilon}, particles);
}

template <class Scalar>
DiffusionNumbers Santa<Scalar>::numbers(std::int64_t t, double data_size) const {
  const double eta = options_.square.warming_up(t) ? 0 : this->schedule().step_size(t);
  const double kinetic = eta * this->schedule().temperature(t);
  return {.drift = eta,
          .noise = std::sqrt(2 * kinetic),
          .temperature = kinetic,
          .metric_correction = options_.metric_correction ? kinetic : 0,
          .square_decay = options_.square.decay_at(t),
          .gradient_scale = options_.square.gradient_scale(data_size),
          .epsilon = options_.square.epsilon};
}

template <class Scalar>
double Santa<Scalar>::kinetic_scale() const {
  const std::int64_t t = this->steps() - 1;
  return t < options_.square.warm_up || refining(t) ? 0 : 1 / this->schedule().step_size(t);
}

template class Santa<float>;
template class Santa<double>;

}  // namespace stein::inference
