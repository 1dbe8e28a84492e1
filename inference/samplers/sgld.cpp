#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/sgld.h>

#include <cmath>

namespace stein::inference {
namespace {

const bool registered = register_sampler<Sgld<float>>("sgld", "stochastic gradient Langevin dynamics");

}  // namespace

template <class Scalar>
DiffusionNumbers Sgld<Scalar>::numbers(std::int64_t t, double) const {
  const double h = this->schedule().step_size(t);
  return {.drift = h, .noise = std::sqrt(2 * h * this->schedule().temperature(t))};
}

template class Sgld<float>;
template class Sgld<double>;

}  // namespace stein::inference
