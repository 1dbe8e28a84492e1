#include <stein/core/flush_denormals.h>
#include <stein/supervised/regression/regression_trainer.h>
#include <stein/training/predictive_agreement.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stein::supervised {
namespace {

using training::EpochOptions;
using training::EpochOrder;
using training::WeightDraws;

constexpr std::int64_t most_training_rows_shown = 1000;

/// Some of the rows, at equal distances.
RegressionRows few_of(const RegressionRows& rows, std::int64_t at_most) {
  const std::int64_t count = std::min(rows.count(), at_most);
  RegressionRows few{.inputs = {count, rows.inputs.columns()}};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = i * rows.count() / count;
    std::ranges::copy(rows.inputs.row(row), few.inputs.row(i).begin());
    few.targets.push_back(rows.targets[static_cast<std::size_t>(row)]);
  }
  return few;
}

training::EpochTrainer::Epoch epoch_of(const RegressionParts& parts, const EpochOptions& options) {
  const std::int64_t rows = parts.train.count();
  return {.minibatches = EpochOrder(rows, options.batch_size, 0).minibatches(), .data = rows};
}

EpochOptions for_parts(EpochOptions options, const RegressionParts& parts,
                       const training::WeightMethodOptions& method) {
  const std::int64_t rows = parts.train.count();
  options.batch_size = method.takes_all_data ? rows : training::fitting_batch_size(options.batch_size, rows);
  if (parts.validation.count() == 0) options.validations_per_epoch = 0;
  return options;
}

}  // namespace

RegressionTrainer::Shown::Shown(const char* name_, const RegressionRows& rows_, const RegressionParts& parts)
    : name(name_), rows(rows_, parts.scale, parts.noise_precision), samples(rows.no_samples()) {}

RegressionTrainer::RegressionTrainer(RegressionParts parts, const EpochOptions& options,
                                     const training::WeightMethodOptions& method,
                                     std::unique_ptr<inference::Model<float>> model, std::uint64_t seed)
    : EpochTrainer(for_parts(options, parts, method), method, std::move(model),
                   epoch_of(parts, for_parts(options, parts, method)), seed),
      parts_(std::move(parts)),
      few_train_(few_of(parts_.train, most_training_rows_shown)),
      train_("train", few_train_, parts_),
      validation_("validation", parts_.validation, parts_),
      test_("test", parts_.test, parts_),
      line_("line", parts_.line, parts_),
      order_(parts_.train.count(), this->options().batch_size, seed),
      inputs_(this->options().batch_size, parts_.train.inputs.columns()) {}

inference::Batch<float> RegressionTrainer::minibatch(std::int64_t epoch, std::int64_t c) {
  const std::span<const std::int64_t> rows = order_.minibatch(epoch, c);
  targets_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(parts_.train.inputs.row(rows[i]), inputs_.row(static_cast<std::int64_t>(i)).begin());
    targets_.push_back(
        static_cast<float>(parts_.scale.to_unit(parts_.train.targets[static_cast<std::size_t>(rows[i])])));
  }
  inference::Batch<float> batch;
  batch.inputs.dense = std::as_const(inputs_).view().block(0, std::ssize(rows));
  batch.targets = {targets_.data(), std::ssize(targets_), 1};
  batch.rows = std::ssize(rows);
  batch.data_size = static_cast<double>(parts_.train.count());
  return batch;
}

training::WeightDraws RegressionTrainer::weights_as_they_are() {
  return {weights(), {.mean = true}, {}, 0};
}

SampledNumbers RegressionTrainer::of_weights(Shown& shown) {
  WeightDraws draws = weights_as_they_are();
  return shown.rows.predict(weights().posterior().model(), draws);
}

double RegressionTrainer::validate() {
  return -of_weights(validation_).log_likelihood();
}

void RegressionTrainer::take_sample() {
  WeightDraws chains = weights_as_they_are();
  for (std::int64_t k = 0; k < chains.count(); ++k) {
    const WeightDraws::Draw now = chains.get(k);
    for_each_shown([&](Shown& shown) { shown.rows.add_sample(weights().posterior().model(), now, shown.samples); });
  }
}

