#include <stein/core/error.h>
#include <stein/training/classifier_trainer.h>

#include <algorithm>
#include <numeric>

namespace stein::training {
namespace {

using inference::MatrixView;

constexpr std::int64_t most_training_rows_shown = 1000;
constexpr std::int64_t rows_of_piece = 256;  ///< that are predicted together

EpochTrainer::Epoch epoch_of(const LabelledParts& parts, const EpochOptions& options) {
  const std::int64_t rows = parts.train->count();
  if (rows == 0) fail(ErrorKind::data, "no row is left for training");
  if (parts.test->count() == 0) fail(ErrorKind::data, "no row is left for the test");
  return {.minibatches = EpochOrder(rows, options.batch_size, 0).minibatches(), .data = rows};
}

EpochOptions for_parts(EpochOptions options, const LabelledParts& parts) {
  if (parts.validation->count() == 0) options.validations_per_epoch = 0;
  return options;
}

/// At most so many rows, at equal distances.
std::vector<std::int64_t> spread_rows(const LabelledRows& rows, std::int64_t at_most) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(std::min(rows.count(), at_most)));
  for (std::size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = static_cast<std::int64_t>(i) * rows.count() / std::ssize(chosen);
  return chosen;
}

std::vector<std::int64_t> labels_of(const LabelledRows& rows, const std::vector<std::int64_t>& chosen) {
  std::vector<std::int64_t> labels;
  labels.reserve(chosen.size());
  for (const std::int64_t row : chosen) labels.push_back(rows.label(row));
  return labels;
}

}  // namespace

ClassifierTrainer::Shown::Shown(const char* curve_, LabelledRows& rows_, std::int64_t at_most, std::int64_t classes)
    : curve(curve_),
      rows(rows_),
      chosen(spread_rows(rows_, at_most)),
      by_length(chosen.size()),
      samples(labels_of(rows_, chosen), classes) {
  std::iota(by_length.begin(), by_length.end(), std::size_t{0});
  std::ranges::stable_sort(by_length, {}, [this](std::size_t i) { return rows.length(chosen[i]); });
}

ClassifierTrainer::ClassifierTrainer(LabelledParts parts, const EpochOptions& options,
                                     const WeightMethodOptions& method, std::unique_ptr<inference::Model<float>> model,
                                     std::uint64_t seed)
    : EpochTrainer(for_parts(options, parts), method, std::move(model), epoch_of(parts, options), seed),
      parts_(std::move(parts)),
      classes_(weights().posterior().model().output_count()),
      train_("train_error", *parts_.train, most_training_rows_shown, classes_),
      validation_("validation_error", *parts_.validation, parts_.validation->count(), classes_),
      test_("test_error", *parts_.test, parts_.test->count(), classes_),
      order_(parts_.train->count(), options.batch_size, seed) {}

inference::Batch<float> ClassifierTrainer::minibatch(std::int64_t epoch, std::int64_t c) {
  const std::span<const std::int64_t> rows = order_.minibatch(epoch, c);
  targets_.clear();
  for (const std::int64_t row : rows) targets_.push_back(static_cast<float>(parts_.train->label(row)));
  inference::Batch<float> batch;
  batch.inputs = parts_.train->inputs(rows);
  batch.targets = {targets_.data(), std::ssize(targets_), 1};
  batch.rows = std::ssize(rows);
  batch.data_size = static_cast<double>(parts_.train->count());
  return batch;
}

