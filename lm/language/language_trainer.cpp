#include <stein/core/error.h>
#include <stein/lm/language/language_trainer.h>

#include <utility>

namespace stein::lm {
namespace {

TokenBatches training_batches(const Corpus& corpus, const LanguageTrainingOptions& options) {
  return {corpus.train, options.epochs.batch_size, options.unroll, "training"};
}

std::shared_ptr<TextScorer> scorer_of(const Stretches& text, const LanguageTrainingOptions& options,
                                      const std::string& what) {
  return std::make_shared<TextScorer>(text, options.protocol, options.epochs.batch_size, options.unroll, what);
}

HeldText held_text(std::shared_ptr<TextScorer> scorer) {
  const std::int64_t tokens = scorer->tokens();
  std::string protocol = scorer->protocol();
  return {tokens, std::move(protocol),
          [scorer = std::move(scorer)](auto& model, const auto& weights, auto log_probability) {
            scorer->score(model, weights, std::nullopt, log_probability);
          }};
}

training::EpochTrainer::Epoch epoch_of(const TokenBatches& batches) {
  return {.minibatches = batches.count(), .data = batches.tokens(), .sequence = static_cast<double>(batches.steps())};
}

}  // namespace

LanguageTrainer::LanguageTrainer(const Corpus& corpus, const LanguageTrainingOptions& options,
                                 const training::WeightMethodOptions& method,
                                 std::unique_ptr<inference::Model<float>> model, std::uint64_t seed)
    : LanguageTrainer(corpus, options, method, std::move(model), seed, scorer_of(corpus.test, options, "test")) {}

LanguageTrainer::LanguageTrainer(const Corpus& corpus, const LanguageTrainingOptions& options,
                                 const training::WeightMethodOptions& method,
                                 std::unique_ptr<inference::Model<float>> model, std::uint64_t seed,
                                 const std::shared_ptr<TextScorer>& test)
    : TextTrainer(options.epochs, method, std::move(model), epoch_of(training_batches(corpus, options)), seed,
                  held_text(scorer_of(corpus.validation, options, "validation")), held_text(test)),
      corpus_(corpus),
      language_(options),
      batches_(training_batches(corpus, options)),
      test_scorer_(test) {}

Snapshot LanguageTrainer::meaning() const {
  Snapshot meaning;
  meaning.put_saved("vocabulary", corpus_.vocabulary);
  return meaning;
}

inference::Batch<float> LanguageTrainer::minibatch(std::int64_t, std::int64_t c) {
  batches_.fill(c, batch_);
  inference::Batch<float> batch = batch_.batch(static_cast<double>(batches_.tokens()));
  if (language_.state == LanguageTrainingOptions::State::zero) return batch;
  const inference::Model<float>& model = weights().posterior().model();
  if (!state_) state_.emplace(weights().weight_rows(), model.carried_size(batch.inputs), model.device());
  if (batch_.fresh) state_->reset();
  batch.inputs.carried = state_->rows();
  return batch;
}

void LanguageTrainer::stepped(const inference::StepReport& report) {
  if (report.went_back && state_) state_->reset();  // what was kept is of another place in the text
}

double LanguageTrainer::test_loss_of(const MarkovSource& truth) const {
  double sum = 0;
  test_scorer_->for_each([&](std::int32_t before, std::int32_t token) { sum -= truth.log_probability(before, token); });
  return sum / static_cast<double>(test_scorer_->tokens());
}

void LanguageTrainer::save_stream(Snapshot& snapshot) const {
  if (state_) snapshot.put_saved("state", *state_);
  TextTrainer::save_stream(snapshot);
}

void LanguageTrainer::restore_stream(const Snapshot& snapshot) {
  if (snapshot.contains("state/carried")) {
    const std::int64_t rows = weights().weight_rows();
    state_.emplace(rows, static_cast<std::int64_t>(snapshot.size_of("state/carried")) / rows,
                   weights().particles().device());
    state_->restore(snapshot.part("state"));
  }
  TextTrainer::restore_stream(snapshot);
}

}  // namespace stein::lm
