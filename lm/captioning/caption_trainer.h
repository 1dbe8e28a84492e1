// Training of a captioning model on captioned images, with one seed.
#pragma once

#include <stein/lm/captioning/caption_batch.h>
#include <stein/lm/captioning/caption_corpus.h>
#include <stein/lm/captioning/caption_decoder.h>
#include <stein/lm/captioning/caption_options.h>
#include <stein/lm/captioning/caption_scorer.h>
#include <stein/lm/captioning/caption_worth.h>
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
  const CaptionDecodingOptions& decoding() const { return decoding_; }
  CaptionDecoder decoder();
  /// The weights that captions are averaged over: of a chain those that are stored.
  training::WeightDraws draws();

  // To be asked after the last step, as losses are.

  CaptionWorth validation_worth(const Watch& watch = {});
  CaptionWorth test_worth(const Watch& watch = {});
  /// How often the images of a part are described for that: so often it tells the watch.
  std::int64_t rounds();
  /// Finds losses and captions of both parts.
  void conclude(const StopToken& stop) override;
  void forget_draws() override;

 private:
  /// Of both parts.
  using Described = training::HeldOutParts<CaptionWorth>;
  Snapshot meaning() const override;
  inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) override;
  std::int64_t steps_of(const inference::Batch<float>&) const override { return batch_.size; }
  void save_stream(Snapshot& snapshot) const override;
  void restore_stream(const Snapshot& snapshot) override;

  /// @param part  of what was found before
  CaptionWorth worth(const std::vector<CaptionedImage>& images, CaptionWorth Described::*part, const Watch& watch);
  /// Under the weights of the end: the mean of a variational method.
  CaptionQuality quality_of_end(const std::vector<CaptionedImage>& images);
  CaptionQuality quality_under(inference::MatrixView<const float> weights, const std::vector<CaptionedImage>& images);
  CaptionQuality quality_of(const Captions& captions, const std::vector<CaptionedImage>& images);

  const CaptionCorpus& corpus_;
  inference::RecurrentSpec spec_;
  CaptionDecodingOptions decoding_;
  training::EpochOrder order_;
  CaptionBatch batch_;
  training::Conclusion<Described> described_;
};

}  // namespace stein::lm
