#include <stein/agents/control/baseline.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

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
    for (std::size_t particle = 0; particle < coefficients_.size(); ++particle) {
      const std::int64_t size = 2 * observation_size_ + 4;
      Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(size, size) * 1e-5;
      Eigen::VectorXd moment = Eigen::VectorXd::Zero(size), features(size);
      for (std::int64_t i = 0; i < rows.rows; ++i) {
        const std::int64_t row = static_cast<std::int64_t>(particle) * rows.rows + i;
        const auto at = static_cast<std::size_t>(row);
        if (rows.scale[at] == 0) continue;
        write_features(rows.observations.row(row), rows.times[at], features);
        gram.selfadjointView<Eigen::Lower>().rankUpdate(features);
        moment += features * double{rows.targets[at]};
      }
      coefficients_[particle] = gram.selfadjointView<Eigen::Lower>().ldlt().solve(moment);
    }
  }

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
};

/// M perceptrons under no prior, moved by Adam.
class ValueNetwork final : public Baseline {
 public:
  ValueNetwork(const ValueNetworkOptions& options, std::int64_t particles, std::int64_t observation_size,
               std::uint64_t seed)
      : options_(checked(options)),
        posterior_(inference::make_network_posterior({.flat_prior = true, .arithmetic = options.arithmetic},
                                                     {.inputs = observation_size,
                                                      .hidden = options.hidden,
                                                      .outputs = 1,
                                                      .activation = inference::Activation::tanh})),
        particles_(posterior_->initial_particles(particles, seed, 1)),
        optimizer_({.step = {.step_size = options.step_size}, .clip = {.clip_norm = options.largest_gradient}},
                   particles_.ensemble(seed, options.arithmetic)),
        weights_(particles, posterior_->weight_layout().size()) {
    refresh();
  }

  void predict(std::int64_t particle, MatrixView<const float> observations, std::span<const float>,
               std::span<float> values) override {
    posterior_->model().predict({weights_.view().block(particle, 1), particle}, {.dense = observations},
                                {values.data(), observations.rows, 1});
  }

  void learn(const ValueRows& rows) override {
    objective_.set_rows({.rows = rows.rows, .targets = rows.targets, .scale = rows.scale});
    const inference::Batch<float> batch{.inputs = {.dense = rows.observations},
                                        .inputs_per_particle = true,
                                        .rows = rows.rows,
                                        .data_size = static_cast<double>(rows.rows),
                                        .score = &objective_};
    for (std::int64_t update = 0; update < options_.updates; ++update) optimizer_.step(particles_, *posterior_, batch);
    refresh();
  }

  void save(Snapshot& snapshot) const override {
    snapshot.put_saved("particles", particles_);
    snapshot.put_saved("optimizer", optimizer_);
  }
  void restore(const Snapshot& snapshot) override {
    particles_.restore(snapshot.part("particles"));
    optimizer_.restore(snapshot.part("optimizer"));
    refresh();
  }

 private:
  void refresh() { posterior_->effective_weights(particles_.coordinates(), {}, weights_.view()); }

  ValueNetworkOptions options_;
  std::unique_ptr<inference::Posterior<float>> posterior_;
  inference::Particles<float> particles_;
  inference::Optimizer<float> optimizer_;
  inference::Matrix<float> weights_;
  ValueObjective objective_;
};

}  // namespace

std::unique_ptr<Baseline> make_baseline(BaselineKind kind, const ValueNetworkOptions& options, std::int64_t particles,
                                        std::int64_t observation_size, std::uint64_t seed) {
  switch (kind) {
    case BaselineKind::none: return std::make_unique<NoBaseline>();
    case BaselineKind::linear: return std::make_unique<LinearBaseline>(particles, observation_size);
    case BaselineKind::network: break;
  }
  return std::make_unique<ValueNetwork>(options, particles, observation_size, seed);
}

}  // namespace stein::agents
