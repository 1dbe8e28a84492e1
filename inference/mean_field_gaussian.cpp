#include <stein/inference/mean_field_gaussian.h>
#include <stein/inference/mean_field_pass.h>
#include <stein/inference/softplus.h>

namespace stein::inference {
namespace {

template <class Scalar>
class MeanFieldPart final : public VariationalPart<Scalar> {
 public:
  MeanFieldPart(const LayoutEntry& weight, const LayoutEntry& mean, const LayoutEntry& log_deviation,
                const VariationalOptions& options)
      : weight_(weight),
        mean_(mean.offset),
        log_deviation_(log_deviation.offset),
        size_(static_cast<std::size_t>(weight.size())),
        options_(options) {}

  std::int64_t variables() const override { return weight_.size(); }

  void add_draw(std::span<const Scalar> row, const VariationalNoise& noise, std::span<Scalar> weights) const override {
    for_each_run([&](std::int64_t first, std::size_t count, std::int64_t place) {
      mean_field::add_noise<Scalar>(row.subspan(log_deviation_ + first, count), epsilon(noise, first),
                                    weights.subspan(place, count));
    });
  }
  void pull_back(std::span<const Scalar> row, const VariationalNoise& noise, std::span<const Scalar> weight_gradient,
                 std::span<Scalar> gradient) const override {
    for_each_run([&](std::int64_t first, std::size_t count, std::int64_t place) {
      mean_field::pull_back<Scalar>(row.subspan(log_deviation_ + first, count), epsilon(noise, first),
                                    weight_gradient.subspan(place, count),
                                    gradient.subspan(log_deviation_ + first, count));
    });
  }
  double add_log_determinant(std::span<const Scalar> row, std::span<Scalar> gradient) const override {
    return mean_field::add_log_deviation<Scalar>(row.subspan(log_deviation_, size_),
                                                 gradient.subspan(log_deviation_, size_));
  }
  double add_expected_square(double precision, std::span<const Scalar> row, std::span<Scalar> gradient) const override {
    return mean_field::add_expected_square<Scalar>(precision, row.subspan(mean_, size_),
                                                   row.subspan(log_deviation_, size_), gradient.subspan(mean_, size_),
                                                   gradient.subspan(log_deviation_, size_));
  }
  void initialise(std::span<Scalar> row, Draws& draws) const override {
    for (Scalar& rho : row.subspan(log_deviation_, size_))
      rho = static_cast<Scalar>(inverse_softplus(options_.draw_deviation(draws)));
  }

 private:
  mean_field::Noise epsilon(const VariationalNoise& noise, std::int64_t first) const {
    return {noise.key, noise.row, static_cast<std::uint64_t>(mean_ + first)};
  }
  /// Runs that lie end to end among coordinates and weights: visit(first of the parameter, length, place in the
  /// weights).
  template <class Visit>
  void for_each_run(const Visit& visit) const {
    if (weight_.row_stride == weight_.columns()) return visit(std::int64_t{0}, size_, weight_.offset);
    for (std::int64_t r = 0; r < weight_.rows(); ++r)
      visit(r * weight_.columns(), static_cast<std::size_t>(weight_.columns()),
            weight_.offset + r * weight_.row_stride);
  }

  LayoutEntry weight_;
  std::int64_t mean_;  ///< also where ε lie in their sheet
  std::int64_t log_deviation_;
  std::size_t size_;
  VariationalOptions options_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<VariationalPart<Scalar>> mean_field_part(const LayoutEntry& weight, const LayoutEntry& mean,
                                                         const LayoutEntry& log_deviation,
                                                         const VariationalOptions& options) {
  return std::make_unique<MeanFieldPart<Scalar>>(weight, mean, log_deviation, options);
}

template <class Scalar>
MeanFieldGaussian<Scalar>::MeanFieldGaussian(Layout weights, const VariationalOptions& options)
    : VariationalFamily<Scalar>(std::move(weights), options) {
  for (const LayoutEntry& weight : this->weights_.entries()) {
    if (weight.role != Role::weight && weight.role != Role::bias) continue;
    const LayoutEntry mean = this->coordinates_.at(weight.name);
    const LayoutEntry& deviation =
        this->coordinates_.add(weight.name + ".log_deviation", weight.shape, Role::log_deviation, weight.layer);
    this->add(mean_field_part<Scalar>(weight, mean, deviation, options));
  }
}

template class MeanFieldGaussian<float>;
template class MeanFieldGaussian<double>;
template std::unique_ptr<VariationalPart<float>> mean_field_part(const LayoutEntry&, const LayoutEntry&,
                                                                 const LayoutEntry&, const VariationalOptions&);
template std::unique_ptr<VariationalPart<double>> mean_field_part(const LayoutEntry&, const LayoutEntry&,
                                                                  const LayoutEntry&, const VariationalOptions&);

}  // namespace stein::inference
