#include <stein/inference/samplers/psgld.h>
#include <stein/inference/samplers/sampler_registry.h>

#include <cmath>

namespace stein::inference {
namespace {

const bool registered = register_sampler<Psgld<float>>("psgld", "Langevin dynamics preconditioned as RMSprop is");

}  // namespace

template <class Scalar>
Psgld<Scalar>::Psgld(const Options& options, const Ensemble& ensemble)
    : Diffusion<Scalar>(Dynamics::psgld, Schedule(options.step, options.temperature), options.clip, ensemble),
      options_(checked(options)) {}

template <class Scalar>
DiffusionNumbers Psgld<Scalar>::numbers(std::int64_t t, double data_size) const {
  const double h = options_.square.warming_up(t) ? 0 : this->schedule().step_size(t);
  return {.drift = h / 2,
          .noise = std::sqrt(h * this->schedule().temperature(t)),
          .square_decay = options_.square.decay_at(t),
          .gradient_scale = options_.square.gradient_scale(data_size),
          .epsilon = options_.square.epsilon};
}

template class Psgld<float>;
template class Psgld<double>;

}  // namespace stein::inference