void RegressionTrainer::drop_samples(std::int64_t count) {
  for_each_shown([&](Shown& shown) { shown.samples.drop_last(count); });
}

void RegressionTrainer::end_epoch(runs::Records& records) {
  const auto record = [&](const char* name, const SampledNumbers& now) {
    records.number(steps_done(), fmt::format("{}_rmse", name), now.rmse());
    records.number(steps_done(), fmt::format("{}_log_likelihood", name), now.log_likelihood());
  };
  std::vector<std::pair<Shown*, SampledNumbers>> now;  // of the weights as they are
  for (Shown* shown : {&train_, &validation_, &test_}) {
    if (shown->rows.count() == 0) continue;
    if (shown->samples.samples() > 0)
      record(shown->name, shown->samples);
    else
      now.emplace_back(shown, shown->rows.no_samples());
  }
  if (now.empty()) return;
  WeightDraws draws = weights_as_they_are();
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    const WeightDraws::Draw draw = draws.get(k);
    for (auto& [shown, samples] : now) shown->rows.add_sample(weights().posterior().model(), draw, samples);
  }
  for (const auto& [shown, samples] : now) record(shown->name, samples);
}

SampledNumbers RegressionTrainer::samples_at_end(Shown& shown) {
  if (shown.samples.samples() > 0) return shown.samples;
  WeightDraws draws(weights(), {.draws = options().draws, .seed = seed()}, {}, 0);
  return shown.rows.predict(weights().posterior().model(), draws);
}

RegressionResult RegressionTrainer::result(Shown& shown, const SampledNumbers& samples) {
  RegressionResult found{.rows = shown.rows.count(),
                         .samples = samples.samples(),
                         .constant_rmse = samples.constant_rmse(),
                         .single = samples.single(),
                         .averaged = samples.averaged(),
                         .final_weights = of_weights(shown).averaged()};
  if (samples.samples() > 1)
    found.curves = training::AverageCurves::of(
        [&](inference::Selection which, std::int64_t at_most) { return samples.loss_curve(which, at_most); });
  found.agreement = training::predictive_agreement(weights(), samples);
  with_best([&] { found.chosen = of_weights(shown).averaged(); });
  return found;
}

RegressionOutcome RegressionTrainer::outcome() {
  if (const RegressionOutcome* const found = concluded_.after(steps_done())) return *found;
  const FlushDenormals flush;  // the same bits inside a task, as where ranks conclude, and outside of one
  RegressionOutcome found;
  if (validation_.rows.count() > 0) found.validation = result(validation_, samples_at_end(validation_));
  const SampledNumbers samples = test_samples();
  found.test = result(test_, samples);
  found.predicted = samples.predictions();
  found.probabilities = samples.probability_transforms();
  if (line_.rows.count() > 0) found.line = line_samples().predictions();
  return found;
}

void RegressionTrainer::conclude(const StopToken& stop) {
  if (!stop.stop_requested()) concluded_.keep(outcome(), steps_done());
}

void RegressionTrainer::save_stream(Snapshot& snapshot) const {
  snapshot.put_saved("train_samples", train_.samples);
  snapshot.put_saved("validation_samples", validation_.samples);
  snapshot.put_saved("test_samples", test_.samples);
  snapshot.put_saved("line_samples", line_.samples);
  if (concluded_.after(steps_done()) != nullptr) snapshot.put_saved("outcome", concluded_);
}

void RegressionTrainer::restore_stream(const Snapshot& snapshot) {
  train_.samples.restore(snapshot.part("train_samples"));
  validation_.samples.restore(snapshot.part("validation_samples"));
  test_.samples.restore(snapshot.part("test_samples"));
  line_.samples.restore(snapshot.part("line_samples"));
  concluded_.restore(snapshot.part("outcome"));
}

}  // namespace stein::supervised
