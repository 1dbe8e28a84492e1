#include <stein/inference/parameterizations/variational_matrix_gaussian.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

/// W = M + diag(u) E diag(v).
template <class Scalar>
class MatrixPart final : public VariationalPart<Scalar> {
 public:
  MatrixPart(const LayoutEntry& weight, std::int64_t mean, std::int64_t left, std::int64_t right,
             const VariationalOptions& options)
      : weight_(weight),
        mean_(mean),
        left_(left),
        right_(right),
        rows_(weight.rows()),
        columns_(weight.columns()),
        options_(options) {}

  const std::string& name() const override { return weight_.name; }
  std::int64_t variables() const override { return rows_ * columns_; }

  void draw(std::span<const Scalar> row, const VariationalNoise& noise, std::span<Scalar> weights) const override {
    std::vector<Scalar>& v = exponentials(row);
    for_each_row(noise, [&](std::int64_t i, std::span<const Scalar> epsilon) {
      const Scalar u = std::exp(row[left_ + i]);
      const Scalar* from = row.data() + mean_ + i * columns_;
      Scalar* to = weights.data() + weight_.offset + i * weight_.row_stride;
      for (std::int64_t j = 0; j < columns_; ++j) to[j] = from[j] + u * epsilon[j] * v[j];
      std::fill(to + columns_, to + weight_.row_stride, Scalar{0});
    });
  }
  void pull_back(std::span<const Scalar> row, const VariationalNoise& noise, MatrixView<const Scalar> weight_gradient,
                 double precision, std::span<Scalar> gradient) const override {
    start_gradient(row, precision, gradient);
    std::vector<Scalar>& v = exponentials(row);
    for (std::int64_t s = 0; s < weight_gradient.rows; ++s) {
      const VariationalNoise own{noise.key, noise.row + static_cast<std::uint32_t>(s)};
      for_each_row(own, [&](std::int64_t i, std::span<const Scalar> epsilon) {
        const Scalar u = std::exp(row[left_ + i]);
        const Scalar* from = weight_gradient.row(s).data() + weight_.offset + i * weight_.row_stride;
        Scalar* mean_gradient = gradient.data() + mean_ + i * columns_;
        Scalar sum{0};
        for (std::int64_t j = 0; j < columns_; ++j) {
          const Scalar slope = from[j] * u * epsilon[j] * v[j];
          mean_gradient[j] += from[j];
          gradient[right_ + j] += slope;
          sum += slope;
        }
        gradient[left_ + i] += sum;
      });
    }
  }
  double log_determinant(std::span<const Scalar> row) const override {
    double left = 0, right = 0;
    for (std::int64_t i = 0; i < rows_; ++i) left += static_cast<double>(row[left_ + i]);
    for (std::int64_t j = 0; j < columns_; ++j) right += static_cast<double>(row[right_ + j]);
    return static_cast<double>(columns_) * left + static_cast<double>(rows_) * right;
  }
  double expected_square(std::span<const Scalar> row) const override {
    double means = 0;
    for (const Scalar mean : row.subspan(mean_, rows_ * columns_))
      means += static_cast<double>(mean) * static_cast<double>(mean);
    return sum_of_squares(row, left_, rows_) * sum_of_squares(row, right_, columns_) + means;
  }
  void initialise(std::span<Scalar> row, Draws& draws) const override {
    const auto half = static_cast<Scalar>(std::log(options_.draw_deviation(draws)) / 2);
    std::fill_n(row.begin() + left_, rows_, half);
    std::fill_n(row.begin() + right_, columns_, half);
  }

 private:
  /// Σ u² or Σ v².
  static double sum_of_squares(std::span<const Scalar> row, std::int64_t first, std::int64_t count) {
    double sum = 0;
    for (std::int64_t k = first; k < first + count; ++k) sum += std::exp(2 * static_cast<double>(row[k]));
    return sum;
  }
  /// Writes the gradient of the log determinant − λ/2 E‖θ‖².
  void start_gradient(std::span<const Scalar> row, double precision, std::span<Scalar> gradient) const {
    const double left = sum_of_squares(row, left_, rows_), right = sum_of_squares(row, right_, columns_);
    for (std::int64_t i = 0; i < rows_; ++i)
      gradient[left_ + i] = static_cast<Scalar>(static_cast<double>(columns_) -
                                                precision * right * std::exp(2 * static_cast<double>(row[left_ + i])));
    for (std::int64_t j = 0; j < columns_; ++j)
      gradient[right_ + j] = static_cast<Scalar>(static_cast<double>(rows_) -
                                                 precision * left * std::exp(2 * static_cast<double>(row[right_ + j])));
    for (std::int64_t k = mean_; k < mean_ + rows_ * columns_; ++k)
      gradient[k] = static_cast<Scalar>(-precision) * row[k];
  }
  /// v, in memory of this thread.
  std::vector<Scalar>& exponentials(std::span<const Scalar> row) const {
    thread_local std::vector<Scalar> v;
    v.resize(static_cast<std::size_t>(columns_));
    for (std::int64_t j = 0; j < columns_; ++j) v[j] = std::exp(row[right_ + j]);
    return v;
  }
  /// E row by row: visit(i, E_i).
  template <class Visit>
  void for_each_row(const VariationalNoise& noise, const Visit& visit) const {
    thread_local std::vector<Scalar> epsilon;
    epsilon.resize(static_cast<std::size_t>(columns_));
    for (std::int64_t i = 0; i < rows_; ++i) {
      fill_normal(std::span<Scalar>(epsilon), noise.key, noise.row, static_cast<std::uint64_t>(mean_ + i * columns_));
      visit(i, std::span<const Scalar>(epsilon));
    }
  }

  LayoutEntry weight_;
  std::int64_t mean_, left_, right_;
  std::int64_t rows_, columns_;
  VariationalOptions options_;
};

}  // namespace

template <class Scalar>
VariationalMatrixGaussian<Scalar>::VariationalMatrixGaussian(Layout weights, const VariationalOptions& options)
    : VariationalFamily<Scalar>(std::move(weights), options) {
  Layout& coordinates = this->coordinates_;
  for (const LayoutEntry& weight : this->weights_.entries()) {
    const LayoutEntry mean = coordinates.at(weight.name);
    if (weight.role == Role::weight) {
      const std::int64_t left =
          coordinates.add(weight.name + ".log_scale_left", {weight.rows()}, Role::log_scale, weight.layer).offset;
      const std::int64_t right =
          coordinates.add(weight.name + ".log_scale_right", {weight.columns()}, Role::log_scale, weight.layer).offset;
      this->add(std::make_unique<MatrixPart<Scalar>>(weight, mean.offset, left, right, options));
    } else if (weight.is_weight()) {
      const LayoutEntry& deviation =
          coordinates.add(weight.name + ".log_deviation", weight.shape, Role::log_deviation, weight.layer);
      this->add(mean_field_part<Scalar>(weight, mean, deviation, options));
    }
  }
}

template class VariationalMatrixGaussian<float>;
template class VariationalMatrixGaussian<double>;

}  // namespace stein::inference
