#include <stein/core/error.h>
#include <stein/inference/storage/copy_rows.h>
#include <stein/training/weight_draws.h>

#include <algorithm>

namespace stein::training {

using inference::SampleReservoir;

WeightDraws::WeightDraws(NetworkWeights& weights, const Options& options, const std::filesystem::path& samples,
                         std::int64_t stored)
    : weights_(weights), options_(options) {
  STEIN_CHECK(options.draws >= 1, "expected at least 1 draw, got {}", options.draws);
  const std::int64_t rows = weights.particles().rows();  // of a variational method 1
  different_ = weights.kind() == MethodKind::variational && !options.mean ? options.draws : rows;
  if (weights.kind() == MethodKind::chain && !options.mean && stored > 0) {
    samples_.emplace(inference::SampleReservoir<float>::open(samples));
    if (samples_->size() < stored)
      fail(ErrorKind::data, "'{}' holds {} samples, the run stored {}", samples.string(), samples_->size(), stored);
    const inference::Particles<float>& particles = weights.particles();
    sample_.emplace(particles.layout(), rows, 0, 0, particles.device());
    different_ = stored * rows;
  }
  count_ = options.dropout ? std::max(different_, options.draws) : different_;
}

WeightDraws::Draw WeightDraws::get(std::int64_t k) {
  STEIN_CHECK(k >= 0 && k < count_, "expected a draw from 0 to {}, got {}", count_ - 1, k);
  Draw draw{.dropout = dropout(k)};
  const std::int64_t i = k % different_;
  const NoiseKey key{.seed = options_.seed, .step = static_cast<std::uint64_t>(i), .stream = Stream::parameterization};
  if (weights_.kind() == MethodKind::variational) {
    const inference::MatrixView<const float> weights =
        options_.mean ? weights_.mean_weights(memory_) : weights_.draw_weights(key, memory_);
    draw.weights = {weights, 0, weights_.buffers()};
    return draw;
  }
  const std::int64_t row = i % weights_.particles().rows();
  const inference::ParticleRows<const float> one = sampled(i / weights_.particles().rows()).coordinates().block(row, 1);
  draw.weights = {weights_.posterior().weights_of(one, key, memory_), row, one.buffers};
  return draw;
}

const inference::Particles<float>& WeightDraws::sampled(std::int64_t number) {
  if (!samples_) return weights_.particles();
  if (read_ != number) samples_->read(number, *sample_);
  read_ = number;
  return *sample_;
}

std::optional<NoiseKey> WeightDraws::dropout(std::int64_t k) const {
  if (!options_.dropout) return std::nullopt;
  return NoiseKey{.seed = options_.seed, .step = static_cast<std::uint64_t>(k), .stream = Stream::model};
}

inference::Matrix<float> WeightDraws::all() {
  inference::Matrix<float> weights(count_, weights_.weight_count(), weights_.particles().device());
  for (std::int64_t k = 0; k < count_; ++k)
    inference::copy_rows<float>(get(k).weights.values, weights.view().block(k, 1), weights.device());
  return weights;
}

}  // namespace stein::training
