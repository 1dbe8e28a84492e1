#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/sghmc.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

const bool registered = register_sampler<Sghmc<float>>("sghmc", "stochastic gradient Hamiltonian Monte Carlo");

}  // namespace

template <class Scalar>
Sghmc<Scalar>::Sghmc(const Options& options, const Ensemble& ensemble)
    : Diffusion<Scalar>(Dynamics::sghmc, Schedule(options.step, options.temperature), options.clip, ensemble),
      options_(checked(options)) {
  numbers(0, 0);
}

template <class Scalar>
DiffusionNumbers Sghmc<Scalar>::numbers(std::int64_t t, double) const {
  const double eta = this->schedule().step_size(t), temperature = this->schedule().temperature(t);
  const double brought = eta * options_.gradient_variance / 2;  // β̂
  const double power = options_.friction * temperature - brought;
  const bool silent = this->schedule().exploring(t);  // what minibatches bring is then all there is
  STEIN_CHECK(
      silent || power >= 0,
      "sghmc: the noise to inject has variance 2(αT − ηV/2)η, expected αT ≥ ηV/2, got {} and {} at update {}: lower "
      "step_size or gradient_variance",
      options_.friction * temperature, brought, t);
  return {.drift = eta, .noise = silent ? 0 : std::sqrt(2 * power * eta), .keep = 1 - options_.friction};
}

template <class Scalar>
double Sghmc<Scalar>::kinetic_scale() const {
  return (1 - options_.friction / 2) / this->schedule().step_size(std::max<std::int64_t>(this->steps() - 1, 0));
}

template class Sghmc<float>;
template class Sghmc<double>;

}  // namespace stein::inference
