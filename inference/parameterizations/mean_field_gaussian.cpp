#include <stein/inference/parameterizations/mean_field_gaussian.h>
#include <stein/inference/parameterizations/mean_field_pass.h>
#include <stein/inference/parameterizations/softplus.h>
#include <stein/inference/weight_driver.h>

namespace stein::inference {
namespace {

template <class Scalar>
class MeanFieldPart final : public VariationalPart<Scalar> {
 public:
  MeanFieldPart(const LayoutEntry& weight, const LayoutEntry& mean, const LayoutEntry& log_deviation,
                const VariationalOptions& options, Device device)
      : weight_(weight),
        mean_(mean.offset),
        log_deviation_(log_deviation.offset),
        size_(static_cast<std::size_t>(weight.size())),
        options_(options),
        driver_(weight_driver<Scalar>(device)) {}

  const std::string& name() const override { return weight_.name; }
  std::int64_t variables() const override { return weight_.size(); }

  void draw(std::span<const Scalar> row, const VariationalNoise& noise, std::span<Scalar> weights) const override {
    driver_.draw(law(row), noise.from(mean_), weights.subspan(weight_.offset, weight_.extent()));
  }
  void pull_back(std::span<const Scalar> row, const VariationalNoise& noise, MatrixView<const Scalar> weight_gradient,
                 double precision, std::span<Scalar> gradient) const override {
    weight_gradient.data += weight_.offset;
    weight_gradient.columns = weight_.extent();
    const std::span<Scalar> mean_gradient = gradient.subspan(mean_, size_);
    driver_.pull_back(law(row), noise.from(mean_), weight_gradient, precision, mean_gradient,
                      gradient.subspan(log_deviation_, size_));
    const auto pull = static_cast<Scalar>(precision * weight_.centre());
    if (pull != 0) driver_.shift(mean_gradient, pull);
  }
  double log_determinant(std::span<const Scalar> row) const override { return driver_.sum_of_log_deviations(law(row)); }
  double expected_square(std::span<const Scalar> row) const override {
    const double square = driver_.sum_of_expected_squares(law(row)), centre = weight_.centre();
    if (centre == 0) return square;
    const double sum = driver_.sum(row.subspan(mean_, size_));
    return square - 2 * centre * sum + static_cast<double>(size_) * centre * centre;
  }
  void initialise(std::span<Scalar> row, Draws& draws) const override {
    for (Scalar& rho : row.subspan(log_deviation_, size_))
      rho = static_cast<Scalar>(inverse_softplus(options_.draw_deviation(draws)));
  }

 private:
  MeanField<Scalar> law(std::span<const Scalar> row) const {
    return {row.subspan(mean_, size_), row.subspan(log_deviation_, size_), weight_.columns(), weight_.row_stride};
  }

  LayoutEntry weight_;
  std::int64_t mean_;  ///< also where ε lie in their sheet
  std::int64_t log_deviation_;
  std::size_t size_;
  VariationalOptions options_;
  const WeightDriver<Scalar>& driver_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<VariationalPart<Scalar>> mean_field_part(const LayoutEntry& weight, const LayoutEntry& mean,
                                                         const LayoutEntry& log_deviation,
                                                         const VariationalOptions& options, Device device) {
  return std::make_unique<MeanFieldPart<Scalar>>(weight, mean, log_deviation, options, device);
}

template <class Scalar>
MeanFieldGaussian<Scalar>::MeanFieldGaussian(Layout weights, const VariationalOptions& options, Device device)
    : VariationalFamily<Scalar>(std::move(weights), options, device) {
  for (const LayoutEntry& weight : this->weights_.entries()) {
    if (!weight.is_weight()) continue;
    const LayoutEntry mean = this->coordinates_.at(weight.name);
    const LayoutEntry& deviation =
        this->coordinates_.add(weight.name + ".log_deviation", weight.shape, Role::log_deviation, weight.layer);
    this->add(mean_field_part<Scalar>(weight, mean, deviation, options, device));
  }
}

template class MeanFieldGaussian<float>;
template class MeanFieldGaussian<double>;
template std::unique_ptr<VariationalPart<float>> mean_field_part(const LayoutEntry&, const LayoutEntry&,
                                                                 const LayoutEntry&, const VariationalOptions&, Device);
template std::unique_ptr<VariationalPart<double>> mean_field_part(const LayoutEntry&, const LayoutEntry&,
                                                                  const LayoutEntry&, const VariationalOptions&,
                                                                  Device);

}  // namespace stein::inference
