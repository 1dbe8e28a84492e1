#include <stein/core/error.h>
#include <stein/core/flush_denormals.h>
#include <stein/training/classifier_trainer.h>
#include <stein/training/predictive_agreement.h>

#include <utility>
#include <vector>

namespace stein::training {
namespace {

constexpr std::int64_t most_training_rows_shown = 1000;

EpochTrainer::Epoch epoch_of(const LabelledParts& parts, const EpochOptions& options) {
  const std::int64_t rows = parts.train->count();
  if (rows == 0) fail(ErrorKind::data, "no row is left for training");
  if (parts.test->count() == 0) fail(ErrorKind::data, "no row is left for the test");
  return {.minibatches = EpochOrder(rows, options.batch_size, 0).minibatches(), .data = rows};
}

EpochOptions for_parts(EpochOptions options, const LabelledParts& parts, const WeightMethodOptions& method) {
  const std::int64_t rows = parts.train->count();
  if (rows > 0) options.batch_size = method.takes_all_data ? rows : fitting_batch_size(options.batch_size, rows);
  if (parts.validation->count() == 0) options.validations_per_epoch = 0;
  return options;
}

}  // namespace

ClassifierTrainer::Shown::Shown(const char* curve_, LabelledRows& rows_, std::int64_t at_most, std::int64_t classes)
    : curve(curve_), rows(rows_, at_most), samples(rows.labels(), classes) {}

ClassifierTrainer::ClassifierTrainer(LabelledParts parts, const EpochOptions& options,
                                     const WeightMethodOptions& method, std::unique_ptr<inference::Model<float>> model,
                                     std::uint64_t seed)
    : EpochTrainer(for_parts(options, parts, method), method, std::move(model),
                   epoch_of(parts, for_parts(options, parts, method)), seed),
      parts_(std::move(parts)),
      classes_(weights().posterior().model().output_count()),
      train_("train_error", *parts_.train, most_training_rows_shown, classes_),
      validation_("validation_error", *parts_.validation, parts_.validation->count(), classes_),
      test_("test_error", *parts_.test, parts_.test->count(), classes_),
      order_(parts_.train->count(), this->options().batch_size, seed) {
  if (parts_.plane) plane_.emplace("plane", *parts_.plane, parts_.plane->count(), classes_);
}

inference::Batch<float> ClassifierTrainer::minibatch(std::int64_t epoch, std::int64_t c) {
  const std::span<const std::int64_t> rows = order_.minibatch(epoch, c);
  targets_.clear();
  for (const std::int64_t row : rows) targets_.push_back(static_cast<float>(parts_.train->label(row)));
  inference::Batch<float> batch;
  const auto step = static_cast<std::uint64_t>(epoch * order_.minibatches() + c);
  batch.inputs = parts_.train->training_inputs(rows, {.seed = seed(), .step = step, .stream = Stream::data});
  batch.targets = {targets_.data(), std::ssize(targets_), 1};
  batch.rows = std::ssize(rows);
  batch.data_size = static_cast<double>(parts_.train->count());
  return batch;
}

WeightDraws ClassifierTrainer::weights_as_they_are() {
  return {weights(), {.mean = true}, {}, 0};
}

runs::ClassifierScore ClassifierTrainer::score_of_weights(Shown& shown) {
  WeightDraws draws = weights_as_they_are();
  return shown.rows.classify(weights().posterior().model(), draws).averaged();
}

double ClassifierTrainer::validate() {
  return score_of_weights(validation_).error;
}

void ClassifierTrainer::began() {
  error_before_ = score_of_weights(test_).error;
}

void ClassifierTrainer::take_sample() {
  WeightDraws chains = weights_as_they_are();
  for (std::int64_t k = 0; k < chains.count(); ++k) {
    const WeightDraws::Draw now = chains.get(k);
    for_each_shown([&](Shown& shown) { shown.rows.add_sample(weights().posterior().model(), now, shown.samples); });
  }
}

void ClassifierTrainer::drop_samples(std::int64_t count) {
  for_each_shown([&](Shown& shown) { shown.samples.drop_last(count); });
}

void ClassifierTrainer::end_epoch(runs::Records& records) {
  const auto record = [&](const Shown& shown, const SampledClasses& now) {
    records.number(steps_done(), shown.curve, now.averaged().error);
  };
  std::vector<std::pair<Shown*, SampledClasses>> now;  // of the weights as they are
  for (Shown* shown : {&train_, &validation_, &test_}) {
    if (shown->rows.count() == 0) continue;
    if (shown->samples.samples() > 0)
      record(*shown, shown->samples);
    else
      now.emplace_back(shown, SampledClasses(shown->rows.labels(), classes_));
  }
  if (now.empty()) return;
  WeightDraws draws = weights_as_they_are();
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    const WeightDraws::Draw draw = draws.get(k);
    for (auto& [shown, samples] : now) shown->rows.add_sample(weights().posterior().model(), draw, samples);
  }
  for (const auto& [shown, samples] : now) record(*shown, samples);
}

