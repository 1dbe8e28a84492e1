#include <stein/core/error.h>
#include <stein/lm/language/language_trainer.h>

namespace stein::lm {
namespace {

TokenBatches training_batches(const Corpus& corpus, const LanguageTrainingOptions& options) {
  return {corpus.train, options.epochs.batch_size, options.unroll, "training"};
}

HeldText held_text(TextScorer& scorer) {
  return {scorer.tokens(), scorer.protocol(), [&scorer](auto& model, const auto& weights, auto log_probability) {
            scorer.score(model, weights, std::nullopt, log_probability);
          }};
}

training::EpochTrainer::Epoch epoch_of(const TokenBatches& batches) {
  return {.minibatches = batches.count(), .data = batches.tokens(), .sequence = static_cast<double>(batches.steps())};
}

}  // namespace

LanguageTrainer::LanguageTrainer(const Corpus& corpus, const LanguageTrainingOptions& options,
                                 const training::WeightMethodOptions& method,
                                 std::unique_ptr<inference::Model<float>> model, std::uint64_t seed)
    : EpochTrainer(options.epochs, method, std::move(model), epoch_of(training_batches(corpus, options)), seed),
      language_(options),
      batches_(training_batches(corpus, options)),
      validation_scorer_(corpus.validation, options.protocol, options.epochs.batch_size, options.unroll, "validation"),
      test_scorer_(corpus.test, options.protocol, options.epochs.batch_size, options.unroll, "test"),
      validation_(held_text(validation_scorer_)),
      test_(held_text(test_scorer_)) {}

inference::Batch<float> LanguageTrainer::minibatch(std::int64_t, std::int64_t c) {
  batches_.fill(c, batch_);
  inference::Batch<float> batch = batch_.batch(static_cast<double>(batches_.tokens()));
  if (language_.state == LanguageTrainingOptions::State::zero) return batch;
  if (!state_) state_.emplace(weights().weight_rows(), weights().posterior().model().carried_size(batch.inputs));
  if (batch_.fresh) state_->reset();
  batch.inputs.carried = state_->rows();
  return batch;
}

void LanguageTrainer::stepped(const inference::StepReport& report) {
  if (report.went_back && state_) state_->reset();  // what was kept is of another place in the text
}

void LanguageTrainer::take_sample() {
  for (HeldText* held : {&validation_, &test_}) held->take_sample(weights());
}

void LanguageTrainer::drop_samples(std::int64_t count) {
  for (HeldText* held : {&validation_, &test_}) held->drop_samples(count);
}

TextLosses LanguageTrainer::validation_losses() {
  return losses(validation_);
}

TextLosses LanguageTrainer::test_losses() {
  return losses(test_);
}

double LanguageTrainer::test_loss_of(const MarkovSource& truth) const {
  double sum = 0;
  test_scorer_.for_each([&](std::int32_t before, std::int32_t token) { sum -= truth.log_probability(before, token); });
  return sum / static_cast<double>(test_scorer_.tokens());
}

TextLosses LanguageTrainer::losses(HeldText& held) {
  TextLosses found = held.losses(weights(), options().draws, seed());
  with_best([&] { found.chosen = held.loss_of_weights(weights()); });
  return found;
}

void LanguageTrainer::save_stream(Snapshot& snapshot) const {
  if (state_) snapshot.put_saved("state", *state_);
  snapshot.put_saved("validation_samples", validation_);
  snapshot.put_saved("test_samples", test_);
}

void LanguageTrainer::restore_stream(const Snapshot& snapshot) {
  if (snapshot.contains("state/carried")) {
    const std::int64_t rows = weights().weight_rows();
    state_.emplace(rows, static_cast<std::int64_t>(snapshot.size_of("state/carried")) / rows);
    state_->restore(snapshot.part("state"));
  }
  validation_.restore(snapshot.part("validation_samples"));
  test_.restore(snapshot.part("test_samples"));
}

}  // namespace stein::lm
