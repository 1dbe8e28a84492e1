#include <stein/inference/parameterizations/variational_matrix_gaussian.h>
#include <stein/inference/parameterizations/variational_matrix_pass.h>
#include <stein/inference/weight_driver.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

/// W = M + diag(u) E diag(v).
template <class Scalar>
class MatrixPart final : public VariationalPart<Scalar> {
 public:
  MatrixPart(const LayoutEntry& weight, std::int64_t mean, std::int64_t left, std::int64_t right,
             const VariationalOptions& options, Device device)
      : weight_(weight),
        mean_(mean),
        left_(left),
        right_(right),
        options_(options),
        driver_(weight_driver<Scalar>(device)) {}

  const std::string& name() const override { return weight_.name; }
  std::int64_t variables() const override { return weight_.size(); }

  void draw(std::span<const Scalar> row, const VariationalNoise& noise, std::span<Scalar> weights) const override {
    driver_.draw_matrix(law(row), noise.from(mean_), weights.subspan(weight_.offset, weight_.extent()));
  }
  void pull_back(std::span<const Scalar> row, const VariationalNoise& noise, MatrixView<const Scalar> weight_gradient,
                 double precision, std::span<Scalar> gradient) const override {
    weight_gradient.data += weight_.offset;
    weight_gradient.columns = weight_.extent();
    driver_.pull_back_matrix(law(row), noise.from(mean_), weight_gradient, precision,
                             {means(gradient), log_left(gradient), log_right(gradient)});
  }
  double log_determinant(std::span<const Scalar> row) const override {
    return static_cast<double>(weight_.columns()) * driver_.sum(log_left(row)) +
           static_cast<double>(weight_.rows()) * driver_.sum(log_right(row));
  }
  double expected_square(std::span<const Scalar> row) const override {
    return driver_.expected_square_of_matrix(law(row));
  }
  void initialise(std::span<Scalar> row, Draws& draws) const override {
    const auto half = static_cast<Scalar>(std::log(options_.draw_deviation(draws)) / 2);
    std::ranges::fill(log_left(row), half);
    std::ranges::fill(log_right(row), half);
  }

 private:
  template <class Number>
  std::span<Number> means(std::span<Number> row) const {
    return row.subspan(mean_, weight_.size());
  }
  template <class Number>
  std::span<Number> log_left(std::span<Number> row) const {
    return row.subspan(left_, weight_.rows());
  }
  template <class Number>
  std::span<Number> log_right(std::span<Number> row) const {
    return row.subspan(right_, weight_.columns());
  }
  VariationalMatrix<Scalar> law(std::span<const Scalar> row) const {
    return {means(row), log_left(row), log_right(row), weight_.row_stride};
  }

  LayoutEntry weight_;
  std::int64_t mean_;  ///< also where ε lie in their sheet
  std::int64_t left_, right_;
  VariationalOptions options_;
  const WeightDriver<Scalar>& driver_;
};

}  // namespace

template <class Scalar>
VariationalMatrixGaussian<Scalar>::VariationalMatrixGaussian(Layout weights, const VariationalOptions& options,
                                                             Device device)
    : VariationalFamily<Scalar>(std::move(weights), options, device) {
  Layout& coordinates = this->coordinates_;
  for (const LayoutEntry& weight : this->weights_.entries()) {
    const LayoutEntry mean = coordinates.at(weight.name);
    if (weight.role == Role::weight) {  // its scales are deviations of the family: no prior has a law for them
      const std::int64_t left =
          coordinates.add(weight.name + ".log_scale_left", {weight.rows()}, Role::log_deviation, weight.layer).offset;
      const std::int64_t right =
          coordinates.add(weight.name + ".log_scale_right", {weight.columns()}, Role::log_deviation, weight.layer)
              .offset;
      this->add(std::make_unique<MatrixPart<Scalar>>(weight, mean.offset, left, right, options, device));
    } else if (weight.is_weight()) {
      const LayoutEntry& deviation =
          coordinates.add(weight.name + ".log_deviation", weight.shape, Role::log_deviation, weight.layer);
      this->add(mean_field_part<Scalar>(weight, mean, deviation, options, device));
    }
  }
}

template class VariationalMatrixGaussian<float>;
template class VariationalMatrixGaussian<double>;

}  // namespace stein::inference