SampledClasses ClassifierTrainer::samples_at_end(Shown& shown) {
  if (shown.samples.samples() > 0) return shown.samples;
  WeightDraws draws(weights(), {.draws = options().draws, .seed = seed()}, {}, 0);
  return shown.rows.classify(weights().posterior().model(), draws);
}

std::optional<SampledClasses> ClassifierTrainer::plane_samples() {
  if (!plane_) return std::nullopt;
  return samples_at_end(*plane_);
}

ClassifierResult ClassifierTrainer::result(Shown& shown, const SampledClasses& samples) {
  ClassifierResult found{.rows = shown.rows.count(),
                         .samples = samples.samples(),
                         .single = samples.single(),
                         .averaged = samples.averaged(),
                         .final_weights = score_of_weights(shown),
                         .sample_errors = samples.errors()};
  if (samples.samples() > 1)
    found.curves = AverageCurves::of(
        [&](inference::Selection which, std::int64_t at_most) { return samples.error_curve(which, at_most); });
  found.agreement = predictive_agreement(weights(), samples);
  with_best([&] { found.chosen = score_of_weights(shown); });
  return found;
}

ClassifierOutcome ClassifierTrainer::outcome() {
  if (const ClassifierOutcome* const found = concluded_.after(steps_done())) return *found;
  const FlushDenormals flush;  // the same bits inside a task, as where ranks conclude, and outside of one
  std::optional<ClassifierResult> validation;
  if (validation_.rows.count() > 0) validation = result(validation_, samples_at_end(validation_));
  const SampledClasses samples = samples_at_end(test_);
  return {.validation = std::move(validation), .test = result(test_, samples), .predicted = samples.predictive()};
}

void ClassifierTrainer::conclude(const StopToken& stop) {
  if (!stop.stop_requested()) concluded_.keep(outcome(), steps_done());
}

void ClassifierTrainer::save_stream(Snapshot& snapshot) const {
  snapshot.put_saved("train_samples", train_.samples);
  snapshot.put_saved("validation_samples", validation_.samples);
  snapshot.put_saved("test_samples", test_.samples);
  if (plane_) snapshot.put_saved("plane_samples", plane_->samples);
  if (error_before_) snapshot.put("error_before", *error_before_);
  if (concluded_.after(steps_done()) != nullptr) snapshot.put_saved("outcome", concluded_);
}

void ClassifierTrainer::restore_stream(const Snapshot& snapshot) {
  train_.samples.restore(snapshot.part("train_samples"));
  validation_.samples.restore(snapshot.part("validation_samples"));
  test_.samples.restore(snapshot.part("test_samples"));
  if (plane_) plane_->samples.restore(snapshot.part("plane_samples"));
  if (snapshot.contains("error_before")) error_before_ = snapshot.get_scalar<double>("error_before");
  concluded_.restore(snapshot.part("outcome"),
                     {.validation = std::nullopt,
                      .test = {},
                      .predicted = {inference::Likelihood::categorical, test_.rows.count(), classes_}});
}

}  // namespace stein::training
