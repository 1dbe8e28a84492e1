#include <stein/inference/fused/vector_arithmetic.h>
#include <stein/inference/priors/gaussian_prior.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stein::inference {

template <class Scalar>
GaussianPrior<Scalar>::GaussianPrior(const GaussianPriorOptions& options, const Layout& layout,
                                     const std::vector<std::string>& without, PriorSpace space)
    : options_(options), space_(space) {
  STEIN_CHECK(
      space == PriorSpace::coordinates || !(options.learn_weight_precision || options.learn_reflector_precision),
      "a prior on the weights of a variational family has fixed precisions, expected none to be learned");
  std::int64_t next = layout.size();
  const auto group_of = [&](const std::string& name, double precision, bool learned) -> Group& {
    for (Group& group : groups_)
      if (group.name == name) return group;
    groups_.push_back({.name = name, .precision = precision, .coordinate = learned ? next : -1});
    if (learned) ++next;
    return groups_.back();
  };
  const auto add = [](Group& group, const LayoutEntry& entry) {
    group.variables += entry.size();
    const bool follows = !group.spans.empty() && group.spans.back().first + group.spans.back().second == entry.offset;
    if (follows)
      group.spans.back().second += entry.extent();
    else
      group.spans.emplace_back(entry.offset, entry.extent());
  };
  for (const LayoutEntry& entry : layout.entries()) {
    if (std::ranges::find(without, entry.name) != without.end()) continue;
    switch (entry.role) {
      case Role::weight:
      case Role::bias:
        add(group_of(options.weight_precision_name(entry.layer), options.weight_precision,
                     options.learn_weight_precision),
            entry);
        break;
      case Role::reflector_left:
        add(group_of("log_reflector_precision_left", options.reflector_precision, options.learn_reflector_precision),
            entry);
        break;
      case Role::reflector_right:
        add(group_of("log_reflector_precision_right", options.reflector_precision, options.learn_reflector_precision),
            entry);
        break;
      case Role::log_scale:
        add(group_of("log_scale", 1 / (options.scale_deviation * options.scale_deviation), false), entry);
        break;
      case Role::log_precision: noise_coordinate_ = entry.offset; break;
      case Role::rate: break;
      case Role::log_deviation:
        fail(ErrorKind::usage, "the Gaussian prior has no law for '{}'; a variational parameterization brings its own",
             entry.name);
    }
  }
}

template <class Scalar>
void GaussianPrior<Scalar>::extend(Layout& coordinates) const {
  for (const Group& group : groups_)
    if (group.coordinate >= 0) coordinates.add(group.name, {1}, Role::log_precision);
}

template <class Scalar>
void GaussianPrior<Scalar>::initialise(std::span<Scalar> row) const {
  for (const Group& group : groups_)
    if (group.coordinate >= 0) row[group.coordinate] = static_cast<Scalar>(std::log(group.precision));
}

template <class Scalar>
double GaussianPrior<Scalar>::add_gamma(std::int64_t coordinate, std::span<const Scalar> values,
                                        std::span<Scalar> gradient) const {
  const LogGamma law = log_gamma_prior(options_.gamma, static_cast<double>(values[coordinate]));
  gradient[coordinate] += static_cast<Scalar>(law.slope);
  return law.value;
}

template <class Scalar>
double GaussianPrior<Scalar>::add_group(const Group& group, std::span<const Scalar> values,
                                        std::span<Scalar> gradient) const {
  const double log_precision =
      group.coordinate >= 0 ? static_cast<double>(values[group.coordinate]) : std::log(group.precision);
  const double precision = std::exp(log_precision);
  double square = 0;
  for (const auto& [offset, length] : group.spans)
    square += subtract_scaled(values.subspan(offset, length), static_cast<Scalar>(precision),
                              gradient.subspan(offset, length));
  const double n = static_cast<double>(group.variables);
  double value = 0.5 * n * (log_precision - std::log(2 * std::numbers::pi)) - 0.5 * precision * square;
  if (group.coordinate >= 0) {
    gradient[group.coordinate] += static_cast<Scalar>(0.5 * n - 0.5 * precision * square);
    value += add_gamma(group.coordinate, values, gradient);
  }
  return value;
}

template <class Scalar>
void GaussianPrior<Scalar>::add_gradient(const ParticleRows<const Scalar>& rows, MatrixView<Scalar> gradient,
                                         std::span<Scalar> value) const {
  const MatrixView<const Scalar> values = rows.values;
  for (std::int64_t i = 0; i < values.rows; ++i) {
    double sum = 0;
    for (const Group& group : groups_) sum += add_group(group, values.row(i), gradient.row(i));
    if (noise_coordinate_ >= 0) sum += add_gamma(noise_coordinate_, values.row(i), gradient.row(i));
    if (!value.empty()) value[i] += static_cast<Scalar>(sum);
  }
}

template class GaussianPrior<float>;
template class GaussianPrior<double>;

}  // namespace stein::inference
