#include <stein/inference/parameterizations/mean_field_pass.h>
#include <stein/inference/parameterizations/softplus.h>

#include <array>

namespace stein::inference {
namespace {

/// Draws the ε of a parameter a piece at a time: visit(number of the weight, its place, ε).
template <class Scalar, class Visit>
void for_each_weight(const MeanField<Scalar>& law, const MeanFieldNoise& noise, std::uint32_t draw,
                     const Visit& visit) {
  std::array<Scalar, 256> piece;
  const auto length = static_cast<std::int64_t>(piece.size());
  for (std::int64_t begin = 0; begin < law.size(); begin += length) {
    const std::int64_t end = std::min(begin + length, law.size());
    fill_normal(std::span(piece).first(static_cast<std::size_t>(end - begin)), noise.key, noise.row + draw,
                noise.first + static_cast<std::uint64_t>(begin));
    law.for_each_stretch(begin, end, [&](std::int64_t q, std::int64_t place, std::int64_t count) {
      for (std::int64_t j = 0; j < count; ++j) visit(q + j, place + j, piece[q - begin + j]);
    });
  }
}

}  // namespace

template <class Scalar>
void reference::draw(const MeanField<Scalar>& law, const MeanFieldNoise& noise, std::span<Scalar> weights) {
  std::ranges::fill(weights, Scalar{0});
  for_each_weight(law, noise, 0, [&](std::int64_t q, std::int64_t place, Scalar epsilon) {
    weights[place] = law.mean[q] + softplus(law.log_deviation[q]) * epsilon;
  });
}

template <class Scalar>
void reference::pull_back(const MeanField<Scalar>& law, const MeanFieldNoise& noise,
                          MatrixView<const Scalar> weight_gradient, double precision, std::span<Scalar> mean_gradient,
                          std::span<Scalar> deviation_gradient) {
  std::ranges::fill(mean_gradient, Scalar{0});
  std::ranges::fill(deviation_gradient, Scalar{0});
  for (std::int64_t s = 0; s < weight_gradient.rows; ++s)
    for_each_weight(law, noise, static_cast<std::uint32_t>(s), [&](std::int64_t q, std::int64_t place, Scalar epsilon) {
      mean_gradient[q] += weight_gradient(s, place);
      deviation_gradient[q] += weight_gradient(s, place) * epsilon;
    });
  const auto lambda = static_cast<Scalar>(precision);
  for (std::int64_t q = 0; q < law.size(); ++q) {
    const Scalar deviation = softplus(law.log_deviation[q]), slope = sigmoid(law.log_deviation[q]);
    mean_gradient[q] -= lambda * law.mean[q];
    deviation_gradient[q] = (deviation_gradient[q] - lambda * deviation) * slope + slope / deviation;
  }
}

template <class Scalar>
double sum_of_log_deviations(const MeanField<Scalar>& law) {
  double sum = 0;
  for (const Scalar rho : law.log_deviation) sum += std::log(softplus(rho));
  return sum;
}

template <class Scalar>
double sum_of_expected_squares(const MeanField<Scalar>& law) {
  double sum = 0;
  for (std::int64_t q = 0; q < law.size(); ++q) {
    const Scalar deviation = softplus(law.log_deviation[q]);
    sum += static_cast<double>(law.mean[q] * law.mean[q] + deviation * deviation);
  }
  return sum;
}

#define STEIN_INSTANTIATE(Scalar)                                                                               \
  template void reference::draw(const MeanField<Scalar>&, const MeanFieldNoise&, std::span<Scalar>);            \
  template void reference::pull_back(const MeanField<Scalar>&, const MeanFieldNoise&, MatrixView<const Scalar>, \
                                     double, std::span<Scalar>, std::span<Scalar>);                             \
  template double sum_of_log_deviations(const MeanField<Scalar>&);                                              \
  template double sum_of_expected_squares(const MeanField<Scalar>&);
STEIN_INSTANTIATE(float)
STEIN_INSTANTIATE(double)
#undef STEIN_INSTANTIATE

}  // namespace stein::inference
