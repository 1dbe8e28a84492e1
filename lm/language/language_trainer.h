// Training of a language model on a text, with one seed.
#pragma once

#include <stein/inference/storage/carried_state.h>
#include <stein/lm/evaluation/held_text.h>
#include <stein/lm/evaluation/text_scorer.h>
#include <stein/lm/language/language_training.h>
#include <stein/lm/text/corpus.h>
#include <stein/lm/text/token_batches.h>
#include <stein/training/epoch_trainer.h>

#include <memory>
#include <optional>

namespace stein::lm {

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
  inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) override;
  void stepped(const inference::StepReport& report) override;
  void take_sample() override;
  void drop_samples(std::int64_t count) override;
  double validate() override { return validation_.loss_of_weights(weights()); }
  void save_stream(Snapshot& snapshot) const override;
  void restore_stream(const Snapshot& snapshot) override;

  TextLosses losses(HeldText& held);

  LanguageTrainingOptions language_;
  TokenBatches batches_;
  TextScorer validation_scorer_, test_scorer_;
  HeldText validation_, test_;
  TokenBatch batch_;
  std::optional<inference::CarriedState<float>> state_;
};

}  // namespace stein::lm
