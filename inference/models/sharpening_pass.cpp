#include <stein/inference/models/sharpening_pass.h>

#include <algorithm>

namespace stein::inference {

template <class Scalar>
void sharpen(const SharpeningNumbers& numbers, const SharpenedStretch<Scalar>& stretch, const NoiseKey& key,
             std::uint32_t row, std::uint64_t first, std::span<Scalar> weights) {
  constexpr std::int64_t piece = 1024;
  const auto rate_scale = static_cast<Scalar>(numbers.rate_scale), deviation = static_cast<Scalar>(numbers.deviation);
  const auto to_minibatch = static_cast<Scalar>(numbers.to_minibatch);
  alignas(64) Scalar epsilon[piece];
  for (std::int64_t begin = 0; begin < std::ssize(weights); begin += piece) {
    const std::int64_t count = std::min(piece, std::ssize(weights) - begin);
    fill_normal(std::span(epsilon, static_cast<std::size_t>(count)), key, row,
                first + static_cast<std::uint64_t>(begin));
    const Scalar* const eta = stretch.rates.data() + begin;
    const Scalar* const ascent = stretch.slopes.data() + begin;
    Scalar* const to = weights.data() + begin;
    for (std::int64_t j = 0; j < count; ++j)
      to[j] += rate_scale * eta[j] * ascent[j] * to_minibatch + deviation * epsilon[j];
  }
}

template <class Scalar>
void pull_back_rates(const SharpeningNumbers& numbers, const SharpenedStretch<Scalar>& stretch,
                     std::span<const Scalar> gradient, std::span<Scalar> rate_gradient, std::span<Scalar> vector,
                     double* divergence) {
  const auto rate_scale = static_cast<Scalar>(numbers.rate_scale), precision = static_cast<Scalar>(numbers.precision);
  const auto to_minibatch = static_cast<Scalar>(numbers.to_minibatch);
  double sum = 0;
  for (std::size_t j = 0; j < stretch.rates.size(); ++j) {
    const Scalar eta = rate_scale * stretch.rates[j], ascent = stretch.slopes[j] * to_minibatch;
    const Scalar pull = stretch.slopes[j] * eta * precision;
    sum += static_cast<double>(pull) * static_cast<double>(eta * ascent) / 2;
    if (!gradient.empty()) rate_gradient[j] = rate_scale * (gradient[j] * ascent - pull * ascent);
    if (!vector.empty()) vector[j] = (eta * gradient[j] - eta * pull) * to_minibatch;
  }
  if (divergence != nullptr) *divergence += sum;
}

#define STEIN_INSTANTIATE(Scalar)                                                                                   \
  template void sharpen(const SharpeningNumbers&, const SharpenedStretch<Scalar>&, const NoiseKey&, std::uint32_t,  \
                        std::uint64_t, std::span<Scalar>);                                                          \
  template void pull_back_rates(const SharpeningNumbers&, const SharpenedStretch<Scalar>&, std::span<const Scalar>, \
                                std::span<Scalar>, std::span<Scalar>, double*);
STEIN_INSTANTIATE(float)
STEIN_INSTANTIATE(double)
#undef STEIN_INSTANTIATE

}  // namespace stein::inference
