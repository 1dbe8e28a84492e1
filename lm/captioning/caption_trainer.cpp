#include <stein/lm/captioning/caption_trainer.h>

#include <utility>

namespace stein::lm {
namespace {

training::EpochTrainer::Epoch epoch_of(const CaptionCorpus& corpus, const CaptionTrainingOptions& options) {
  const training::EpochOrder order(std::ssize(corpus.train), options.epochs.batch_size, 0);
  return {.minibatches = order.minibatches(), .data = std::ssize(corpus.train), .steps = token_count(corpus.train)};
}

HeldText held_text(const std::vector<CaptionSequence>& captions, const CaptionCorpus& corpus) {
  auto scorer = std::make_shared<CaptionScorer>(captions, corpus.data.features.view());
  return {scorer->tokens(), "each word from the image and the words before",
          [scorer](auto& model, const auto& weights, auto log_probability) {
            scorer->score(model, weights, log_probability);
          }};
}

}  // namespace

CaptionTrainer::CaptionTrainer(const CaptionCorpus& corpus, const CaptionTrainingOptions& options,
                               const training::WeightMethodOptions& method, const inference::RecurrentSpec& spec,
                               std::unique_ptr<inference::Model<float>> model, std::uint64_t seed)
    : TextTrainer(options.epochs, method, std::move(model), epoch_of(corpus, options), seed,
                  held_text(corpus.validation, corpus), held_text(corpus.test, corpus)),
      corpus_(corpus),
      spec_(spec),
      order_(std::ssize(corpus.train), options.epochs.batch_size, seed) {}

Snapshot CaptionTrainer::meaning() const {
  Snapshot meaning;
  meaning.put_saved("vocabulary", corpus_.vocabulary);
  meaning.put("features", corpus_.data.features.columns());
  return meaning;
}

inference::Batch<float> CaptionTrainer::minibatch(std::int64_t epoch, std::int64_t c) {
  batch_.fill(corpus_.train, order_.minibatch(epoch, c), corpus_.data.features.view());
  return batch_.batch(static_cast<double>(corpus_.train.size()));
}

training::WeightDraws CaptionTrainer::draws() {
  return {weights(), {.draws = options().draws, .seed = seed()}, sample_folder(), stored_samples()};
}

training::WeightDraws CaptionTrainer::final_weights() {
  return {weights(), {.mean = true, .seed = seed()}, {}, 0};
}

}  // namespace stein::lm
