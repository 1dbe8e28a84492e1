#include <stein/core/atomic_file.h>
#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/runs/seed_statistics.h>
#include <stein/training/classifier_run.h>
#include <stein/training/network_summary.h>
#include <stein/training/predictive_agreement.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace stein::training {
namespace {

using Json = nlohmann::ordered_json;

Json rounded_list(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(runs::rounded(value));
  return list;
}

Json predictions_json(const LabelledRows& rows, const inference::Predictive& predictive) {
  const inference::MatrixView<const double> mean = predictive.mean();
  const std::vector<double> deviation = predictive.deviation(), entropy = predictive.entropy(),
                            information = predictive.mutual_information();
  Json list = Json::array();
  for (std::int64_t i = 0; i < rows.count(); ++i) {
    const auto row = static_cast<std::size_t>(i), classes = static_cast<std::size_t>(mean.columns);
    Json entry{{"label", rows.label(i)},
               {"probabilities", rounded_list(mean.row(i))},
               {"deviations", rounded_list(std::span(deviation).subspan(row * classes, classes))},
               {"entropy", runs::rounded(entropy[row])},
               {"mutual_information", runs::rounded(information[row])}};
    if (const std::string text = rows.text(i); !text.empty()) entry["text"] = text;
    list.push_back(std::move(entry));
  }
  return list;
}

Json plane_json(const ClassPlane& plane, const inference::Predictive& predictive) {
  Json json{{"x_name", plane.x_name}, {"y_name", plane.y_name}, {"x", plane.x}, {"y", plane.y}};
  const inference::MatrixView<const double> mean = predictive.mean();
  for (std::int64_t i = 0; i < mean.rows; ++i) json["probabilities"].push_back(rounded_list(mean.row(i)));
  json["mutual_information"] = rounded_list(predictive.mutual_information());
  return json;
}

std::string part_lines(const Json& scores, const char* part) {
  const auto samples = scores["samples"].get<std::int64_t>();
  std::string lines = fmt::format("\n  {}, error\n", part);
  if (samples > 1) lines += runs::summary_line("  one sample", error_text(scores["single_sample"]["error"]));
  const std::string name = samples > 1 ? fmt::format("averaged over {}", samples) : std::string("one sample");
  const bool at_end = samples == 1 && scores["error"] == scores["final_weights"]["error"];
  if (!at_end) lines += runs::summary_line(("  " + name).c_str(), error_text(scores["error"]));
  lines += runs::summary_line("  weights at the end", error_text(scores["final_weights"]["error"]));
  if (scores.contains("validation_chosen"))
    lines += runs::summary_line("  best by validation", error_text(scores["validation_chosen"]["error"]));
  lines += fmt::format("    of predictions ({}):\n", at_end ? "weights at the end" : name);
  lines += runs::summary_line("  log-likelihood", runs::text(scores["log_likelihood"], "{:.4f}") + " nats");
  lines += runs::summary_line("  calibration error", runs::text(scores["ece"], "{:.4f}"));
  return lines + agreement_line(scores);
}

}  // namespace

Json classifier_json(const std::vector<ClassifierResult>& results, const char* each) {
  Json json{{"rows", results.front().rows}, {"samples", results.front().samples}};
  const auto scores = [&](const auto& of) { return runs::classifier_test(runs::of_each(results, of), each); };
  json.update(scores(&ClassifierResult::averaged));
  json["single_sample"] = scores(&ClassifierResult::single);
  json["final_weights"] = scores(&ClassifierResult::final_weights);
  if (std::ranges::all_of(results, [](const ClassifierResult& r) { return r.chosen.has_value(); }))
    json["validation_chosen"] = scores([](const ClassifierResult& r) { return *r.chosen; });
  add_agreement(json, runs::of_each(results, &ClassifierResult::agreement), each);
  return json;
}

std::string error_text(const Json& error) {
  std::string text = fmt::format("{:.2f} %", 100 * error["mean"].get<double>());
  if (!error["sd"].is_null()) text += fmt::format(" ± {:.2f}", 100 * error["sd"].get<double>());
  return text;
}

std::vector<ClassifierResult> ClassifierRun::test_results() const {
  return runs::of_each(outcomes_, &ClassifierOutcome::test);
}

std::vector<ClassifierResult> ClassifierRun::validation_results() const {
  std::vector<ClassifierResult> results;
  for (const ClassifierOutcome& outcome : outcomes_)
    if (outcome.validation) results.push_back(*outcome.validation);
  return results;
}

ClassifierRun::ClassifierRun(runs::SeedRange seeds, Facts facts,
                             const std::function<std::unique_ptr<ClassifierTrainer>(std::uint64_t seed)>& make_trainer)
    : EpochRunOf(seeds, [&](std::uint64_t seed) { return make_trainer(seed); }), facts_(std::move(facts)) {}

