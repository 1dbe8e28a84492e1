#include <stein/inference/parameterizations/variational_matrix_pass.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace stein::inference {
namespace {

/// v, in memory of this thread.
template <class Scalar>
std::vector<Scalar>& exponentials(std::span<const Scalar> log_right) {
  thread_local std::vector<Scalar> v;
  v.resize(log_right.size());
  for (std::size_t j = 0; j < v.size(); ++j) v[j] = std::exp(log_right[j]);
  return v;
}

/// E row by row: visit(i, E_i).
template <class Scalar, class Visit>
void for_each_row(const VariationalMatrix<Scalar>& law, const MeanFieldNoise& noise, std::uint32_t draw,
                  const Visit& visit) {
  thread_local std::vector<Scalar> epsilon;
  epsilon.resize(law.log_right.size());
  for (std::int64_t i = 0; i < law.rows(); ++i) {
    fill_normal(std::span<Scalar>(epsilon), noise.key, noise.row + draw,
                noise.first + static_cast<std::uint64_t>(i * law.columns()));
    visit(i, std::span<const Scalar>(epsilon));
  }
}

/// Σ u² or Σ v².
template <class Scalar>
double sum_of_squares(std::span<const Scalar> log_scales) {
  double sum = 0;
  for (const Scalar log_scale : log_scales) sum += std::exp(2 * static_cast<double>(log_scale));
  return sum;
}

/// Writes the gradient of the entropy − λ/2 E‖W‖².
template <class Scalar>
void start_gradient(const VariationalMatrix<Scalar>& law, double precision,
                    const VariationalMatrixGradient<Scalar>& gradient) {
  const auto rows = static_cast<double>(law.rows()), columns = static_cast<double>(law.columns());
  const double left = sum_of_squares(law.log_left), right = sum_of_squares(law.log_right);
  for (std::size_t i = 0; i < law.log_left.size(); ++i)
    gradient.log_left[i] =
        static_cast<Scalar>(columns - precision * right * std::exp(2 * static_cast<double>(law.log_left[i])));
  for (std::size_t j = 0; j < law.log_right.size(); ++j)
    gradient.log_right[j] =
        static_cast<Scalar>(rows - precision * left * std::exp(2 * static_cast<double>(law.log_right[j])));
  for (std::size_t k = 0; k < law.mean.size(); ++k) gradient.mean[k] = static_cast<Scalar>(-precision) * law.mean[k];
}

}  // namespace

template <class Scalar>
void draw_matrix(const VariationalMatrix<Scalar>& law, const MeanFieldNoise& noise, std::span<Scalar> weights) {
  const std::vector<Scalar>& v = exponentials(law.log_right);
  const std::int64_t columns = law.columns();
  for_each_row(law, noise, 0, [&](std::int64_t i, std::span<const Scalar> epsilon) {
    const Scalar u = std::exp(law.log_left[i]);
    const Scalar* from = law.mean.data() + i * columns;
    Scalar* to = weights.data() + i * law.stride;
    for (std::int64_t j = 0; j < columns; ++j) to[j] = from[j] + u * epsilon[j] * v[j];
    std::fill(to + columns, to + law.stride, Scalar{0});
  });
}

template <class Scalar>
void pull_back_matrix(const VariationalMatrix<Scalar>& law, const MeanFieldNoise& noise,
                      MatrixView<const Scalar> weight_gradient, double precision,
                      const VariationalMatrixGradient<Scalar>& gradient) {
  start_gradient(law, precision, gradient);
  const std::vector<Scalar>& v = exponentials(law.log_right);
  const std::int64_t columns = law.columns();
  for (std::int64_t s = 0; s < weight_gradient.rows; ++s)
    for_each_row(law, noise, static_cast<std::uint32_t>(s), [&](std::int64_t i, std::span<const Scalar> epsilon) {
      const Scalar u = std::exp(law.log_left[i]);
      const Scalar* from = weight_gradient.row(s).data() + i * law.stride;
      Scalar* mean_gradient = gradient.mean.data() + i * columns;
      Scalar sum{0};
      for (std::int64_t j = 0; j < columns; ++j) {
        const Scalar slope = from[j] * u * epsilon[j] * v[j];
        mean_gradient[j] += from[j];
        gradient.log_right[j] += slope;
        sum += slope;
      }
      gradient.log_left[i] += sum;
    });
}

template <class Scalar>
double expected_square_of_matrix(const VariationalMatrix<Scalar>& law) {
  double means = 0;
  for (const Scalar mean : law.mean) means += static_cast<double>(mean) * static_cast<double>(mean);
  return sum_of_squares(law.log_left) * sum_of_squares(law.log_right) + means;
}

#define STEIN_INSTANTIATE(Scalar)                                                                                   \
  template void draw_matrix(const VariationalMatrix<Scalar>&, const MeanFieldNoise&, std::span<Scalar>);            \
  template void pull_back_matrix(const VariationalMatrix<Scalar>&, const MeanFieldNoise&, MatrixView<const Scalar>, \
                                 double, const VariationalMatrixGradient<Scalar>&);                                 \
  template double expected_square_of_matrix(const VariationalMatrix<Scalar>&);
STEIN_INSTANTIATE(float)
STEIN_INSTANTIATE(double)
#undef STEIN_INSTANTIATE

}  // namespace stein::inference
