#include <stein/agents/control/baseline.h>
#include <stein/distributed/shared_work.h>
#include <stein/inference/storage/copy_rows.h>
#include <stein/inference/targets/host_networks.h>
#include <stein/inference/targets/shared_target.h>
#include <stein/policies/orthogonal_start.h>
#include <stein/policies/running_moments.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace stein::agents {
namespace {

using inference::MatrixView;

class NoBaseline final : public Baseline {
 public:
  void predict(std::int64_t, MatrixView<const float>, std::span<const float>, std::span<float> values) override {
    std::ranges::fill(values, 0.0F);
  }
};

/// Least squares with a ridge of 1e-5 on [o, o², t, t², t³, 1], o limited to ±10 and t in hundreds of steps: rllab's
/// LinearFeatureBaseline.
class LinearBaseline final : public Baseline {
 public:
  LinearBaseline(std::int64_t particles, std::int64_t observation_size)
      : observation_size_(observation_size),
        coefficients_(static_cast<std::size_t>(particles), Eigen::VectorXd::Zero(2 * observation_size + 4)) {}

  void predict(std::int64_t particle, MatrixView<const float> observations, std::span<const float> times,
               std::span<float> values) override {
    const Eigen::VectorXd& weights = coefficients_[static_cast<std::size_t>(particle)];
    Eigen::VectorXd features(weights.size());
    for (std::int64_t i = 0; i < observations.rows; ++i) {
      write_features(observations.row(i), times[static_cast<std::size_t>(i)], features);
      values[static_cast<std::size_t>(i)] = static_cast<float>(features.dot(weights));
    }
  }

  void refit(const ValueRows& rows) override {
    distributed::shared_for(
        *ranks_, std::ssize(coefficients_), [&](std::int64_t particle) { refit(rows, particle); },
        [&](std::int64_t particle) {
          Eigen::VectorXd& own = coefficients_[static_cast<std::size_t>(particle)];
          return std::span(own.data(), static_cast<std::size_t>(own.size()));
        });
  }

  void share_with(inference::PartExchange& exchange) override { ranks_ = &exchange.ranks(); }

  void save(Snapshot& snapshot) const override {
    std::vector<double> all;
    for (const Eigen::VectorXd& weights : coefficients_) all.insert(all.end(), weights.begin(), weights.end());
    snapshot.put("coefficients", all);
  }
  void restore(const Snapshot& snapshot) override {
    std::vector<double> all(coefficients_.size() * static_cast<std::size_t>(coefficients_.front().size()));
    snapshot.get("coefficients", std::span(all));
    auto next = all.begin();
    for (Eigen::VectorXd& weights : coefficients_) {
      std::copy_n(next, weights.size(), weights.begin());
      next += weights.size();
    }
  }

 private:
  void refit(const ValueRows& rows, std::int64_t particle) {
    const std::int64_t size = 2 * observation_size_ + 4;
    Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(size, size) * 1e-5;
    Eigen::VectorXd moment = Eigen::VectorXd::Zero(size), features(size);
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      const std::int64_t row = particle * rows.rows + i;
      const auto at = static_cast<std::size_t>(row);
      if (rows.scale[at] == 0) continue;
      write_features(rows.observations.row(row), rows.times[at], features);
      gram.selfadjointView<Eigen::Lower>().rankUpdate(features);
      moment += features * double{rows.targets[at]};
    }
    coefficients_[static_cast<std::size_t>(particle)] = gram.selfadjointView<Eigen::Lower>().ldlt().solve(moment);
  }

  void write_features(std::span<const float> observation, float steps, Eigen::VectorXd& features) const {
    const double time = double{steps} / 100;
    for (std::int64_t k = 0; k < observation_size_; ++k) {
      const double limited = std::clamp(double{observation[static_cast<std::size_t>(k)]}, -10.0, 10.0);
      features[k] = limited;
      features[observation_size_ + k] = limited * limited;
    }
    features.tail<4>() << time, time * time, time * time * time, 1;
  }

  std::int64_t observation_size_;
  std::vector<Eigen::VectorXd> coefficients_;
  distributed::Communicator* ranks_ = &distributed::single_process();
};

inference::MlpSpec network_of(const ValueNetworkOptions& options, std::int64_t observation_size) {
  return {
      .inputs = observation_size, .hidden = options.hidden, .outputs = 1, .activation = inference::Activation::tanh};
}

