#include <stein/core/error.h>
#include <stein/lm/language/language_trainer.h>
#include <stein/runs/repetitions.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace stein::lm {
namespace {

using inference::MatrixView;
using inference::MethodKind;
using inference::Selection;

runs::Validation::Options validation_options(const LanguageTrainingOptions& options, const TokenBatches& batches) {
  if (options.validations_per_epoch == 0) return {.patience = options.patience};
  return {.validate_every = std::max<std::int64_t>(1, batches.tokens() / options.validations_per_epoch),
          .patience = options.patience};
}

inference::DataFacts facts_of(const TokenBatches& batches) {
  return {.size = static_cast<double>(batches.tokens()),
          .sequence = static_cast<double>(batches.steps()),
          .minibatches = static_cast<double>(batches.count())};
}

/// The samples of a chain that goes through `epochs` epochs of `minibatches`.
inference::CollectorOptions collection(const LanguageTrainingOptions& options, std::int64_t minibatches) {
  const std::int64_t steps = options.epochs * minibatches;
  const auto burn_in = static_cast<std::int64_t>(options.burn_in * static_cast<double>(steps));
  const std::int64_t thinning = std::max<std::int64_t>(1, minibatches / options.samples_per_epoch);
  return {.burn_in = burn_in, .thinning = thinning, .samples = std::max<std::int64_t>(1, (steps - burn_in) / thinning)};
}

double mean_loss(std::span<const float> log_probability) {
  return -std::accumulate(log_probability.begin(), log_probability.end(), 0.0) /
         static_cast<double>(log_probability.size());
}

}  // namespace

LanguageTrainer::LanguageTrainer(const Corpus& corpus, const LanguageTrainingOptions& options,
                                 const inference::WeightMethodOptions& method,
                                 std::unique_ptr<inference::Model<float>> model, std::uint64_t seed)
    : ValidatedRepetition(validation_options(options, {corpus.train, options.batch_size, options.unroll, "training"}),
                          runs::Better::lower),
      options_(options),
      seed_(seed),
      batches_(corpus.train, options.batch_size, options.unroll, "training"),
      weights_(method, std::move(model), facts_of(batches_), seed),
      validation_{{corpus.validation, options.protocol, options.batch_size, options.unroll, "validation"},
                  SampledProbabilities(0)},
      test_{{corpus.test, options.protocol, options.batch_size, options.unroll, "test"}, SampledProbabilities(0)} {
  for (Held* held : {&validation_, &test_}) held->samples = SampledProbabilities(held->scorer.tokens());
  if (method.kind != MethodKind::chain) return;
  const auto exploring = [this](std::int64_t t) { return weights_.exploring(t); };
  inference::CollectorOptions samples = collection(options, batches_.count());
  collector_.emplace(samples, last_minibatch(), exploring);
  samples.samples = std::min(samples.samples, options.stored_samples);
  if (samples.samples > 0) store_collector_.emplace(samples, last_minibatch(), exploring);
}

void LanguageTrainer::store_samples_in(const std::filesystem::path& folder) {
  if (!store_collector_) return;
  const bool goes_on = saved_stored_.contains("size");
  stored_.emplace(goes_on ? inference::SampleReservoir<float>::open(folder)
                          : inference::SampleReservoir<float>::create(folder));
  if (goes_on) stored_->restore(saved_stored_);
}

std::int64_t LanguageTrainer::stored_samples() const {
  if (stored_) return stored_->size();
  return saved_stored_.contains("size") ? saved_stored_.get_scalar<std::int64_t>("size") : 0;
}

double LanguageTrainer::share_done() const {
  return static_cast<double>(minibatches_) / static_cast<double>(last_minibatch());
}

std::optional<std::string> LanguageTrainer::warning() const {
  std::string text;
  for (const std::string& sentence : weights_.warnings()) text += (text.empty() ? "" : "\n") + sentence;
  if (text.empty()) return std::nullopt;
  return text;
}

void LanguageTrainer::learn(std::int64_t until, const StopToken& stop, runs::Records& records) {
  do take_minibatch(records);
  while (steps_done() < until && !out_of_data() && !stop.stop_requested());
}

void LanguageTrainer::take_minibatch(runs::Records& records) {
  const std::int64_t c = minibatches_ % batches_.count(), epoch = minibatches_ / batches_.count();
  if (c == 0 && epoch > options_.rate_decay_after) weights_.scale_step_size(options_.rate_decay);
  batches_.fill(c, batch_);
  inference::Batch<float> batch;
  batch.inputs.tokens = {batch_.tokens.data(), batch_.rows, batch_.steps};
  batch.targets = {batch_.targets.data(), batch_.rows, batch_.steps};
  batch.rows = batch_.rows;
  batch.size = batch_.size();
  batch.data_size = static_cast<double>(batches_.tokens());
  batch.unit = inference::DataUnit::tokens;
  if (options_.state == LanguageTrainingOptions::State::carried) {
    if (!state_) state_.emplace(weights_.weight_rows(), weights_.posterior().model().carried_size(batch.inputs));
    if (batch_.fresh) state_->reset();
    batch.inputs.carried = state_->rows();
  }
  const auto start = std::chrono::steady_clock::now();
  const inference::StepReport report = weights_.step(batch);
  training_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++minibatches_;
  collect(report);
  if (report.went_back && state_) state_->reset();  // what was kept is of another place in the text
  if (report.taken) loss_sum_ -= weights_.last_log_likelihood(), ++loss_count_;
  if (!runs::is_recorded(minibatches_)) return;
  if (loss_count_ > 0) records.number(steps_done(), "loss", loss_sum_ / static_cast<double>(loss_count_));
  loss_sum_ = 0, loss_count_ = 0;
}

