#include <stein/inference/fused/svgd_pass.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/samplers/svgd_pass.h>

#include <type_traits>

namespace stein::inference {
namespace {

const bool registered = register_sampler<Svgd<float>>(
    "svgd", "Stein variational gradient descent: particles climb together and push one another apart");

}  // namespace

template <class Scalar>
Svgd<Scalar>::Svgd(const Options& options, std::int64_t rows, std::int64_t size, std::uint64_t seed)
    : GradientSampler<Scalar>(Schedule(options.optimizer.step), options.optimizer.clip, rows, size, seed),
      state_(options.optimizer, rows, size),
      kernel_options_(checked(options.kernel)),
      gram_(static_cast<std::size_t>(rows * rows)) {}

template <class Scalar>
bool Svgd<Scalar>::move(Particles<Scalar>& particles, const Batch<Scalar>&) {
  const MatrixView<Scalar> values = particles.values();
  const MatrixView<const Scalar> gradients = particles.gradients();
  const bool linear = kernel_options_.kernel == SvgdKernel::linear;
  const MatrixView<const Scalar> positions = values;
  const std::int64_t t = this->steps();
  const OptimizerStep step = state_.step(t, this->schedule().step_size(t));
  if constexpr (std::is_same_v<Scalar, float>) {
    linear ? fused::inner_products(positions, gram_) : fused::squared_distances(positions, gram_);
    kernel_weights(kernel_options_, gram_, particles.rows(), weights_);
    return fused::stein_update(values, gradients, weights_, state_, step);
  } else {
    linear ? reference::inner_products(positions, gram_) : reference::squared_distances(positions, gram_);
    kernel_weights(kernel_options_, gram_, particles.rows(), weights_);
    return reference::stein_update(values, gradients, weights_, state_, step);
  }
}

template <class Scalar>
void Svgd<Scalar>::save(Snapshot& snapshot) const {
  GradientSampler<Scalar>::save(snapshot);
  state_.save(snapshot);
}

template <class Scalar>
void Svgd<Scalar>::restore(const Snapshot& snapshot) {
  GradientSampler<Scalar>::restore(snapshot);
  state_.restore(snapshot);
}

template class Svgd<float>;
template class Svgd<double>;

}  // namespace stein::inference
