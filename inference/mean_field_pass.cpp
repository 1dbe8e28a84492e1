#include <stein/inference/mean_field_pass.h>
#include <stein/inference/softplus.h>

#include <algorithm>
#include <array>

namespace stein::inference::mean_field {
namespace {

/// Draws the ε of `size` coordinates a piece at a time: visit(i, ε).
template <class Scalar, class Visit>
void for_each_noise(const Noise& noise, std::size_t size, const Visit& visit) {
  std::array<Scalar, 256> piece;
  for (std::size_t begin = 0; begin < size; begin += piece.size()) {
    const std::size_t count = std::min(piece.size(), size - begin);
    fill_normal(std::span(piece).first(count), noise.key, noise.row, noise.first + begin);
    for (std::size_t i = 0; i < count; ++i) visit(begin + i, piece[i]);
  }
}

}  // namespace

template <class Scalar>
void add_noise(std::span<const Scalar> log_deviation, const Noise& noise, std::span<Scalar> weights) {
  for_each_noise<Scalar>(noise, weights.size(),
                         [&](std::size_t i, Scalar epsilon) { weights[i] += softplus(log_deviation[i]) * epsilon; });
}

template <class Scalar>
void pull_back(std::span<const Scalar> log_deviation, const Noise& noise, std::span<const Scalar> weight_gradient,
               std::span<Scalar> gradient) {
  for_each_noise<Scalar>(noise, gradient.size(), [&](std::size_t i, Scalar epsilon) {
    gradient[i] += weight_gradient[i] * epsilon * sigmoid(log_deviation[i]);
  });
}

template <class Scalar>
double add_log_deviation(std::span<const Scalar> log_deviation, std::span<Scalar> gradient) {
  double sum = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const Scalar deviation = softplus(log_deviation[i]);
    gradient[i] += sigmoid(log_deviation[i]) / deviation;
    sum += std::log(deviation);
  }
  return sum;
}

template <class Scalar>
double add_expected_square(double precision, std::span<const Scalar> mean, std::span<const Scalar> log_deviation,
                           std::span<Scalar> mean_gradient, std::span<Scalar> deviation_gradient) {
  const auto lambda = static_cast<Scalar>(precision);
  double sum = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const Scalar deviation = softplus(log_deviation[i]);
    mean_gradient[i] -= lambda * mean[i];
    deviation_gradient[i] -= lambda * deviation * sigmoid(log_deviation[i]);
    sum += static_cast<double>(mean[i] * mean[i] + deviation * deviation);
  }
  return sum;
}

#define STEIN_INSTANTIATE(Scalar)                                                                                  \
  template void add_noise(std::span<const Scalar>, const Noise&, std::span<Scalar>);                               \
  template void pull_back(std::span<const Scalar>, const Noise&, std::span<const Scalar>, std::span<Scalar>);      \
  template double add_log_deviation(std::span<const Scalar>, std::span<Scalar>);                                   \
  template double add_expected_square(double, std::span<const Scalar>, std::span<const Scalar>, std::span<Scalar>, \
                                      std::span<Scalar>);
STEIN_INSTANTIATE(float)
STEIN_INSTANTIATE(double)
#undef STEIN_INSTANTIATE

}  // namespace stein::inference::mean_field
