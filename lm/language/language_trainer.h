// Training of a language model on a text, with one seed.
#pragma once

#include <stein/inference/storage/carried_state.h>
#include <stein/lm/evaluation/sampled_probabilities.h>
#include <stein/lm/evaluation/text_scorer.h>
#include <stein/lm/language/language_training.h>
#include <stein/lm/text/corpus.h>
#include <stein/lm/text/token_batches.h>
#include <stein/training/epoch_trainer.h>

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
class LanguageTrainer final : public training::EpochTrainer {
 public:
  /// @param corpus  outlives it
  LanguageTrainer(const Corpus& corpus, const LanguageTrainingOptions& options,
                  const training::WeightMethodOptions& method, std::unique_ptr<inference::Model<float>> model,
                  std::uint64_t seed);

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

  inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) override;
  void stepped(const inference::StepReport& report) override;
  void take_sample() override;
  void drop_samples(std::int64_t count) override;
  double validate() override { return loss_of_weights(validation_); }
  void save_stream(Snapshot& snapshot) const override;
  void restore_stream(const Snapshot& snapshot) override;

  TextLosses losses(Held& held);
  /// Mean −log p under the weights as they are: the mean of a variational method, the average of several particles.
  double loss_of_weights(Held& held);
  /// Averages log p over the rows of weights, as probabilities, into `log_probability_`.
  void score_rows(TextScorer& scorer, inference::MatrixView<const float> rows);

  LanguageTrainingOptions language_;
  TokenBatches batches_;
  Held validation_, test_;
  TokenBatch batch_;
  std::optional<inference::CarriedState<float>> state_;
  inference::Matrix<float> memory_;
  std::vector<float> log_probability_, row_probability_;
};

}  // namespace stein::lm
