// Training of a captioning model on captioned images, with one seed.
#pragma once

#include <stein/lm/captioning/caption_batch.h>
#include <stein/lm/captioning/caption_corpus.h>
#include <stein/lm/captioning/caption_options.h>
#include <stein/lm/captioning/caption_scorer.h>
#include <stein/lm/evaluation/text_trainer.h>
#include <stein/training/epoch_order.h>
#include <stein/training/weight_draws.h>

#include <memory>

namespace stein::lm {

/// Goes through the captions of the training part in minibatches, in another order every epoch. A datum is a caption,
/// given its image; a step of the repetition is a token that is predicted. Each minibatch sees one sample of the
/// weights, held over all of its tokens.
class CaptionTrainer final : public TextTrainer {
 public:
  /// @param corpus  outlives it
  /// @param spec    of the model
  CaptionTrainer(const CaptionCorpus& corpus, const CaptionTrainingOptions& options,
                 const training::WeightMethodOptions& method, const inference::RecurrentSpec& spec,
                 std::unique_ptr<inference::Model<float>> model, std::uint64_t seed);

  const inference::RecurrentSpec& spec() const { return spec_; }
  /// The weights that captions are averaged over: of a chain those that are stored.
  training::WeightDraws draws();
  /// The weights of the end: the mean of a variational method.
  training::WeightDraws final_weights();
  using EpochTrainer::with_best;

 private:
  Snapshot meaning() const override;
  inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) override;
  std::int64_t steps_of(const inference::Batch<float>&) const override { return batch_.size; }

  const CaptionCorpus& corpus_;
  inference::RecurrentSpec spec_;
  training::EpochOrder order_;
  CaptionBatch batch_;
};

}  // namespace stein::lm