void ClassifierTrainer::add_sample(const Shown& shown, const WeightDraws::Draw& draw, SampledClasses& to) {
  logits_.resize(shown.chosen.size() * static_cast<std::size_t>(classes_));
  for (std::size_t begin = 0; begin < shown.chosen.size(); begin += rows_of_piece) {
    const std::span<const std::size_t> places =
        std::span(shown.by_length).subspan(begin, std::min<std::size_t>(rows_of_piece, shown.chosen.size() - begin));
    piece_.clear();
    for (const std::size_t i : places) piece_.push_back(shown.chosen[i]);
    inference::Inputs<float> inputs = shown.rows.inputs(piece_);
    inputs.dropout = piece_key(draw.dropout, static_cast<std::int64_t>(begin) / rows_of_piece);
    piece_logits_.resize(places.size() * static_cast<std::size_t>(classes_));
    const MatrixView<float> outputs{piece_logits_.data(), std::ssize(places), classes_};
    weights().posterior().model().predict(draw.weights, inputs, outputs);
    for (std::int64_t i = 0; i < outputs.rows; ++i)
      std::ranges::copy(outputs.row(i),
                        logits_.begin() + static_cast<std::ptrdiff_t>(places[static_cast<std::size_t>(i)]) * classes_);
  }
  to.add({logits_.data(), std::ssize(shown.chosen), classes_});
}

SampledClasses ClassifierTrainer::classify(const Shown& shown, WeightDraws& draws) {
  SampledClasses samples(shown.samples.labels(), classes_);
  for (std::int64_t k = 0; k < draws.count(); ++k) add_sample(shown, draws.get(k), samples);
  return samples;
}

SampledClasses ClassifierTrainer::classify(LabelledRows& rows, WeightDraws& draws) {
  return classify(Shown("", rows, rows.count(), classes_), draws);
}

runs::ClassifierScore ClassifierTrainer::score_of_weights(const Shown& shown) {
  WeightDraws draws(weights(), {.mean = true}, {}, 0);
  return classify(shown, draws).averaged();
}

double ClassifierTrainer::validate() {
  return score_of_weights(validation_).error;
}

void ClassifierTrainer::take_sample() {
  const WeightDraws::Draw now{.weights = {weights().draw_weights({}, memory_), 0}};
  for (Shown* shown : {&train_, &validation_, &test_})
    if (!shown->chosen.empty()) add_sample(*shown, now, shown->samples);
}

void ClassifierTrainer::drop_samples(std::int64_t count) {
  for (Shown* shown : {&train_, &validation_, &test_})
    if (!shown->chosen.empty()) shown->samples.drop_last(count);
}

void ClassifierTrainer::end_epoch(runs::Records& records) {
  for (const Shown* shown : {&train_, &validation_, &test_})
    if (!shown->chosen.empty())
      records.number(steps_done(), shown->curve,
                     shown->samples.samples() > 0 ? shown->samples.averaged().error : score_of_weights(*shown).error);
}

SampledClasses ClassifierTrainer::samples_at_end(const Shown& shown) {
  if (shown.samples.samples() > 0) return shown.samples;
  WeightDraws draws(weights(), {.draws = options().draws, .seed = seed()}, {}, 0);
  return classify(shown, draws);
}

SampledClasses ClassifierTrainer::test_samples() {
  return samples_at_end(test_);
}

ClassifierResult ClassifierTrainer::result(const Shown& shown) {
  const SampledClasses samples = samples_at_end(shown);
  ClassifierResult found{.rows = std::ssize(shown.chosen),
                         .samples = samples.samples(),
                         .single = samples.single(),
                         .averaged = samples.averaged(),
                         .final_weights = score_of_weights(shown)};
  if (samples.samples() > 1)
    found.curves = AverageCurves::of([&](inference::Selection which) { return samples.error_curve(which); });
  with_best([&] { found.chosen = score_of_weights(shown); });
  return found;
}

std::optional<ClassifierResult> ClassifierTrainer::validation_result() {
  if (validation_.chosen.empty()) return std::nullopt;
  return result(validation_);
}

ClassifierResult ClassifierTrainer::test_result() {
  return result(test_);
}

void ClassifierTrainer::save_stream(Snapshot& snapshot) const {
  snapshot.put_saved("train_samples", train_.samples);
  snapshot.put_saved("validation_samples", validation_.samples);
  snapshot.put_saved("test_samples", test_.samples);
}

void ClassifierTrainer::restore_stream(const Snapshot& snapshot) {
  train_.samples.restore(snapshot.part("train_samples"));
  validation_.samples.restore(snapshot.part("validation_samples"));
  test_.samples.restore(snapshot.part("test_samples"));
}

}  // namespace stein::training
