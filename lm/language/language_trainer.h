// Training of a language model on a text, with one seed.
#pragma once

#include <stein/inference/storage/carried_state.h>
#include <stein/lm/evaluation/text_scorer.h>
#include <stein/lm/evaluation/text_trainer.h>
#include <stein/lm/language/language_training.h>
#include <stein/lm/text/corpus.h>
#include <stein/lm/text/token_batches.h>

#include <memory>
#include <optional>

namespace stein::lm {

/// Goes through the training part in minibatches that follow one another; one step is one token of it. State is carried
/// from minibatch to minibatch, and is zero where a row of text begins; each minibatch sees one sample of the weights,
/// held over all of its tokens.
class LanguageTrainer final : public TextTrainer {
 public:
  /// @param corpus  outlives it
  LanguageTrainer(const Corpus& corpus, const LanguageTrainingOptions& options,
                  const training::WeightMethodOptions& method, std::unique_ptr<inference::Model<float>> model,
                  std::uint64_t seed);

  /// What `truth` loses on the tokens of the test that are scored.
  double test_loss_of(const MarkovSource& truth) const;

 private:
  LanguageTrainer(const Corpus& corpus, const LanguageTrainingOptions& options,
                  const training::WeightMethodOptions& method, std::unique_ptr<inference::Model<float>> model,
                  std::uint64_t seed, const std::shared_ptr<TextScorer>& test);

  Snapshot meaning() const override;
  inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) override;
  void stepped(const inference::StepReport& report) override;
  void save_stream(Snapshot& snapshot) const override;
  void restore_stream(const Snapshot& snapshot) override;

  const Corpus& corpus_;
  LanguageTrainingOptions language_;
  TokenBatches batches_;
  std::shared_ptr<TextScorer> test_scorer_;
  TokenBatch batch_;
  std::optional<inference::CarriedState<float>> state_;
};

}  // namespace stein::lm