void LanguageTrainer::collect(const inference::StepReport& report) {
  if (!collector_ || collector_->steps() >= last_minibatch()) return;
  const inference::Collection now = collector_->take(report);
  if (store_collector_) {
    const inference::Collection stored = store_collector_->take(report);
    if (stored_) stored_->drop_last(stored.dropped);
    if (stored_ && stored.keep) stored_->add(weights_.particles());
  }
  for (Held* held : {&validation_, &test_}) {
    held->samples.drop_last(now.dropped);
    if (!now.keep) continue;
    score_rows(held->scorer, weights_.draw_weights({}, memory_));
    held->samples.add(log_probability_);
  }
}

void LanguageTrainer::score_rows(TextScorer& scorer, MatrixView<const float> rows) {
  const auto tokens = static_cast<std::size_t>(scorer.tokens());
  log_probability_.resize(tokens);
  inference::Model<float>& model = weights_.posterior().model();
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
  const bool variational = weights_.kind() == MethodKind::variational;
  score_rows(held.scorer, variational ? weights_.mean_weights(memory_) : weights_.draw_weights({}, memory_));
  return mean_loss(log_probability_);
}

double LanguageTrainer::validate() {
  return loss_of_weights(validation_);
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
  if (weights_.kind() == MethodKind::variational)
    for (std::int64_t s = 0; s < options_.draws; ++s) {
      score_rows(
          held.scorer,
          weights_.draw_weights(
              {.seed = seed_, .step = static_cast<std::uint64_t>(s), .stream = Stream::parameterization}, memory_));
      samples.add(log_probability_);
    }
  if (weights_.kind() == MethodKind::ensemble) {
    const MatrixView<const float> rows = weights_.draw_weights({}, memory_);
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      score_rows(held.scorer, rows.block(i, 1));
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
    weights_.save_weights(last);
    restore_best();
    found.chosen = loss_of_weights(held);
    weights_.restore_weights(last);
  }
  return found;
}

void LanguageTrainer::save_training(Snapshot& snapshot) const {
  Snapshot progress;
  weights_.save_progress(progress);
  snapshot.put_part("progress", progress);
  snapshot.put("minibatches", minibatches_);
  snapshot.put("loss", std::vector<double>{loss_sum_, static_cast<double>(loss_count_)});
  if (state_) {
    Snapshot carried;
    state_->save(carried);
    snapshot.put_part("state", carried);
  }
  if (!collector_) return;
  Snapshot collector, validation, test;
  collector_->save(collector);
  if (store_collector_) {
    Snapshot store;
    store_collector_->save(store);
    snapshot.put_part("store_collector", store);
  }
  if (stored_) {
    Snapshot stored;
    stored_->save(stored);
    snapshot.put_part("stored", stored);
  } else if (saved_stored_.contains("size")) {
    snapshot.put_part("stored", saved_stored_);
  }
  validation_.samples.save(validation);
  test_.samples.save(test);
  snapshot.put_part("collector", collector);
  snapshot.put_part("validation_samples", validation);
  snapshot.put_part("test_samples", test);
}

void LanguageTrainer::restore_training(const Snapshot& snapshot) {
  weights_.restore_progress(snapshot.part("progress"));
  minibatches_ = snapshot.get_scalar<std::int64_t>("minibatches");
  const auto loss = snapshot.get_vector<double>("loss");
  if (loss.size() != 2) fail(ErrorKind::data, "expected a sum of losses and their count, found {}", loss.size());
  loss_sum_ = loss[0], loss_count_ = static_cast<std::int64_t>(loss[1]);
  if (snapshot.contains("state/carried")) {
    const std::int64_t rows = weights_.weight_rows();
    state_.emplace(rows, static_cast<std::int64_t>(snapshot.size_of("state/carried")) / rows);
    state_->restore(snapshot.part("state"));
  }
  if (!collector_) return;
  collector_->restore(snapshot.part("collector"));
  if (store_collector_) store_collector_->restore(snapshot.part("store_collector"));
  if (snapshot.contains("stored/size")) saved_stored_ = snapshot.part("stored");
  validation_.samples.restore(snapshot.part("validation_samples"));
  test_.samples.restore(snapshot.part("test_samples"));
}

}  // namespace stein::lm
