#include <stein/core/error.h>
#include <stein/inference/diagnostics/collapse_meter.h>
#include <stein/inference/priors/anchors.h>
#include <stein/policies/control_policy.h>
#include <stein/policies/orthogonal_start.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

using inference::MatrixView;

std::unique_ptr<ActionDistribution> distribution_of(const ControlPolicy::Options& options,
                                                    const envs::ControlSpec& spec) {
  if (spec.discrete()) return make_categorical(spec.choices);
  return make_gaussian(std::ssize(spec.action), options.deviation, options.initial_deviation);
}

inference::MlpSpec network_of(const ControlPolicy::Options& options, const envs::ControlSpec& spec,
                              const ActionDistribution& distribution) {
  return {.inputs = std::ssize(spec.observation),
          .hidden = options.hidden,
          .outputs = distribution.outputs(),
          .activation = options.activation,
          .constants = distribution.constants()};
}

/// A quiet last layer: every particle starts with much the same moderate distribution in all states.
void quieten_outputs(inference::Particles<float>& particles, const ControlPolicy::Options& options) {
  const auto last = static_cast<std::int64_t>(options.hidden.size());
  for (const inference::LayoutEntry& entry : particles.layout().entries()) {
    if (entry.layer != last || entry.role != inference::Role::weight) continue;
    for (std::int64_t i = 0; i < particles.rows(); ++i)
      for (float& weight : particles.values().row(i).subspan(static_cast<std::size_t>(entry.offset),
                                                             static_cast<std::size_t>(entry.extent())))
        weight *= static_cast<float>(options.output_spread);
  }
}

/// Draws every particle towards a common start z of the same law: x_i ← √ρ z + √(1 − ρ) x_i. Logarithms of precisions
/// start where they are told to.
void correlate(inference::Particles<float>& particles, const inference::Particles<float>& common, double correlation) {
  const auto shared = static_cast<float>(std::sqrt(correlation)), own = static_cast<float>(std::sqrt(1 - correlation));
  for (const inference::LayoutEntry& entry : particles.layout().entries()) {
    if (entry.role == inference::Role::log_precision) continue;
    for (std::int64_t i = 0; i < particles.rows(); ++i)
      for (std::int64_t q = entry.offset; q < entry.offset + entry.extent(); ++q)
        particles.values()(i, q) = shared * common.values()(0, q) + own * particles.values()(i, q);
  }
}

/// From independent normals to what the options say.
void shape_start(inference::Particles<float>& particles, const ControlPolicy::Options& options) {
  if (options.initial_weights == WeightStart::orthogonal) orthogonalise(particles, options.initial_spread);
  quieten_outputs(particles, options);
}

/// Particles as the posterior starts them, on the host.
inference::Particles<float> start_of(inference::Posterior<float>& posterior, std::int64_t particles, std::uint64_t seed,
                                     double spread) {
  inference::Particles<float> start(posterior.layout(), particles);
  posterior.initialise(start, seed, spread);
  return start;
}

double weight_variance(const inference::Particles<float>& particles) {
  return inference::mean_variance(particles.values(), particles.layout(), inference::Role::weight);
}

}  // namespace

