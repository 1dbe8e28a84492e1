#include <stein/core/atomic_file.h>
#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/runs/seed_statistics.h>
#include <stein/supervised/regression/regression_run.h>
#include <stein/training/network_summary.h>
#include <stein/training/predictive_agreement.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

namespace stein::supervised {
namespace {

using Json = nlohmann::ordered_json;

Json test_rows_json(const RegressionRows& rows, const RegressionOutcome& outcome) {
  Json list = Json::array();
  for (std::size_t row = 0; row < outcome.predicted.size(); ++row) {
    Json entry{{"target", runs::rounded(rows.targets[row])}};
    if (!rows.places.empty()) entry["place"] = runs::rounded(rows.places[row]);
    entry.update(prediction_json(outcome.predicted[row]));
    entry["probability"] = runs::rounded(outcome.probabilities[row]);
    list.push_back(std::move(entry));
  }
  return list;
}

Json line_json(const RegressionRows& rows, const std::vector<PredictedNumber>& predicted) {
  Json list = Json::array();
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    Json entry{{"place", runs::rounded(rows.places[i])}};
    entry.update(prediction_json(predicted[i]));
    list.push_back(std::move(entry));
  }
  return list;
}

/// Whether intervals hold clearly fewer test targets than `interval_level`: by three in a hundred at least, and by five
/// standard deviations of the share that intervals of that level hold.
/// @param nuts  it is the sampler already
std::optional<std::string> surer_than_right(double coverage, double rows, bool nuts) {
  constexpr double least = 0.03, deviations = 5;
  const double short_of = interval_level - coverage;
  if (!(short_of > std::max(least, deviations * std::sqrt(interval_level * (1 - interval_level) / rows)))) return {};
  return fmt::format(
      "intervals of {:.0f} % hold {:.1f} % of the test targets: predictions are surer than they are right; {} may "
      "help",
      100 * interval_level, 100 * coverage,
      nuts ? "longer chains (epochs), or several" : "sampler nuts, or fewer epochs,");
}

/// Whether intervals are more than twice as long as those of errors of this size.
std::optional<std::string> longer_than_errors(double width, double rmse, bool nuts) {
  constexpr double clearly = 2;
  const double ratio = width / (2 * gaussian_interval_end * rmse);
  if (!(ratio > clearly) || !std::isfinite(ratio)) return {};
  return fmt::format(
      "intervals are {:.3g} times as long as the errors on test rows ask for: the precision of the noise has not "
      "settled, or the samples are far apart; more epochs{} may help",
      ratio, nuts ? "" : " or sampler nuts");
}

std::string part_lines(const Json& scores, const char* part) {
  const auto samples = scores["samples"].get<std::int64_t>();
  std::string lines = fmt::format("\n  {}, RMSE and log-likelihood\n", part);
  const auto line = [&](const std::string& name, const Json& of) {
    lines += runs::summary_line(name.c_str(), fmt::format("{:<22} {}", runs::mean_and_deviation(of["rmse"], "{:.4g}"),
                                                          runs::mean_and_deviation(of["log_likelihood"], "{:.3f}")));
  };
  if (samples > 1) {
    line("  one sample", scores["single_sample"]);
    line(fmt::format("  averaged over {}", samples), scores);
  }
  line("  weights at the end", scores["final_weights"]);
  if (scores.contains("validation_chosen")) line("  best by validation", scores["validation_chosen"]);
  lines += runs::summary_line(
      fmt::format("  in {:.0f} % intervals", 100 * interval_level).c_str(),
      fmt::format("{:.1f} % of the targets, {} long on average", 100 * runs::mean_of(scores["coverage"]),
                  runs::text(scores["interval_width"], "{:.4g}")));
  return lines + training::agreement_line(scores);
}

}  // namespace

Json prediction_json(const PredictedNumber& predicted) {
  return {{"mean", runs::rounded(predicted.mean)},
          {"deviation", runs::rounded(predicted.deviation)},
          {"model_deviation", runs::rounded(predicted.model_deviation)},
          {"low", runs::rounded(predicted.low)},
          {"high", runs::rounded(predicted.high)}};
}

Json regression_json(const std::vector<RegressionResult>& results, const char* each) {
  Json json{{"rows", results.front().rows}, {"samples", results.front().samples}};
  const auto scores = [&](const auto& of) { return regression_json(runs::of_each(results, of), each); };
  json.update(scores(&RegressionResult::averaged));
  json["single_sample"] = scores(&RegressionResult::single);
  json["final_weights"] = scores(&RegressionResult::final_weights);
  if (std::ranges::all_of(results, [](const RegressionResult& r) { return r.chosen.has_value(); }))
    json["validation_chosen"] = scores([](const RegressionResult& r) { return *r.chosen; });
  training::add_agreement(json, runs::of_each(results, &RegressionResult::agreement), each);
  return json;
}

std::vector<RegressionResult> RegressionRun::test_results() const {
  return runs::of_each(outcomes_, &RegressionOutcome::test);
}

std::vector<RegressionResult> RegressionRun::validation_results() const {
  std::vector<RegressionResult> results;
  for (const RegressionOutcome& outcome : outcomes_)
    if (outcome.validation) results.push_back(*outcome.validation);
  return results;
}