std::vector<std::string> ClassifierRun::notices() const {
  std::vector<std::string> found{
      fmt::format("{} {}s of training, {} of validation, {} of test; {} classes ({}); {} weights; {} minibatches of an "
                  "epoch",
                  repetition(0).epoch().data, facts_.datum, repetition(0).validation_rows().count(),
                  repetition(0).test_rows().count(), facts_.classes.size(), runs::few(facts_.classes),
                  repetition(0).weights().parameter_count(), repetition(0).epoch().minibatches)};
  found.insert(found.end(), facts_.notices.begin(), facts_.notices.end());
  std::ranges::copy(chain_notices(facts_.datum.c_str()), std::back_inserter(found));
  return found;
}

Json ClassifierRun::protocol() const {
  return {{"env", facts_.data},         {"env_options", facts_.data_options},
          {"model", facts_.network},    {"sampler", facts_.method},
          {"classes", facts_.classes},  {"N", static_cast<double>(repetition(0).epoch().data)},
          {"unit", facts_.datum + "s"}, {"minibatches", repetition(0).epoch().minibatches}};
}

std::vector<std::string> ClassifierRun::warnings() const {
  std::vector<std::string> found = EpochRun::warnings();
  const auto classes = static_cast<double>(facts_.classes.size());
  std::vector<double> lost;  // by models that know no more than chance does; 0 by the others
  double worst_loss = 0, its_error = 0;
  for (const ClassifierOutcome& outcome : outcomes_) {
    const runs::ClassifierScore& averaged = outcome.test.averaged;
    const double loss = -averaged.log_likelihood, error = averaged.error;
    constexpr double clearly = 0.9;
    const bool knows = error < clearly * (1 - 1 / classes);
    lost.push_back(knows ? 0 : loss);
    if (knows && loss > worst_loss) worst_loss = loss, its_error = error;
  }
  if (const auto warning = chance_warning(lost, classes, facts_.datum.c_str())) found.push_back(*warning);
  if (worst_loss > std::log(classes))
    found.push_back(
        fmt::format("probabilities are surer than they are right: {:.3g} nats a {} are lost where equal chances lose "
                    "{:.3g}, though "
                    "only {:.3g} % are wrong; averages over samples, dropout or fewer epochs may help",
                    worst_loss, facts_.datum, std::log(classes), 100 * its_error));
  return found;
}

Json ClassifierRun::summarize(const Watch& watch) {
  watch.begin("final evaluation", "classifiers", static_cast<std::uint64_t>(count()));
  outcomes_.clear();
  for (std::int64_t i = 0; i < count() && !watch.stop_requested(); ++i) {
    outcomes_.push_back(repetition(i).outcome());
    watch.advance();
  }
  if (watch.stop_requested()) return {};
  for (std::int64_t i = 0; i < count(); ++i) repetition(i).forget_outcome();
  Json summary{{"env", facts_.data},
               {"data", facts_.data},
               {"synthetic", facts_.synthetic},
               {"model", facts_.network},
               {"sampler", facts_.method},
               {"classes", facts_.classes},
               {"parameters", repetition(0).weights().parameter_count()},
               {"epochs", facts_.epochs},
               {"rows_per_second", runs::rounded(data_per_second())},
               {"test", classifier_json(test_results(), each())}};
  if (const auto validation = validation_results(); !validation.empty())
    summary["validation"] = classifier_json(validation, each());
  describe_weights(summary);
  if (repetition(0).error_before()) {
    std::vector<double> before;
    for (std::int64_t i = 0; i < count(); ++i) before.push_back(*repetition(i).error_before());
    summary["error_before"] = runs::rounded(runs::mean(before));
    summary["error_after"] = summary["test"]["error"]["mean"];
  }
  return summary;
}

void ClassifierRun::write_results(const RunDirectory& directory) {
  const auto curves_of = [](const auto& results) {
    return curves_json(runs::of_each(results, &ClassifierResult::curves));
  };
  const std::vector<ClassifierResult> test = test_results(), validation = validation_results();
  Json curves{{"test", curves_of(test)}, {"sample_errors", runs::of_each(test, &ClassifierResult::sample_errors)}},
      predictions{{"classes", facts_.classes}};
  if (!validation.empty()) curves["validation"] = curves_of(validation);
  for (std::int64_t i = 0; i < count(); ++i)
    predictions["seeds"].push_back(
        {{"seed", repetition(i).seed()},
         {"rows", predictions_json(repetition(i).test_rows(), outcomes_[static_cast<std::size_t>(i)].predicted)}});
  if (facts_.plane)
    if (const auto samples = repetition(0).plane_samples())
      predictions["plane"] = plane_json(*facts_.plane, samples->predictive());
  write_file_atomically(directory.file("curves.json"), curves.dump() + "\n");
  write_file_atomically(directory.file("predictions.json"), predictions.dump() + "\n");
}

std::string readable_classifier_summary(const Json& summary) {
  std::string lines = summary_head(summary);
  if (summary.contains("validation")) lines += part_lines(summary["validation"], "validation");
  lines += part_lines(summary["test"], "test");
  if (summary.contains("error_before"))
    lines +=
        runs::summary_line("  before training", runs::text(100 * summary["error_before"].get<double>(), "{:.2f} %"));
  return lines + summary_foot(summary, "rows_per_second", "rows/s");
}

}  // namespace stein::training
