#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/sgnht.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

const bool registered = register_sampler<Sgnht<float>>("sgnht", "stochastic gradient Nosé–Hoover thermostats");

}  // namespace

template <class Scalar>
Sgnht<Scalar>::Sgnht(const Options& options, const Ensemble& ensemble)
    : Diffusion<Scalar>(
          checked(options).thermostat == Thermostat::coordinate ? Dynamics::sgnht : Dynamics::sgnht_scalar,
          Schedule(options.step, options.temperature), options.clip, ensemble),
      options_(options) {}

template <class Scalar>
void Sgnht<Scalar>::before_gradient(Particles<Scalar>& particles) {
  if (this->steps() > 0) return;
  this->draw_state(0, std::sqrt(this->schedule().temperature(0)), particles);
  if (options_.thermostat == Thermostat::coordinate) this->fill_state(1, options_.diffusion);
  std::ranges::fill(this->thermostats_, static_cast<Scalar>(options_.diffusion));
}

template <class Scalar>
Dynamics Sgnht<Scalar>::dynamics(std::int64_t t) const {
  if (options_.thermostat == Thermostat::particle) return Dynamics::sgnht_scalar;
  return this->schedule().exploring(t) ? Dynamics::sgnht_rest : Dynamics::sgnht;
}

template <class Scalar>
DiffusionNumbers Sgnht<Scalar>::numbers(std::int64_t t, double) const {
  const double h = this->schedule().step_size(t), temperature = this->schedule().temperature(t);
  return {.noise = std::sqrt(2 * options_.diffusion * h * temperature), .step = h, .temperature = temperature};
}

template <class Scalar>
void Sgnht<Scalar>::move_thermostats(std::span<const double> momentum_squares) {
  if (this->schedule().exploring(this->steps())) return;
  const DiffusionNumbers n = numbers(this->steps(), 0);
  for (std::size_t i = 0; i < momentum_squares.size(); ++i) {
    const double excess = momentum_squares[i] / static_cast<double>(this->size()) - n.temperature;
    this->thermostats_[i] = static_cast<Scalar>(this->thermostats_[i] + n.step * excess);
  }
}

template class Sgnht<float>;
template class Sgnht<double>;

}  // namespace stein::inference