RegressionRun::RegressionRun(runs::SeedRange seeds, Facts facts,
                             const std::function<std::unique_ptr<RegressionTrainer>(std::uint64_t seed)>& make_trainer)
    : EpochRunOf(seeds, [&](std::uint64_t seed) { return make_trainer(seed); }), facts_(std::move(facts)) {}

std::vector<std::string> RegressionRun::notices() const {
  const RegressionTrainer& first = repetition(0);
  std::vector<std::string> found{
      fmt::format("{} rows of training, {} of validation, {} of test; {} from {} ({} numbers); {} weights; {} "
                  "minibatches of an epoch",
                  first.parts().train.count(), first.parts().validation.count(), first.parts().test.count(),
                  facts_.target, runs::counted(std::ssize(facts_.inputs), "column"),
                  first.parts().train.inputs.columns(), first.weights().parameter_count(), first.epoch().minibatches)};
  found.insert(found.end(), facts_.notices.begin(), facts_.notices.end());
  std::ranges::copy(chain_notices("row"), std::back_inserter(found));
  return found;
}

Json RegressionRun::protocol() const {
  return {{"env", facts_.data},      {"env_options", facts_.data_options},
          {"model", facts_.network}, {"sampler", facts_.method},
          {"target", facts_.target}, {"N", static_cast<double>(repetition(0).epoch().data)},
          {"unit", "rows"},          {"minibatches", repetition(0).epoch().minibatches}};
}

std::vector<std::string> RegressionRun::warnings() const {
  std::vector<std::string> found = EpochRun::warnings();
  if (outcomes_.empty()) return found;
  const std::vector<RegressionResult> results = test_results();
  const auto mean_of = [&](const auto& of) { return runs::mean(runs::of_each(results, of)); };
  const auto idle = std::ranges::find_if(
      results, [](const RegressionResult& result) { return !(result.averaged.rmse < result.constant_rmse); });
  if (idle != results.end()) {
    found.push_back(
        fmt::format("an RMSE of {:.4g} is no better than that of the mean of the training targets, {:.4g}: nothing was "
                    "learned that "
                    "holds for test rows; other columns, another step size or more epochs may help",
                    idle->averaged.rmse, idle->constant_rmse));
    return found;
  }
  const auto rows = static_cast<double>(results.front().rows * std::ssize(results));
  const double coverage = mean_of([](const RegressionResult&result) { return result.averaged.coverage; }),
               width = mean_of([](const RegressionResult&result) { return result.averaged.interval_width; }),
               rmse = mean_of([](const RegressionResult&result) { return result.averaged.rmse; });
  const bool nuts = facts_.method == "nuts";
  if (auto warning = surer_than_right(coverage, rows, nuts)) found.push_back(std::move(*warning));
  if (auto warning = longer_than_errors(width, rmse, nuts)) found.push_back(std::move(*warning));
  return found;
}

Json RegressionRun::summarize(const Watch& watch) {
  watch.begin("final evaluation", "regressions", static_cast<std::uint64_t>(count()));
  outcomes_.clear();
  for (std::int64_t i = 0; i < count() && !watch.stop_requested(); ++i) {
    outcomes_.push_back(repetition(i).outcome());
    watch.advance();
  }
  if (watch.stop_requested()) return {};
  for (std::int64_t i = 0; i < count(); ++i) repetition(i).forget_outcome();
  const Json test = regression_json(test_results(), each);
  Json summary{{"env", facts_.data},
               {"data", facts_.data},
               {"synthetic", facts_.synthetic},
               {"target", facts_.target},
               {"inputs", facts_.inputs},
               {"model", facts_.network},
               {"sampler", facts_.method},
               {"splits", count()},
               {"parameters", repetition(0).weights().parameter_count()},
               {"epochs", facts_.epochs},
               {"rows_per_second", runs::rounded(data_per_second())},
               {"rmse", test["rmse"]},
               {"log_likelihood", test["log_likelihood"]},
               {"test", test}};
  if (const auto validation = validation_results(); !validation.empty())
    summary["validation"] = regression_json(validation, each);
  describe_weights(summary);
  return summary;
}

void RegressionRun::write_results(const RunDirectory& directory) {
  const auto curves_of = [](const auto& results) {
    return training::curves_json(runs::of_each(results, &RegressionResult::curves));
  };
  Json curves{{"test", curves_of(test_results())}},
      predictions{{"target", facts_.target}, {"level", interval_level}, {"seeds", Json::array()}};
  if (const auto validation = validation_results(); !validation.empty()) curves["validation"] = curves_of(validation);
  for (std::int64_t i = 0; i < count(); ++i) {
    const RegressionParts& parts = repetition(i).parts();
    const RegressionOutcome& outcome = outcomes_[static_cast<std::size_t>(i)];
    Json seed{{"seed", repetition(i).seed()}, {"rows", test_rows_json(parts.test, outcome)}};
    if (!outcome.line.empty()) seed["line"] = line_json(parts.line, outcome.line);
    predictions["seeds"].push_back(std::move(seed));
  }
  write_file_atomically(directory.file("curves.json"), curves.dump() + "\n");
  write_file_atomically(directory.file("predictions.json"), predictions.dump() + "\n");
}

std::string readable_regression_summary(const Json& summary) {
  std::string lines = training::summary_head(summary);
  if (summary.contains("validation")) lines += part_lines(summary["validation"], "validation");
  lines += part_lines(summary["test"], "test");
  return lines + training::summary_foot(summary, "rows_per_second", "rows/s");
}

}  // namespace stein::supervised