/// M perceptrons under no prior, moved by Adam. With `normalize` their outputs are in units of the running mean and sd
/// of the targets, and the last layer is rescaled where these move, so that no prediction does (Pop-Art: van Hasselt et
/// al. 2016, eqs. 5 and 6).
class ValueNetwork final : public Baseline {
 public:
  ValueNetwork(const ValueNetworkOptions& options, std::int64_t particles, std::int64_t observation_size,
               std::uint64_t seed, inference::Device device)
      : options_(checked(options)),
        posterior_(inference::make_network_posterior({.flat_prior = true, .arithmetic = options.arithmetic},
                                                     network_of(options, observation_size), device)),
        particles_(start(particles, seed)),
        optimizer_({.step = {.step_size = options.step_size},
                    .epsilon = options.epsilon,
                    .clip = {.clip_norm = options.largest_gradient}},
                   particles_.ensemble(seed, options.arithmetic)),
        networks_(*posterior_, network_of(options, observation_size), particles),
        objective_(device) {
    if (options.normalize) moments_.assign(static_cast<std::size_t>(particles), policies::RunningMoments(1));
    refresh();
  }

  void predict(std::int64_t particle, MatrixView<const float> observations, std::span<const float>,
               std::span<float> values) override {
    networks_.predict(particle, observations, {values.data(), observations.rows, 1});
    if (moments_.empty()) return;
    const Unit unit = unit_of(particle);
    for (float& value : values.first(static_cast<std::size_t>(observations.rows)))
      value = unit.mean + unit.deviation * value;
  }

  std::optional<ValuedBy> networks() const override {
    ValuedBy valued{
        .layout = networks_.layout(), .activation = inference::Activation::tanh, .weights = networks_.weights()};
    for (std::int64_t i = 0; i < particles_.rows(); ++i) {
      const Unit unit = moments_.empty() ? Unit{.mean = 0, .deviation = 1} : unit_of(i);
      valued.units.insert(valued.units.end(), {unit.mean, unit.deviation});
    }
    return valued;
  }

  void observe(const ValueRows& rows) override {
    if (moments_.empty()) return;
    std::optional<inference::Particles<float>> copy;
    if (particles_.device() != inference::Device{}) copy.emplace(particles_.to({}));
    inference::Particles<float>& home = copy ? *copy : particles_;
    for (std::size_t i = 0; i < moments_.size(); ++i) {
      const auto particle = static_cast<std::int64_t>(i);
      const auto n = static_cast<std::size_t>(rows.rows), first = i * n;
      std::vector<float> counted;
      for (std::size_t at = first; at < first + n; ++at)
        if (rows.scale[at] != 0) counted.push_back(rows.targets[at]);
      const Unit before = unit_of(particle);
      moments_[i].add({counted.data(), std::ssize(counted), 1});
      keep_predictions(home, particle, before, unit_of(particle));
    }
    if (copy) bring_back(*copy);
    refresh();
  }

  void learn(const ValueRows& rows) override {
    objective_.set_rows({.rows = rows.rows, .targets = in_units(rows), .scale = rows.scale});
    const inference::Batch<float> batch{.inputs = {.dense = rows.observations},
                                        .inputs_per_particle = true,
                                        .rows = rows.rows,
                                        .data_size = static_cast<double>(rows.rows),
                                        .score = &objective_};
    for (std::int64_t update = 0; update < options_.updates; ++update) optimizer_.step(particles_, target(), batch);
    optimizer_.settle(particles_, target(), batch);
    refresh();
  }

  void share_with(inference::PartExchange& exchange) override { shared_.emplace(*posterior_, exchange); }

  void scale_step_size(double factor) override { optimizer_.scale_step_size(factor); }

  void save(Snapshot& snapshot) const override {
    snapshot.put_saved("particles", particles_);
    snapshot.put_saved("optimizer", optimizer_);
    for (std::size_t i = 0; i < moments_.size(); ++i) snapshot.put_saved("targets" + std::to_string(i), moments_[i]);
  }
  void restore(const Snapshot& snapshot) override {
    particles_.restore(snapshot.part("particles"));
    optimizer_.restore(snapshot.part("optimizer"));
    for (std::size_t i = 0; i < moments_.size(); ++i) moments_[i].restore(snapshot.part("targets" + std::to_string(i)));
    refresh();
  }

