#include <stein/inference/samplers/dropout_sghmc.h>
#include <stein/inference/samplers/sampler_registry.h>

#include <limits>

namespace stein::inference {
namespace {

const bool registered =
    register_sampler<DropoutSghmc<float>>("dropout-sghmc", "SGHMC on minibatches whose inputs are partly hidden");

/// Row of the sampler's sheet that no particle has.
constexpr std::uint32_t mask_row = std::numeric_limits<std::uint32_t>::max();

}  // namespace

template <class Scalar>
DropoutSghmc<Scalar>::DropoutSghmc(const Options& options, const Ensemble& ensemble)
    : Sghmc<Scalar>(checked(options).sghmc, ensemble), keep_(options.keep), inner_steps_(options.inner_steps) {}

template <class Scalar>
MatrixView<const Scalar> DropoutSghmc<Scalar>::draw_mask(std::int64_t rows, std::int64_t columns) {
  const NoiseKey key{
      .seed = this->seed(), .step = static_cast<std::uint64_t>(this->steps()), .stream = Stream::sampler};
  const auto size = static_cast<std::size_t>(rows * columns);
  const double limit = keep_ * 4294967296.0;
  const auto seen = static_cast<Scalar>(1 / keep_);
  mask_.resize(size);
  for (std::size_t i = 0; i < size; i += 4) {
    const PhiloxBlock words = random_block(key, mask_row, static_cast<std::uint32_t>(i / 4));
    for (std::size_t k = i; k < std::min(size, i + 4); ++k) mask_[k] = words[k - i] < limit ? seen : Scalar{0};
  }
  return {mask_.data(), rows, columns};
}

template <class Scalar>
StepReport DropoutSghmc<Scalar>::step(Particles<Scalar>& particles, Target<Scalar>& target,
                                      const Batch<Scalar>& batch) {
  STEIN_CHECK(batch.inputs.dense.data != nullptr, "dropout-sghmc hides dense inputs, expected a batch that has some");
  STEIN_CHECK(batch.input_mask.data == nullptr, "dropout-sghmc masks the inputs itself, expected a batch without mask");
  Batch<Scalar> masked = batch;
  masked.input_mask = draw_mask(batch.rows, batch.inputs.dense.columns);
  const bool exploring = this->exploring(this->steps() / inner_steps_);
  for (std::int64_t l = 0; l < inner_steps_; ++l) this->advance(particles, target, masked);
  const bool settled = this->watch() == nullptr || target.adapts();
  if (settled) this->settle(particles, target, masked);
  this->adapt(particles, target, masked);
  return {.exploring = exploring, .settled = settled};
}

template class DropoutSghmc<float>;
template class DropoutSghmc<double>;

}  // namespace stein::inference
