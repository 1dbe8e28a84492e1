#include <stein/lm/captioning/caption_trainer.h>

#include <utility>

namespace stein::lm {
namespace {

training::EpochTrainer::Epoch epoch_of(const CaptionCorpus& corpus, const CaptionTrainingOptions& options) {
  const training::EpochOrder order(std::ssize(corpus.train), options.epochs.batch_size, 0);
  return {.minibatches = order.minibatches(), .data = std::ssize(corpus.train), .steps = token_count(corpus.train)};
}

HeldText held_text(CaptionScorer& scorer) {
  return {scorer.tokens(), "each word from the image and the words before",
          [&scorer](auto& model, const auto& weights, auto log_probability) {
            scorer.score(model, weights, log_probability);
          }};
}

}  // namespace

CaptionTrainer::CaptionTrainer(const CaptionCorpus& corpus, const CaptionTrainingOptions& options,
                               const training::WeightMethodOptions& method, const inference::RecurrentSpec& spec,
                               std::unique_ptr<inference::Model<float>> model, std::uint64_t seed)
    : EpochTrainer(options.epochs, method, std::move(model), epoch_of(corpus, options), seed),
      corpus_(corpus),
      spec_(spec),
      order_(std::ssize(corpus.train), options.epochs.batch_size, seed),
      validation_scorer_(corpus.validation, corpus.data.features.view()),
      test_scorer_(corpus.test, corpus.data.features.view()),
      validation_(held_text(validation_scorer_)),
      test_(held_text(test_scorer_)) {}

inference::Batch<float> CaptionTrainer::minibatch(std::int64_t epoch, std::int64_t c) {
  batch_.fill(corpus_.train, order_.minibatch(epoch, c), corpus_.data.features.view());
  return batch_.batch(static_cast<double>(corpus_.train.size()));
}

void CaptionTrainer::take_sample() {
  for (HeldText* held : {&validation_, &test_}) held->take_sample(weights());
}

void CaptionTrainer::drop_samples(std::int64_t count) {
  for (HeldText* held : {&validation_, &test_}) held->drop_samples(count);
}

TextLosses CaptionTrainer::losses(HeldText& held) {
  TextLosses found = held.losses(weights(), options().draws, seed());
  with_best([&] { found.chosen = held.loss_of_weights(weights()); });
  return found;
}

training::WeightDraws CaptionTrainer::draws() {
  return {weights(), {.draws = options().draws, .seed = seed()}, sample_folder(), stored_samples()};
}

training::WeightDraws CaptionTrainer::final_weights() {
  return {weights(), {.mean = true, .seed = seed()}, {}, 0};
}

void CaptionTrainer::save_stream(Snapshot& snapshot) const {
  snapshot.put_saved("validation_samples", validation_);
  snapshot.put_saved("test_samples", test_);
}

void CaptionTrainer::restore_stream(const Snapshot& snapshot) {
  validation_.restore(snapshot.part("validation_samples"));
  test_.restore(snapshot.part("test_samples"));
}

}  // namespace stein::lm