 private:
  inference::Particles<float> start(std::int64_t count, std::uint64_t seed) {
    inference::Particles<float> particles(posterior_->layout(), count);
    posterior_->initialise(particles, seed, 1);
    if (options_.initial_weights == policies::WeightStart::orthogonal)
      policies::orthogonalise(particles, options_.initial_spread);
    return particles.to(posterior_->model().device());
  }
  /// Values of the host become those of the particles on a device.
  void bring_back(const inference::Particles<float>& copy) {
    for (std::int64_t i = 0; i < copy.rows(); ++i)
      inference::copy_there<float>(copy.values().row(i), particles_.values().row(i), particles_.device());
  }
  /// What outputs of a network are multiplied with, and what is added then.
  struct Unit {
    float mean, deviation;
  };
  Unit unit_of(std::int64_t particle) const {
    const policies::RunningMoments& moments = moments_[static_cast<std::size_t>(particle)];
    return {.mean = static_cast<float>(moments.mean(0)),
            .deviation = static_cast<float>(std::sqrt(moments.variance(0) + 1e-8))};
  }
  /// σ w + μ is the same before and after, for every observation.
  void keep_predictions(inference::Particles<float>& particles, std::int64_t particle, const Unit& before,
                        const Unit& after) const {
    const std::string layer = "layer" + std::to_string(options_.hidden.size());
    const MatrixView<float> weight = particles.view(layer + ".weight", particle),
                            bias = particles.view(layer + ".bias", particle);
    for (std::int64_t k = 0; k < weight.rows; ++k) weight(k, 0) *= before.deviation / after.deviation;
    bias(0, 0) = (before.deviation * bias(0, 0) + before.mean - after.mean) / after.deviation;
  }
  std::span<const float> in_units(const ValueRows& rows) {
    if (moments_.empty()) return rows.targets;
    scaled_targets_.resize(rows.targets.size());
    for (std::size_t at = 0; at < rows.targets.size(); ++at) {
      const Unit unit = unit_of(static_cast<std::int64_t>(at) / rows.rows);
      scaled_targets_[at] = (rows.targets[at] - unit.mean) / unit.deviation;
    }
    return scaled_targets_;
  }
  inference::Target<float>& target() {
    return shared_ ? static_cast<inference::Target<float>&>(*shared_) : *posterior_;
  }
  void refresh() { networks_.refresh(particles_); }

  ValueNetworkOptions options_;
  std::unique_ptr<inference::Posterior<float>> posterior_;
  std::optional<inference::SharedTarget<float>> shared_;  ///< with other ranks
  inference::Particles<float> particles_;
  inference::Optimizer<float> optimizer_;
  inference::HostNetworks networks_;
  ValueObjective objective_;
  std::vector<policies::RunningMoments> moments_;  ///< [M] of the targets; empty where they are learned as they are
  std::vector<float> scaled_targets_;
};

/// The baseline of one particle for all of them.
class SharedBaseline final : public Baseline {
 public:
  explicit SharedBaseline(std::unique_ptr<Baseline> one) : one_(std::move(one)) {}

  void predict(std::int64_t, MatrixView<const float> observations, std::span<const float> times,
               std::span<float> values) override {
    one_->predict(0, observations, times, values);
  }
  std::optional<ValuedBy> networks() const override { return one_->networks(); }
  void observe(const ValueRows& rows) override { one_->observe(together(rows)); }
  void learn(const ValueRows& rows) override { one_->learn(together(rows)); }
  void refit(const ValueRows& rows) override { one_->refit(together(rows)); }
  void share_with(inference::PartExchange& exchange) override { one_->share_with(exchange); }
  void scale_step_size(double factor) override { one_->scale_step_size(factor); }
  void save(Snapshot& snapshot) const override { one_->save(snapshot); }
  void restore(const Snapshot& snapshot) override { one_->restore(snapshot); }

 private:
  /// The rows of all particles as those of one, in which each particle counts alike.
  ValueRows together(const ValueRows& rows) {
    scale_.assign(rows.scale.begin(), rows.scale.end());
    for (float& scale : scale_) scale /= static_cast<float>(rows.particles);
    ValueRows all = rows;
    all.particles = 1;
    all.rows = rows.particles * rows.rows;
    all.scale = scale_;
    return all;
  }

  std::unique_ptr<Baseline> one_;
  std::vector<float> scale_;
};

}  // namespace

std::unique_ptr<Baseline> make_baseline(BaselineKind kind, const ValueNetworkOptions& options, std::int64_t particles,
                                        std::int64_t observation_size, std::uint64_t seed, bool shared,
                                        inference::Device device) {
  if (shared)
    return std::make_unique<SharedBaseline>(make_baseline(kind, options, 1, observation_size, seed, false, device));
  switch (kind) {
    case BaselineKind::none: return std::make_unique<NoBaseline>();
    case BaselineKind::linear: return std::make_unique<LinearBaseline>(particles, observation_size);
    case BaselineKind::network: break;
  }
  return std::make_unique<ValueNetwork>(options, particles, observation_size, seed, device);
}

}  // namespace stein::agents
