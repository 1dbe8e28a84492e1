// Weights, gradients and laws that loops over weights are tested with.
#pragma once

#include <stein/inference/models/sharpening_pass.h>
#include <stein/inference/parameterizations/dropout_pass.h>
#include <stein/inference/parameterizations/mean_field_pass.h>
#include <stein/inference/parameterizations/variational_matrix_pass.h>
#include <stein/inference/priors/scale_mixture_pass.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

namespace stein::test {

/// Normals of many sizes around a number.
inline std::vector<float> numbers_around(float centre, std::int64_t size, std::uint64_t sheet = 0) {
  std::vector<float> numbers(static_cast<std::size_t>(size));
  fill_normal(std::span<float>(numbers), {.seed = 3, .step = sheet}, 0);
  for (std::size_t q = 0; q < numbers.size(); ++q)
    numbers[q] = centre + numbers[q] * (q % 3 == 0 ? 9e-4f : q % 3 == 1 ? 4e-3f : 0.4f);
  return numbers;
}

/// The scale mixture with its options' defaults around a number.
inline inference::ScaleMixture mixture(double centre) {
  const double height = -0.5 * std::log(2 * std::acos(-1.0));
  return {.centre = centre,
          .precision = {std::exp(2.0), std::exp(14.0)},
          .log_height = {std::log(0.25) + 1 + height, std::log(0.75) + 7 + height}};
}

inline constexpr inference::SharpeningNumbers sharpening_numbers{
    .rate_scale = 0.7, .to_minibatch = 0.03, .deviation = 0.02, .precision = 2500};

/// A mean-field Gaussian of rows × columns weights, its rows `padding` numbers apart, and gradients of several draws;
/// all random, at addresses that no group of four is aligned to.
struct WeightCase {
  /// Of the parameter.
  struct Shape {
    std::int64_t rows, columns, padding;
  };
  static inline const std::vector<Shape> shapes{{1, 1, 0},  {1, 3, 0},    {1, 64, 0},  {3, 5, 3},
                                                {17, 5, 2}, {1, 1021, 0}, {5, 300, 0}, {2, 3000, 20}};
  /// What loops over it write.
  struct Written {
    std::vector<float> weights, mean_gradient, rho_gradient;
    explicit Written(const WeightCase& of)
        : weights(static_cast<std::size_t>(of.shape.rows * of.stride()), 9.0f),
          mean_gradient(static_cast<std::size_t>(of.shape.rows * of.shape.columns), 9.0f),
          rho_gradient(mean_gradient) {}
  };

  Shape shape;
  std::int64_t samples;
  std::vector<float> mean, rho, gradients;

  WeightCase(const Shape& of, std::int64_t draws)
      : shape(of),
        samples(draws),
        mean(numbers_around(0, of.rows * of.columns + 1, 1)),
        rho(numbers_around(-2, of.rows * of.columns + 2, 2)),
        gradients(numbers_around(1, draws * of.rows * stride() + 1, 3)) {}

  std::int64_t stride() const { return shape.columns + shape.padding; }
  inference::MeanField<float> law() const {
    const auto size = static_cast<std::size_t>(shape.rows * shape.columns);
    return {std::span(mean).subspan(1), std::span(rho).subspan(1, size), shape.columns, stride()};
  }
  inference::MatrixView<const float> slopes() const { return {gradients.data() + 1, samples, shape.rows * stride()}; }
  /// Its rows as those of units that may be dropped.
  inference::DroppedUnits units() const {
    return {.key = noise(0).key, .rate = 0.4, .first = 3, .columns = shape.columns, .stride = stride()};
  }
  static inference::MeanFieldNoise noise(std::uint64_t first) {
    return {.key = {.seed = 4, .step = 5, .stream = Stream::parameterization}, .row = 6, .first = first};
  }
};

/// A variational matrix Gaussian of the same shape.
struct MatrixCase {
  /// What loops over it write.
  struct Written {
    std::vector<float> weights, mean, left, right;
    explicit Written(const WeightCase& of)
        : weights(static_cast<std::size_t>(of.shape.rows * of.stride()), 9.0f),
          mean(static_cast<std::size_t>(of.shape.rows * of.shape.columns), 9.0f),
          left(static_cast<std::size_t>(of.shape.rows), 9.0f),
          right(static_cast<std::size_t>(of.shape.columns), 9.0f) {}
    inference::VariationalMatrixGradient<float> gradient() { return {mean, left, right}; }
  };

  std::vector<float> mean, log_left, log_right;
  std::int64_t stride;

  explicit MatrixCase(const WeightCase& of)
      : mean(numbers_around(0, of.shape.rows * of.shape.columns, 4)),
        log_left(numbers_around(-1, of.shape.rows, 5)),
        log_right(numbers_around(-0.5f, of.shape.columns, 6)),
        stride(of.stride()) {}
  inference::VariationalMatrix<float> law() const { return {mean, log_left, log_right, stride}; }
};

/// The same numbers but for roundings of sums as long.
inline void check_near(const std::vector<float>& found, const std::vector<float>& expected) {
  double largest = 0;
  bool near = true;  // not so for what is no number
  REQUIRE(found.size() == expected.size());
  for (const float number : expected) largest = std::max(largest, std::abs(static_cast<double>(number)));
  for (std::size_t q = 0; q < found.size(); ++q)
    near = near && std::abs(static_cast<double>(found[q]) - static_cast<double>(expected[q])) <= 3e-6 * largest;
  CHECK(near);
}

}  // namespace stein::test