ControlPolicy::ControlPolicy(const Options& options, const envs::ControlSpec& spec, std::uint64_t seed,
                             inference::Device device)
    : observation_size_(std::ssize(spec.observation)),
      activation_(options.activation),
      distribution_(distribution_of(checked(options), spec)),
      posterior_(
          inference::make_network_posterior(options.posterior, network_of(options, spec, *distribution_), device)),
      particles_(start_of(*posterior_, options.particles, seed, options.initial_spread)),
      networks_(*posterior_, network_of(options, spec, *distribution_), options.particles) {
  STEIN_CHECK(device == inference::Device{} || on_devices(options),
              "control policies on {}: expected no shared layers and arithmetic=fused", device_name(device));
  STEIN_CHECK(!options.posterior.distributes_weights(), "a control policy needs particles of weights or their factors");
  STEIN_CHECK(
      !spec.discrete() || spec.action.size() == 1,
      "{}: an action is {} choices at once; reinforce, a2c and ppo make one choice, or any number of continuous "
      "actions",
      spec.name, spec.action.size());
  if (options.shared_layers > 0) {
    STEIN_CHECK(options.shared_layers <= std::ssize(options.hidden),
                "option 'shared_layers': expected at most as many as there are hidden layers, {}, got {}",
                options.hidden.size(), options.shared_layers);
    shared_.emplace(*posterior_, [&](const inference::LayoutEntry& entry) {
      return entry.layer < options.shared_layers && entry.role != inference::Role::log_precision;
    });
  }
  if (options.initial_weights == WeightStart::orthogonal && options.initial_correlation < 1) {
    inference::Particles<float> independent = start_of(*posterior_, options.particles, seed, options.initial_spread);
    shape_start(independent, options);
    if (shared_) shared_->start(independent.values());
    start_variance_ = weight_variance(independent);
  }
  if (options.initial_correlation > 0)
    correlate(particles_, start_of(*posterior_, 1, ~seed, options.initial_spread), options.initial_correlation);
  shape_start(particles_, options);
  if (shared_) shared_->start(particles_.values());
  // √ρ z is the same for all particles, √(1 − ρ) x_i is not.
  if (options.initial_weights == WeightStart::normal && options.initial_correlation < 1)
    start_variance_ = weight_variance(particles_) / (1 - options.initial_correlation);
  if (options.anchors) {
    STEIN_CHECK(!options.posterior.prior.learn_weight_precision && !options.posterior.prior.learn_reflector_precision,
                "option 'anchors' needs a prior of fixed precision, expected anchors=false where one is learned "
                "(learn_weight_precision, learn_reflector_precision)");
    posterior_->multiply_prior(
        std::make_unique<inference::Anchors<float>>(options.posterior.prior, particles_, device));
  }
  if (device != inference::Device{}) particles_ = particles_.to(device);
  if (const auto* entry = weight_layout().find("constants")) constants_ = entry->offset;
  if (options.normalize_observations) moments_.emplace(observation_size_);
  refresh();
}

inference::Target<float>& ControlPolicy::target() {
  if (shared_) return *shared_;
  return *posterior_;
}

void ControlPolicy::refresh() {
  if (shared_) shared_->share(particles_.values());
  networks_.refresh(particles_);
}

void ControlPolicy::present(MatrixView<const float> rows, MatrixView<float> to) const {
  if (moments_) return moments_->normalise(rows, to);
  for (std::int64_t i = 0; i < rows.rows; ++i) std::ranges::copy(rows.row(i), to.row(i).begin());
}

std::vector<ColumnUnit> ControlPolicy::observation_units() const {
  std::vector<ColumnUnit> units;
  for (std::int64_t k = 0; moments_ && k < observation_size_; ++k) units.push_back(moments_->unit(k));
  return units;
}

void ControlPolicy::observe(MatrixView<const float> rows) {
  if (moments_) moments_->add(rows);
}

ActionDistribution::Parameters ControlPolicy::parameters(std::int64_t i, MatrixView<const float> presented,
                                                         MatrixView<float> outputs) const {
  networks_.predict(i, presented, outputs);
  if (constants_ < 0) return {outputs, {}};
  return {outputs, weights().row(i).subspan(static_cast<std::size_t>(constants_),
                                            static_cast<std::size_t>(distribution_->constants()))};
}

double ControlPolicy::particle_distance() const {
  const std::int64_t m = particles_.rows(), size = weight_layout().size();
  if (m < 2) return 0;
  // Σ over pairs |x_i − x_j|² = M Σ |x_i|² − |Σ x_i|².
  double total = 0;
  for (std::int64_t q = 0; q < size; ++q) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      const double x = weights()(i, q);
      sum += x, squares += x * x;
    }
    total += static_cast<double>(m) * squares - sum * sum;
  }
  return total / (0.5 * static_cast<double>(m * (m - 1)) * static_cast<double>(weight_layout().coordinate_count()));
}

double ControlPolicy::largest_weight() const {
  float largest = 0;
  for (std::int64_t i = 0; i < particles_.rows(); ++i)
    for (const float weight : weights().row(i)) largest = std::max(largest, std::abs(weight));
  return double{largest};
}

std::vector<std::pair<std::string, double>> ControlPolicy::diagnostics() const {
  if (particle_count() == 1) return {};
  std::vector<std::pair<std::string, double>> found{{"particle_distance", particle_distance()}};
  if (start_variance_ > 0) found.emplace_back("collapse", weight_variance(particles_.to({})) / start_variance_);
  return found;
}

void ControlPolicy::save(Snapshot& snapshot) const {
  snapshot.put_saved("particles", particles_);
  snapshot.put_saved("posterior", *posterior_);
  if (!moments_) return;
  snapshot.put_saved("observations", *moments_);
}

void ControlPolicy::restore(const Snapshot& snapshot) {
  particles_.restore(snapshot.part("particles"));
  posterior_->restore(snapshot.part("posterior"));
  if (moments_) moments_->restore(snapshot.part("observations"));
  refresh();
}

}  // namespace stein::policies
