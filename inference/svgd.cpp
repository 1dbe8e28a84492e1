#include <stein/inference/fused/svgd_pass.h>
#include <stein/inference/svgd.h>
#include <stein/inference/svgd_pass.h>

#include <type_traits>

namespace stein::inference {

template <class Scalar>
Svgd<Scalar>::Svgd(const Options& options, std::int64_t rows, std::int64_t size, std::uint64_t seed)
    : kernel_options_(options.kernel),
      state_(options.optimizer, rows, size),
      gram_(static_cast<std::size_t>(rows * rows)),
      seed_(seed) {}

template <class Scalar>
StepReport Svgd<Scalar>::step(Particles<Scalar>& particles, Target<Scalar>& target, const Batch<Scalar>& batch) {
  const NoiseKey noise{.seed = seed_, .step = static_cast<std::uint64_t>(state_.updates()), .stream = Stream::model};
  const MatrixView<Scalar> values = particles.values(), gradients = particles.gradients();
  target.evaluate(particles.coordinates(), batch, noise, gradients, {});
  check_finite<Scalar>(gradients, particles.layout(), particles.first_row(), state_.updates());
  clip_rows(gradients, state_.options().clip_norm);

  const bool linear = kernel_options_.kernel == SvgdKernel::linear;
  const MatrixView<const Scalar> positions = values;
  if constexpr (std::is_same_v<Scalar, float>) {
    linear ? fused::inner_products(positions, gram_) : fused::squared_distances(positions, gram_);
    kernel_weights(kernel_options_, gram_, particles.rows(), weights_);
    fused::stein_update(values, gradients, weights_, state_);
  } else {
    linear ? plain::inner_products(positions, gram_) : plain::squared_distances(positions, gram_);
    kernel_weights(kernel_options_, gram_, particles.rows(), weights_);
    plain::stein_update(values, MatrixView<const Scalar>(gradients), weights_, state_);
  }
  return {};
}

template class Svgd<float>;
template class Svgd<double>;

}  // namespace stein::inference
