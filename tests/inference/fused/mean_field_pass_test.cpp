// The SIMD draw of a mean-field Gaussian and its way back against the reference, from the same ε.
#include <stein/core/parallel.h>
#include <stein/inference/fused/mean_field_pass.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace stein;
using namespace stein::inference;

namespace {

/// A parameter of rows × columns weights, its rows `padding` numbers apart, and gradients of `samples` draws; all
/// random, at addresses that no vector is aligned to.
template <class Scalar>
struct Parameter {
  std::int64_t rows, columns, stride, samples;
  std::vector<Scalar> mean, log_deviation, slopes;

  Parameter(std::int64_t row_count, std::int64_t column_count, std::int64_t padding, std::int64_t sample_count)
      : rows(row_count), columns(column_count), stride(column_count + padding), samples(sample_count) {
    mean = filled(0, rows * columns + 1);
    log_deviation = filled(1, rows * columns + 1);
    for (Scalar& rho : log_deviation) rho = 3 * rho - 2;
    slopes = filled(2, samples * rows * stride + 1);
  }
  static std::vector<Scalar> filled(std::uint64_t sheet, std::int64_t size) {
    std::vector<float> numbers(static_cast<std::size_t>(size));
    fill_normal(std::span<float>(numbers), {.seed = 3, .step = sheet}, 0);
    return {numbers.begin(), numbers.end()};
  }
  MeanField<Scalar> law() const {
    return {std::span(mean).subspan(1), std::span(log_deviation).subspan(1), columns, stride};
  }
  MatrixView<const Scalar> weight_gradient() const { return {slopes.data() + 1, samples, rows * stride}; }
};

/// What a pass over a parameter writes.
template <class Scalar>
struct MeanFieldPass {
  std::vector<Scalar> weights, mean_gradient, deviation_gradient;

  explicit MeanFieldPass(const Parameter<Scalar>& parameter)
      : weights(static_cast<std::size_t>(parameter.rows * parameter.stride), Scalar{9}),
        mean_gradient(static_cast<std::size_t>(parameter.rows * parameter.columns), Scalar{9}),
        deviation_gradient(mean_gradient) {}
};

constexpr MeanFieldNoise noise{.key = {.seed = 4, .step = 5, .stream = Stream::parameterization}, .row = 6, .first = 7};

template <class Scalar>
MeanFieldPass<Scalar> by_reference(const Parameter<Scalar>& parameter, double precision) {
  MeanFieldPass<Scalar> result(parameter);
  reference::draw<Scalar>(parameter.law(), noise, result.weights);
  reference::pull_back<Scalar>(parameter.law(), noise, parameter.weight_gradient(), precision, result.mean_gradient,
                               result.deviation_gradient);
  return result;
}

MeanFieldPass<float> by_simd(const Parameter<float>& parameter, double precision) {
  MeanFieldPass<float> result(parameter);
  fused::draw(parameter.law(), noise, result.weights);
  fused::pull_back(parameter.law(), noise, parameter.weight_gradient(), precision, result.mean_gradient,
                   result.deviation_gradient);
  return result;
}

/// ‖a − b‖ / ‖b‖.
template <class Scalar>
double relative_error(const std::vector<float>& a, const std::vector<Scalar>& b) {
  double apart = 0, norm = 0;
  for (std::size_t q = 0; q < a.size(); ++q) {
    apart += std::pow(static_cast<double>(a[q]) - static_cast<double>(b[q]), 2);
    norm += std::pow(static_cast<double>(b[q]), 2);
  }
  return std::sqrt(apart / norm);
}

struct Shape {
  std::int64_t rows, columns, padding;
};

const std::vector<Shape> shapes{{1, 1, 0},   {1, 3, 0},    {1, 64, 0},   {3, 5, 3},    {17, 50, 14},
                                {1, 257, 0}, {2, 300, 20}, {5, 1000, 0}, {1, 4097, 0}, {3, 4100, 12}};

}  // namespace

TEST_CASE("draws and gradients of mean-field Gaussians in SIMD are those of the reference",
          "[inference][variational][parity]") {
  for (const Shape& shape : shapes) {
    for (const std::int64_t samples : {1, 3}) {
      for (const double precision : {0.0, 2.5}) {
        const Parameter<float> narrow(shape.rows, shape.columns, shape.padding, samples);
        const Parameter<double> wide(shape.rows, shape.columns, shape.padding, samples);
        const MeanFieldPass<float> simd = by_simd(narrow, precision), reference = by_reference(narrow, precision);
        const MeanFieldPass<double> exact = by_reference(wide, precision);
        CAPTURE(shape.rows, shape.columns, shape.padding, samples, precision);
        CHECK(relative_error(simd.weights, reference.weights) <= 1e-6);
        CHECK(relative_error(simd.mean_gradient, reference.mean_gradient) <= 1e-6);
        CHECK(relative_error(simd.deviation_gradient, reference.deviation_gradient) <= 1e-6);
        CHECK(relative_error(simd.weights, exact.weights) <= 1e-5);
        CHECK(relative_error(simd.mean_gradient, exact.mean_gradient) <= 1e-5);
        CHECK(relative_error(simd.deviation_gradient, exact.deviation_gradient) <= 1e-5);
        for (std::int64_t r = 0; r < shape.rows; ++r)
          for (std::int64_t c = shape.columns; c < narrow.stride; ++c)
            CHECK(simd.weights[static_cast<std::size_t>(r * narrow.stride + c)] == 0);
      }
    }
  }
}

TEST_CASE("the SIMD softplus and its slope hold from tiny to large deviations", "[inference][variational][parity]") {
  // Without likelihood ∇ρ = σ'(1/σ − σ), which loses no digits but where σ is near 1.
  Parameter<float> narrow(1, 321, 0, 1);
  Parameter<double> wide(1, 321, 0, 1);
  for (std::size_t q = 0; q <= 321; ++q) {
    const double rho = (static_cast<double>(q) - 161) / 2;
    narrow.log_deviation[q] = static_cast<float>(rho), wide.log_deviation[q] = rho;
    narrow.slopes[q] = 0, wide.slopes[q] = 0;
  }
  const MeanFieldPass<float> simd = by_simd(narrow, 1);
  const MeanFieldPass<double> exact = by_reference(wide, 1);
  for (std::size_t q = 0; q < 321; ++q) {
    CAPTURE(narrow.log_deviation[q + 1]);
    CHECK(simd.deviation_gradient[q] == Approx(exact.deviation_gradient[q]).epsilon(1e-6).margin(1e-6));
  }
}

TEST_CASE("the passes of a mean-field Gaussian do not depend on the number of threads", "[inference][variational]") {
  const Parameter<float> parameter(3, 9001, 7, 2);
  const int before = thread_count();
  set_thread_count(1);
  const MeanFieldPass<float> one = by_simd(parameter, 1);
  set_thread_count(4);
  const MeanFieldPass<float> four = by_simd(parameter, 1);
  set_thread_count(before);
  CHECK(one.weights == four.weights);
  CHECK(one.mean_gradient == four.mean_gradient);
  CHECK(one.deviation_gradient == four.deviation_gradient);
}

TEST_CASE("a log deviation that is no number leaves none behind", "[inference][variational]") {
  Parameter<float> parameter(1, 70, 0, 1);
  for (const std::size_t place : {1, 33, 70}) {
    parameter.log_deviation[place] = std::numeric_limits<float>::quiet_NaN();
    const MeanFieldPass<float> result = by_simd(parameter, 1);
    CHECK(std::isnan(result.weights[place - 1]));
    CHECK(std::isnan(result.deviation_gradient[place - 1]));
  }
}
