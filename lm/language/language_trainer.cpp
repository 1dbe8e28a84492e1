#include <stein/core/error.h>
#include <stein/lm/language/language_trainer.h>
#include <stein/training/weight_draws.h>

namespace stein::lm {
namespace {

using inference::MatrixView;
using inference::Selection;
using training::MethodKind;

TokenBatches training_batches(const Corpus& corpus, const LanguageTrainingOptions& options) {
  return {corpus.train, options.epochs.batch_size, options.unroll, "training"};
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
      validation_{{corpus.validation, options.protocol, options.epochs.batch_size, options.unroll, "validation"},
                  SampledProbabilities(0)},
      test_{{corpus.test, options.protocol, options.epochs.batch_size, options.unroll, "test"},
            SampledProbabilities(0)} {
  for (Held* held : {&validation_, &test_}) held->samples = SampledProbabilities(held->scorer.tokens());
}

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
  for (Held* held : {&validation_, &test_}) {
    score_rows(held->scorer, weights().draw_weights({}, memory_));
    held->samples.add(log_probability_);
  }
}

void LanguageTrainer::drop_samples(std::int64_t count) {
  for (Held* held : {&validation_, &test_}) held->samples.drop_last(count);
}

void LanguageTrainer::score_rows(TextScorer& scorer, MatrixView<const float> rows) {
  const auto tokens = static_cast<std::size_t>(scorer.tokens());
  log_probability_.resize(tokens);
  inference::Model<float>& model = weights().posterior().model();
  if (rows.rows == 1) return scorer.score(model, {rows, 0}, std::nullopt, log_probability_);
  SampledProbabilities each(scorer.tokens());
  row_probability_.resize(tokens);
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    scorer.score(model, {rows.block(i, 1), i}, std::nullopt, row_probability_);
    each.add(row_probability_);
  }
  log_probability_ = each.averaged();
}

double LanguageTrainer::loss_of_weights(Held& held) {
  const bool variational = weights().kind() == MethodKind::variational;
  score_rows(held.scorer, variational ? weights().mean_weights(memory_) : weights().draw_weights({}, memory_));
  return mean_loss(log_probability_);
}

TextLosses LanguageTrainer::validation_losses() {
  return losses(validation_);
}

TextLosses LanguageTrainer::test_losses() {
  return losses(test_);
}

double LanguageTrainer::test_loss_of(const MarkovSource& truth) const {
  double sum = 0;
  test_.scorer.for_each([&](std::int32_t before, std::int32_t token) { sum -= truth.log_probability(before, token); });
  return sum / static_cast<double>(test_.scorer.tokens());
}

TextLosses LanguageTrainer::losses(Held& held) {
  TextLosses found{.protocol = held.scorer.protocol(), .tokens = held.scorer.tokens()};
  found.final_weights = loss_of_weights(held);
  SampledProbabilities samples = held.samples;
  if (weights().kind() == MethodKind::variational || weights().kind() == MethodKind::ensemble) {
    training::WeightDraws draws(weights(), {.draws = options().draws, .seed = seed()}, {}, 0);
    for (std::int64_t k = 0; k < draws.count(); ++k) {
      held.scorer.score(weights().posterior().model(), draws.get(k).weights, std::nullopt, log_probability_);
      samples.add(log_probability_);
    }
  }
  if (samples.samples() == 0) {
    found.single = found.averaged = found.final_weights;
  } else {
    found.samples = samples.samples();
    found.single = samples.single_loss();
    found.averaged = samples.averaged_loss();
    found.forward = samples.curve(Selection::forward);
    found.backward = samples.curve(Selection::backward);
    found.thinned = samples.curve(Selection::thinned);
  }
  if (validation() != nullptr && validation()->best()) {
    Snapshot last;
    weights().save_weights(last);
    restore_best();
    found.chosen = loss_of_weights(held);
    weights().restore_weights(last);
  }
  return found;
}

void LanguageTrainer::save_stream(Snapshot& snapshot) const {
  if (state_) snapshot.put_saved("state", *state_);
  snapshot.put_saved("validation_samples", validation_.samples);
  snapshot.put_saved("test_samples", test_.samples);
}

void LanguageTrainer::restore_stream(const Snapshot& snapshot) {
  if (snapshot.contains("state/carried")) {
    const std::int64_t rows = weights().weight_rows();
    state_.emplace(rows, static_cast<std::int64_t>(snapshot.size_of("state/carried")) / rows);
    state_->restore(snapshot.part("state"));
  }
  validation_.samples.restore(snapshot.part("validation_samples"));
  test_.samples.restore(snapshot.part("test_samples"));
}

}  // namespace stein::lm
