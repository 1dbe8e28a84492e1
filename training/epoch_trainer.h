// The loop of all trainers: epochs of minibatches, and what becomes of a chain's samples.
#pragma once

#include <stein/inference/models/chunked_model.h>
#include <stein/inference/prediction/collector.h>
#include <stein/inference/prediction/sample_reservoir.h>
#include <stein/runs/validated_repetition.h>
#include <stein/training/epoch_options.h>
#include <stein/training/starting_weights.h>
#include <stein/training/weight_sampler.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace stein::training {

/// Trains one network with one seed. One step of the repetition is one datum (a token, a sentence, an image), or a part
/// of one where a derived class counts so.
///
/// A derived class makes the minibatches and says what a sample is good for: a chain's samples are shown to it as they
/// come, after the burn-in and so many an epoch, and some are stored in files. The step size falls epoch by epoch.
/// Where the sampler goes back, samples of the lost steps are dropped. On a device the next update is asked for before
/// the last has been made, but where weights or losses are looked at: samples, records, ends of epochs and of `learn`.
///
/// Ranks, each with its own device, share the gradient of a step where it has several rows of weights (particles,
/// draws) or chunks, and chains of trajectories; what is evaluated besides, each of them evaluates alone.
class EpochTrainer : public runs::ValidatedRepetition {
 public:
  /// What one time through the data is.
  struct Epoch {
    std::int64_t minibatches;
    std::int64_t data;       ///< N
    double sequence = 1;     ///< data of one sequence of a minibatch, for rates that are told so
    std::int64_t steps = 0;  ///< of the repetition; 0: as many as data
  };
  /// Throws Error(usage) naming the option that is out of range.
  EpochTrainer(const EpochOptions& options, const WeightMethodOptions& method,
               std::unique_ptr<inference::Model<float>> model, const Epoch& epoch, std::uint64_t seed);

  std::uint64_t seed() const final { return seed_; }
  std::int64_t steps_done() const final { return seen_; }
  double share_done() const final;
  std::optional<std::string> warning() const final;
  bool share_with(distributed::Communicator& ranks) final;
  void bring_together() final { weights_.bring_together(); }

  const Epoch& epoch() const { return epoch_; }
  WeightSampler& weights() { return weights_; }
  const WeightSampler& weights() const { return weights_; }
  /// KL(q ‖ p)/N of a variational method [nats a datum]: what the loss of a minibatch has besides −log p, KL/(C·B) per
  /// minibatch (Fortunato et al. 2017, eq. 5). It is recorded behind every epoch under "divergence".
  double divergence();
  /// Seconds that updates took in this process.
  double training_seconds() const { return training_seconds_; }

  /// The training begins with these weights, where it does begin: they are asked for by `begin`.
  void begin_with(std::function<StartingWeights()> weights) { start_ = std::move(weights); }
  /// To be called before the first step, or once the state of an earlier process is restored: takes the weights that
  /// `begin_with` promised, unless it or that state has them. The first step calls it where nobody has. Throws as
  /// training::begin_with.
  void begin();

  /// Stores the weights of some samples in `folder`, which is the trainer's own, from here on; after `restore` those of
  /// before are there. Throws Error(io), or Error(data) where a stored sample is missing.
  void store_samples_in(const std::filesystem::path& folder);
  /// Where they are; empty before `store_samples_in`.
  const std::filesystem::path& sample_folder() const { return sample_folder_; }
  /// How many samples all chains give together, and at how many steps they are stored; 0 of other methods.
  std::int64_t planned_samples() const {
    return collector_ ? std::ssize(collector_->plan()) * weights_.particles().rows() : 0;
  }
  std::int64_t planned_to_store() const { return store_collector_ ? std::ssize(store_collector_->plan()) : 0; }
  /// How many files of them there are at this point of the run.
  std::int64_t stored_samples() const;

  /// What a checkpoint has of a repetition for predictions, which need no trainer.
  struct Saved {
    Snapshot weights;              ///< as NetworkWeights::save_weights wrote them
    std::optional<Snapshot> best;  ///< those with the best validation score
    Snapshot meaning;              ///< of inputs and outputs
    DataFacts facts;
    std::int64_t stored_samples = 0;
  };
  /// Of what `save` wrote. Throws Error(data) where a part is missing.
  static Saved saved_in(const Snapshot& snapshot);

