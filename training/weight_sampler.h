// The weights of a network on their way through a posterior: what every trainer moves.
#pragma once

#include <stein/inference/diagnostics/configurational_temperature.h>
#include <stein/inference/models/watched_model.h>
#include <stein/inference/samplers/gradient_sampler.h>
#include <stein/inference/samplers/hamiltonian_sampler.h>
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/training/network_weights.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::training {

/// Weights with a sampler that has a way back, and a temperature meter, put together from the options of one method.
/// What the sampler keeps for the particles lies where they do.
///
/// A chain's meter reads its temperature (ConfigurationalTemperature) on every `temperature_every`-th step that does
/// not explore; what it read is forgotten where the chain goes back, and where its owner says so.
class WeightSampler final : public NetworkWeights {
 public:
  /// @param rollback  how often a state to go back to is kept
  /// @throws Error(usage) naming the option that is out of range or does not go with another
  WeightSampler(const WeightMethodOptions& options, std::unique_ptr<inference::Model<float>> model,
                const DataFacts& data, std::uint64_t seed, const inference::RollbackOptions& rollback = {});

  /// One update of all particles. After a step that went back the report's `taken` is false; the batch's owner goes on
  /// with another, its carried state as it was kept. Throws Error(numeric) naming what diverged.
  /// Where the host of a device runs ahead of it, what diverged is told with the next update (RollbackSampler).
  inference::StepReport step(const inference::Batch<float>& batch);
  /// Waits for the update of this batch, which gave this report: where it diverged after all it was not taken.
  inference::StepReport settled(inference::StepReport report, const inference::Batch<float>& batch);
  /// Waits for the last update, of this batch: before weights are used or saved. What became of the chain since then;
  /// `taken` is false. Throws as `step`.
  inference::StepReport settle(const inference::Batch<float>& batch);
  /// From now on `step` is a collective call of `ranks`, which have to outlive the weights: each moves some of several
  /// chains of trajectories. @returns false, with nothing changed, where there are none
  bool share_chains(distributed::Communicator& ranks);
  /// As Sampler::share_moves and bring_together, where ranks share gradients.
  void share_moves(distributed::Communicator& ranks) { sampler_->share_moves(ranks); }
  void bring_together() { sampler_->bring_together(); }
  /// Rows of weights that a step evaluates at a time: trajectories go chain by chain.
  std::int64_t rows_at_a_time() const { return trajectories_ != nullptr ? 1 : weight_rows(); }
  /// Multiplies the step size from now on.
  void scale_step_size(double factor) { sampler_->scale_step_size(factor); }
  /// Whether step t gives no sample: it looks for a mode, or tunes.
  bool exploring(std::int64_t t) const { return sampler_->exploring(t); }

  /// log p of the last minibatch of an update that was taken, per datum, at the weights before it; of a trajectory at
  /// its last point. It waits for the update where that of the one before does not.
  double last_log_likelihood() const { return last_.per_datum(); }
  double log_likelihood_before() const { return before_.per_datum(); }

  /// T that a chain was asked for at its last step, or is at its first, with noise or without; 1 for other methods.
  double temperature() const { return temperature_; }
  /// Whether all gradients are scaled to one length: then T is that of the noise alone.
  bool scales_all_gradients() const { return method().scales_all_gradients(); }
  /// Empty where there is no meter, or it has read nothing.
  std::vector<inference::LayerTemperature::Reading> temperatures() const;
  /// Readings begin anew: the steps so far were burn-in.
  void forget_temperatures();
  /// Sentences about rollbacks, layers that are far from the temperature, and trajectories that diverged or were
  /// refused; empty where all is well.
  std::vector<std::string> warnings() const;

  /// What later steps depend on besides the weights.
  void save_progress(Snapshot& snapshot) const;
  void restore_progress(const Snapshot& snapshot);

 private:
  struct Likelihood {
    inference::SeenLogLikelihood all;
    double count = 1;  ///< data
    double per_datum() const { return all.value() / count; }
  };
  /// @param watched  owned by the posterior
  WeightSampler(const WeightMethodOptions& options, inference::WatchedModel<float>* watched, const DataFacts& data,
                std::uint64_t seed, const inference::RollbackOptions& rollback);

  inference::WatchedModel<float>& watched_;
  std::unique_ptr<inference::RollbackSampler<float>> sampler_;
  inference::HamiltonianSampler<float>* trajectories_ = nullptr;  ///< of HMC and NUTS, owned by `sampler_`
  std::optional<inference::ConfigurationalTemperature> meter_;
  const inference::GradientSampler<float>* chain_ = nullptr;  ///< whose temperature is asked for, owned by `sampler_`
  std::int64_t steps_ = 0;
  double temperature_ = 1;
  Likelihood last_, before_;
};

}  // namespace stein::training
