#include <stein/inference/priors/gaussian_prior.h>
#include <stein/inference/storage/device_number.h>
#include <stein/inference/weight_driver.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stein::inference {
namespace {

/// As where it is learned, by way of its logarithm: the same bits.
double fixed_precision(double precision) {
  return std::exp(std::log(precision));
}

}  // namespace

template <class Scalar>
GaussianPrior<Scalar>::GaussianPrior(const GaussianPriorOptions& options, const Layout& layout,
                                     const std::vector<std::string>& without, PriorSpace space, Device device)
    : options_(checked(options)),
      space_(space),
      device_(device),
      driver_(driver<Scalar>(Ensemble{.device = device})),
      weight_driver_(weight_driver<Scalar>(device)) {
  STEIN_CHECK(
      space == PriorSpace::coordinates || !(options.learn_weight_precision || options.learn_reflector_precision),
      "a prior on the weights of a variational family has fixed precisions, expected none to be learned");
  STEIN_CHECK(
      options.learn_weight_precision || !options.precision_per_layer,
      "option 'precision_per_layer' needs learn_weight_precision: a fixed precision is the same in every layer");
  STEIN_CHECK(options.precisions.empty() || !options.learn_weight_precision,
              "learn_weight_precision is for one law of all weights, got precisions that are stated layer by layer");
  const auto group_of = [&](const std::string& name, double precision, bool learned) -> Group& {
    for (Group& group : groups_)
      if (group.name == name) return group;
    groups_.push_back({.name = name, .learned = learned, .precision = precision});
    return groups_.back();
  };
  const auto add = [](Group& group, const LayoutEntry& entry) {
    group.variables += entry.size();
    const bool gain = entry.role == Role::gain;
    const std::int64_t extent = gain ? entry.size() : entry.extent();
    auto& runs = gain ? group.gains : group.runs;
    const bool follows = !runs.empty() && runs.back().first + runs.back().count == entry.offset;
    if (follows)
      runs.back().count += extent;
    else
      runs.push_back({entry.offset, extent});
  };
  for (const LayoutEntry& entry : layout.entries()) {
    if (std::ranges::find(without, entry.name) != without.end()) continue;
    switch (entry.role) {
      case Role::weight:
      case Role::bias:
      case Role::gain:
        add(group_of(options.precisions.contains(entry.name) ? entry.name : options.weight_precision_name(entry.layer),
                     options.precision_of(entry), options.learn_weight_precision),
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
      case Role::log_precision: noise_coordinates_.push_back(entry.offset); break;
      case Role::rate: break;
      case Role::log_deviation:
        fail(ErrorKind::usage, "the Gaussian prior has no law for '{}'; a variational parameterization brings its own",
             entry.name);
    }
  }
  std::int64_t longest = 0;
  for (const Group& group : groups_)
    for (const NumberRun& run : group.gains) longest = std::max(longest, run.count);
  for (const Group& group : groups_)
    for (const auto& [first, count] : group.runs)
      if (!group.learned) fixed_runs_.push_back({first, count, static_cast<Scalar>(fixed_precision(group.precision))});
  if (longest > 0) {
    Matrix<Scalar> ones(1, longest);
    ones.fill(1);
    ones_ = ones.to(device);
  }
}

template <class Scalar>
void GaussianPrior<Scalar>::extend(Layout& coordinates) {
  for (Group& group : groups_)
    if (group.learned) group.coordinate = coordinates.add(group.name, {1}, Role::log_precision).offset;
}

template <class Scalar>
void GaussianPrior<Scalar>::initialise(std::span<Scalar> row) const {
  for (const Group& group : groups_)
    if (group.coordinate >= 0) row[group.coordinate] = static_cast<Scalar>(std::log(group.precision));
}

template <class Scalar>
double GaussianPrior<Scalar>::add_gamma(std::int64_t coordinate, std::span<const Scalar> values,
                                        std::span<Scalar> gradient) const {
  const LogGamma law = log_gamma_prior(options_.gamma, number_at(values, coordinate, device_));
  if (!gradient.empty()) weight_driver_.shift(gradient.subspan(coordinate, 1), static_cast<Scalar>(law.slope));
  return law.value;
}

template <class Scalar>
double GaussianPrior<Scalar>::add_group(const Group& group, std::span<const Scalar> values,
                                        std::span<Scalar> gradient) const {
  const double log_precision =
      group.coordinate >= 0 ? number_at(values, group.coordinate, device_) : std::log(group.precision);
  const double precision = std::exp(log_precision);
  const bool with_gradient = !gradient.empty();
  double square = 0;
  for (const auto& [first, count] : group.runs) {
    const std::span<const Scalar> run = values.subspan(first, count);
    double own = 0;
    if (with_gradient)
      driver_.subtract_scaled(run, static_cast<Scalar>(precision), gradient.subspan(first, count), &own);
    else
      own = driver_.sum_of_squares(run);
    square += own;
  }
  for (const auto& [first, count] : group.gains) {
    const std::span<const Scalar> run = values.subspan(first, count);
    if (with_gradient) subtract_gains(run, precision, gradient.subspan(first, count));
    square += sum_of_gain_squares(run);
  }
  const double n = static_cast<double>(group.variables);
  double value = 0.5 * n * (log_precision - std::log(2 * std::numbers::pi)) - 0.5 * precision * square;
  if (group.coordinate >= 0) {
    if (with_gradient)
      weight_driver_.shift(gradient.subspan(group.coordinate, 1),
                           static_cast<Scalar>(log_precision_slope(n, precision, square)));
    value += add_gamma(group.coordinate, values, gradient);
  }
  return value;
}

// Gains in the driver's passes over vectors, of which none knows a centre: of x, and of ones.

template <class Scalar>
void GaussianPrior<Scalar>::subtract_gains(std::span<const Scalar> gains, double precision,
                                           std::span<Scalar> gradient) const {
  driver_.subtract_scaled(gains, static_cast<Scalar>(precision), gradient, nullptr);
  driver_.subtract_scaled(ones_.row(0).first(gains.size()), static_cast<Scalar>(-precision), gradient, nullptr);
}

template <class Scalar>
double GaussianPrior<Scalar>::sum_of_gain_squares(std::span<const Scalar> gains) const {
  double sum = 0;
  driver_.add_products(gains, ones_.row(0).first(gains.size()), sum);
  return driver_.sum_of_squares(gains) - 2 * sum + static_cast<double>(gains.size());
}

template <class Scalar>
void GaussianPrior<Scalar>::add_slopes(MatrixView<const Scalar> values, MatrixView<Scalar> gradient) const {
  if (!fixed_runs_.empty()) driver_.subtract_runs(values, fixed_runs_, gradient);
  for (const Group& group : groups_) {
    if (group.learned && group.gains.empty()) {
      driver_.add_learned_precision(values, {group.coordinate, group.runs, group.variables, options_.gamma}, gradient);
      continue;
    }
    for (std::int64_t i = 0; i < values.rows; ++i) {
      if (group.learned) {
        add_group(group, values.row(i), gradient.row(i));
        continue;
      }
      for (const auto& [first, count] : group.gains)
        subtract_gains(values.row(i).subspan(first, count), fixed_precision(group.precision),
                       gradient.row(i).subspan(first, count));
    }
  }
  for (const std::int64_t noise : noise_coordinates_)
    driver_.add_learned_precision(values, {.coordinate = noise, .gamma = options_.gamma}, gradient);
}

template <class Scalar>
void GaussianPrior<Scalar>::add_log_density(const ParticleRows<const Scalar>& rows,
                                            const Evaluation<Scalar>& wanted) const {
  const MatrixView<const Scalar> values = rows.values;
  for (const Group& group : groups_)
    STEIN_CHECK(!group.learned || group.coordinate >= 0, "gaussian prior: '{}' is no coordinate yet; `extend` adds it",
                group.name);
  if (!wanted.wants_value()) {
    if (wanted.wants_gradient()) add_slopes(values, wanted.gradient);
    return;
  }
  for (std::int64_t i = 0; i < values.rows; ++i) {
    const std::span<Scalar> gradient = wanted.wants_gradient() ? wanted.gradient.row(i) : std::span<Scalar>();
    double sum = 0;
    for (const Group& group : groups_) sum += add_group(group, values.row(i), gradient);
    for (const std::int64_t noise : noise_coordinates_) sum += add_gamma(noise, values.row(i), gradient);
    wanted.value[i] += sum;
  }
}

template <class Scalar>
void draw_from_prior(const GaussianPriorOptions& prior, Particles<Scalar>& particles, const NoiseKey& key) {
  for (const LayoutEntry& entry : particles.layout().entries()) {
    const double precision = prior.precision_of(entry);
    if (precision == 0) continue;
    const auto deviation = static_cast<Scalar>(1 / std::sqrt(precision)), centre = static_cast<Scalar>(entry.centre());
    for (std::int64_t i = 0; i < particles.rows(); ++i) {
      const std::span<Scalar> values = particles.values().row(i).subspan(entry.offset, entry.size());
      fill_normal(values, key, static_cast<std::uint32_t>(particles.first_row() + i),
                  static_cast<std::uint64_t>(entry.offset));
      for (Scalar& value : values) value = centre + deviation * value;
    }
  }
}

template class GaussianPrior<float>;
template class GaussianPrior<double>;
template void draw_from_prior(const GaussianPriorOptions&, Particles<float>&, const NoiseKey&);
template void draw_from_prior(const GaussianPriorOptions&, Particles<double>&, const NoiseKey&);

}  // namespace stein::inference