  /// Whether there are weights with the best validation score.
  bool has_best() const { return validation() != nullptr && validation()->best(); }

 protected:
  const EpochOptions& options() const { return options_; }
  /// Calls `look` while the weights are those with the best validation score; not at all where there is no such score.
  void with_best(const std::function<void()>& look);

 private:
  /// @param model  owned by the weights from here on
  EpochTrainer(const EpochOptions& options, const WeightMethodOptions& method, inference::ChunkedModel<float>* model,
               const Epoch& epoch, std::uint64_t seed);

  /// What the network's inputs and outputs mean, which predictions for new data need to know: a vocabulary, names of
  /// classes.
  virtual Snapshot meaning() const = 0;
  /// Before the first step, once the weights are those that `begin_with` was given.
  virtual void began() {}
  /// Steps of the repetition that a minibatch is.
  virtual std::int64_t steps_of(const inference::Batch<float>& batch) const {
    return static_cast<std::int64_t>(batch.count());
  }
  /// Makes minibatch c of an epoch; what it points to is valid until the next one.
  virtual inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) = 0;
  /// After every step. Where the sampler went back, data that follow one another begin anew.
  virtual void stepped(const inference::StepReport& report) { static_cast<void>(report); }
  /// The weights as they are now are samples, one of every chain.
  virtual void take_sample() = 0;
  /// The last samples, of all chains so many, were of steps that were taken back.
  virtual void drop_samples(std::int64_t count) = 0;
  /// After the last step of an epoch.
  virtual void end_epoch(runs::Records& records) { static_cast<void>(records); }
  /// Samples, and what a minibatch needs of those before it.
  virtual void save_stream(Snapshot& snapshot) const = 0;
  virtual void restore_stream(const Snapshot& snapshot) = 0;

  void learn(std::int64_t until, const StopToken& stop, runs::Records& records) final;
  bool out_of_data() const final { return minibatches_ >= last_minibatch(); }
  void save_model(Snapshot& snapshot) const final { weights_.save_weights(snapshot); }
  void restore_model(const Snapshot& snapshot) final { weights_.restore_weights(snapshot); }
  void save_training(Snapshot& snapshot) const final;
  void restore_training(const Snapshot& snapshot) final;

  std::int64_t last_minibatch() const { return options_.epochs * epoch_.minibatches; }
  void take_minibatch(runs::Records& records);
  /// Whether the next minibatch is one behind which weights or losses are looked at, so that its update is waited for.
  bool looks_behind_next() const;
  /// Waits for the last update.
  void settle();
  /// Adds what is open to the sum of losses: the log-likelihood of that update per datum.
  void add_loss(double log_likelihood);
  /// What the step means for the chain's samples.
  void collect(const inference::StepReport& report);

  EpochOptions options_;
  Epoch epoch_;
  std::uint64_t seed_;
  inference::ChunkedModel<float>& model_;
  std::unique_ptr<inference::PartExchange> exchange_ = std::make_unique<inference::PartExchange>();
  WeightSampler weights_;
  std::function<StartingWeights()> start_;
  bool begun_ = false;  ///< with these weights
  std::optional<inference::Collector> collector_;
  std::optional<inference::Collector> store_collector_;  ///< which of the samples are stored
  std::optional<inference::SampleReservoir<float>> stored_;
  std::filesystem::path sample_folder_;
  Snapshot saved_stored_;     ///< what a checkpoint said of them, until their folder is known
  std::int64_t burn_in_ = 0;  ///< minibatches of a chain before its first sample may come
  std::int64_t minibatches_ = 0, seen_ = 0;
  /// Of the last update, as long as it may yet be lost: what its log-likelihood counts in the sum of losses.
  std::optional<double> open_loss_;
  inference::Batch<float> last_batch_;  ///< what it points to is there until the next one is made
  double loss_sum_ = 0;                 ///< per step, of the minibatches since the last record
  std::int64_t loss_count_ = 0;
  double training_seconds_ = 0;
};

}  // namespace stein::training
