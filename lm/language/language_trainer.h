// Training of a language model on a text, with one seed.
#pragma once

#include <stein/inference/prediction/collector.h>
#include <stein/inference/prediction/sample_reservoir.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/inference/training/weight_sampler.h>
#include <stein/lm/evaluation/sampled_probabilities.h>
#include <stein/lm/evaluation/text_scorer.h>
#include <stein/lm/language/language_training.h>
#include <stein/lm/text/corpus.h>
#include <stein/lm/text/token_batches.h>
#include <stein/runs/validated_repetition.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::lm {

/// Mean −log p of a text's tokens [nats].
struct TextLosses {
  std::string protocol;
  std::int64_t tokens = 0;         ///< that were scored
  std::int64_t samples = 1;        ///< of which averages were taken
  double single = 0;               ///< one sample alone, averaged over the samples
  double averaged = 0;             ///< the average of the samples' probabilities
  double final_weights = 0;        ///< the weights where training ended; of a variational method the mean
  std::optional<double> chosen{};  ///< the weights with the best validation score
  std::vector<double> forward{}, backward{}, thinned{};  ///< averages over 1, 2, … samples, where there are several
};

/// Goes through the training part in minibatches that follow one another; one step is one token of it. State is carried
/// from minibatch to minibatch, and is zero where a row of text begins; each minibatch sees one sample of the weights,
/// held over all of its tokens.
///
/// A chain's samples are scored on validation and test as they come; of the other methods the weights at the end are.
class LanguageTrainer final : public runs::ValidatedRepetition {
 public:
  /// @param corpus  outlives it
  LanguageTrainer(const Corpus& corpus, const LanguageTrainingOptions& options,
                  const inference::WeightMethodOptions& method, std::unique_ptr<inference::Model<float>> model,
                  std::uint64_t seed);

  std::uint64_t seed() const override { return seed_; }
  std::int64_t steps_done() const override { return minibatches_ * batches_.rows() * batches_.steps(); }
  double share_done() const override;
  std::optional<std::string> warning() const override;

  /// C: minibatches of an epoch.
  std::int64_t minibatches_per_epoch() const { return batches_.count(); }
  double data_size() const { return static_cast<double>(batches_.tokens()); }
  inference::WeightSampler& weights() { return weights_; }
  const inference::WeightSampler& weights() const { return weights_; }

  /// Stores the weights of some samples in `folder`, which is the trainer's own, from here on; after `restore` those of
  /// before are there. Throws Error(io), or Error(data) where a stored sample is missing.
  void store_samples_in(const std::filesystem::path& folder);
  /// How many are stored at this point of the run.
  std::int64_t stored_samples() const;

  /// Of this process.
  double training_seconds() const { return training_seconds_; }

  /// Of the validation and the test part. To be asked after the last step; the trainer then holds the weights of the
  /// end.
  TextLosses validation_losses();
  TextLosses test_losses();
  /// What `truth` loses on the tokens of the test that are scored.
  double test_loss_of(const MarkovSource& truth) const;

 private:
  /// A part of the text that is scored, and what the samples say of it.
  struct Held {
    TextScorer scorer;
    SampledProbabilities samples;
  };

  void learn(std::int64_t until, const StopToken& stop, runs::Records& records) override;
  double validate() override;
  bool out_of_data() const override { return minibatches_ >= last_minibatch(); }
  void save_model(Snapshot& snapshot) const override { weights_.save_weights(snapshot); }
  void restore_model(const Snapshot& snapshot) override { weights_.restore_weights(snapshot); }
  void save_training(Snapshot& snapshot) const override;
  void restore_training(const Snapshot& snapshot) override;

  std::int64_t last_minibatch() const { return options_.epochs * batches_.count(); }
  void take_minibatch(runs::Records& records);
  /// What the step means for the chain's samples.
  void collect(const inference::StepReport& report);
  TextLosses losses(Held& held);
  /// Mean −log p under the weights as they are: the mean of a variational method, the average of several particles.
  double loss_of_weights(Held& held);
  /// Averages log p over the rows of weights, as probabilities, into `log_probability_`.
  void score_rows(TextScorer& scorer, inference::MatrixView<const float> rows);

  const LanguageTrainingOptions options_;
  std::uint64_t seed_;
  TokenBatches batches_;
  inference::WeightSampler weights_;
  Held validation_, test_;
  std::optional<inference::Collector> collector_;
  std::optional<inference::Collector> store_collector_;  ///< which of the samples are stored
  std::optional<inference::SampleReservoir<float>> stored_;
  Snapshot saved_stored_;  ///< what a checkpoint said of them, until their folder is known
  TokenBatch batch_;
  std::optional<inference::CarriedState<float>> state_;
  inference::Matrix<float> memory_;
  std::vector<float> log_probability_, row_probability_;
  std::int64_t minibatches_ = 0;
  double loss_sum_ = 0;  ///< of the minibatches since the last record
  std::int64_t loss_count_ = 0;
  double training_seconds_ = 0;
};

}  // namespace stein::lm
