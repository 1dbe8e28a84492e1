// The weights of a network on their way through a posterior: what every trainer moves.
#pragma once

#include <stein/inference/diagnostics/configurational_temperature.h>
#include <stein/inference/models/watched_model.h>
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/training/weight_method.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::training {

/// Posterior, particles, sampler with a way back and temperature meter of one method, put together from its options.
///
/// Particles, and what the sampler keeps for them, lie where the model wants its weights (Model::device).
///
/// A chain's meter reads its temperature (ConfigurationalTemperature) on every `temperature_every`-th step that does
/// not explore; what it read is forgotten where the chain goes back, and where its owner says so.
class WeightSampler {
 public:
  /// @param rollback  how often a state to go back to is kept
  /// @throws Error(usage) naming the option that is out of range or does not go with another
  WeightSampler(const WeightMethodOptions& options, std::unique_ptr<inference::Model<float>> model,
                const DataFacts& data, std::uint64_t seed, const inference::RollbackOptions& rollback = {});
  WeightSampler(const WeightSampler&) = delete;
  WeightSampler& operator=(const WeightSampler&) = delete;

  /// One update of all particles. After a step that went back the report's `taken` is false; the batch's owner goes on
  /// with another, its carried state as it was kept. Throws Error(numeric) naming what diverged.
  inference::StepReport step(const inference::Batch<float>& batch);
  /// Multiplies the step size from now on.
  void scale_step_size(double factor) { sampler_->scale_step_size(factor); }
  /// Whether step t gives no sample: it looks for a mode, or tunes.
  bool exploring(std::int64_t t) const { return sampler_->exploring(t); }

  MethodKind kind() const { return options_.kind; }
  /// Rows of weights that a step evaluates, and that carried state has a row for: M · S.
  std::int64_t weight_rows() const { return particles_.rows() * posterior_->weight_samples(); }
  /// P: weights of the network, and of what a method adds to them.
  std::int64_t weight_count() const { return posterior_->weight_layout().size(); }
  inference::Posterior<float>& posterior() { return *posterior_; }
  inference::Particles<float>& particles() { return particles_; }
  const inference::Particles<float>& particles() const { return particles_; }
  /// log p of the last minibatch per datum, at the weights before the step.
  double last_log_likelihood() const { return last_log_likelihood_; }

  /// Weights for predictions [M, P]: the particles' own, or of a variational method M = 1 draw.
  /// @param key     tells draws apart
  /// @param memory  where they go unless the particles are the weights themselves
  inference::MatrixView<const float> draw_weights(const NoiseKey& key, inference::Matrix<float>& memory);
  /// The same at the mean of a variational method's Gaussian.
  inference::MatrixView<const float> mean_weights(inference::Matrix<float>& memory);

  /// The weights as they are [M, P]: the mean of a variational method, of others the particles' own.
  inference::MatrixView<const float> weights_now(inference::Matrix<float>& memory) {
    return kind() == MethodKind::variational ? mean_weights(memory) : draw_weights({}, memory);
  }

  /// T that a chain was asked for, at its last step or before its first; 1 for other methods.
  double temperature() const { return temperature_; }
  /// Empty where there is no meter, or it has read nothing.
  std::vector<inference::LayerTemperature::Reading> temperatures() const;
  /// Readings begin anew: the steps so far were burn-in.
  void forget_temperatures();
  /// Sentences about rollbacks and layers that are far from the temperature; empty where all is well.
  std::vector<std::string> warnings() const;

  /// The weights and what belongs to them: all that predictions need.
  void save_weights(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore_weights(const Snapshot& snapshot);
  /// Everything else that later steps depend on.
  void save_progress(Snapshot& snapshot) const;
  void restore_progress(const Snapshot& snapshot);

 private:
  void widen_outer_weights();

  WeightMethodOptions options_;
  inference::WatchedModel<float>* watched_ = nullptr;  ///< inside of posterior_
  std::unique_ptr<inference::Posterior<float>> posterior_;
  inference::Particles<float> particles_;
  std::unique_ptr<inference::RollbackSampler<float>> sampler_;
  std::optional<inference::ConfigurationalTemperature> meter_;
  std::int64_t steps_ = 0;
  double temperature_ = 1, last_log_likelihood_ = 0;
};

}  // namespace stein::training
