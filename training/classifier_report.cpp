#include <stein/runs/measured.h>
#include <stein/runs/run_record.h>
#include <stein/training/classifier_report.h>
#include <stein/training/classifier_run.h>
#include <stein/training/network_summary.h>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace stein::training {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* report_script =
#include "classifier_report.js.inc"
    ;

std::size_t place_of_largest(const Json& values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

/// {rows, confidence, accuracy} of the bins of the largest probability in which there is a row, over all seeds.
Json reliability(const Json& predictions) {
  constexpr std::size_t bins = 15;
  struct Bin {
    std::int64_t rows = 0;
    double confidence = 0, right = 0;
  };
  std::vector<Bin> all(bins);
  for (const Json& seed : predictions.at("seeds"))
    for (const Json& row : seed.at("rows")) {
      const std::size_t predicted = place_of_largest(row.at("probabilities"));
      const double confidence = row.at("probabilities").at(predicted).get<double>();
      Bin& bin = all[std::min(bins - 1, static_cast<std::size_t>(confidence * bins))];
      ++bin.rows;
      bin.confidence += confidence;
      bin.right += predicted == row.at("label").get<std::size_t>();
    }
  Json list = Json::array();
  for (const Bin& bin : all)
    if (bin.rows > 0)
      list.push_back({{"rows", bin.rows},
                      {"confidence", runs::rounded(bin.confidence / static_cast<double>(bin.rows))},
                      {"accuracy", runs::rounded(bin.right / static_cast<double>(bin.rows))}});
  return list;
}

/// The first seed's rows for whose predicted class the samples disagree most.
Json ambiguous(const Json& predictions) {
  constexpr std::size_t most = 8;
  std::vector<const Json*> rows;
  for (const Json& row : predictions.at("seeds").at(0).at("rows")) rows.push_back(&row);
  const auto spread = [](const Json* row) {
    return -row->at("deviations").at(place_of_largest(row->at("probabilities"))).get<double>();
  };
  std::ranges::stable_sort(rows, {}, spread);
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i)
    if (spread(rows[i]) < 0) list.push_back(*rows[i]);
  return list;
}

constexpr std::size_t most_classes_shown = 30;

/// How many rows of each class (a list for each) were taken for which, over all seeds; nothing where classes are too
/// many.
Json confusion(const Json& predictions) {
  const std::size_t classes = predictions.at("classes").size();
  if (classes > most_classes_shown) return Json::array();
  std::vector<std::vector<std::int64_t>> counts(classes, std::vector<std::int64_t>(classes));
  for (const Json& seed : predictions.at("seeds"))
    for (const Json& row : seed.at("rows"))
      ++counts[row.at("label").get<std::size_t>()][place_of_largest(row.at("probabilities"))];
  return counts;
}

/// For each seed the share of each class's rows that was right; null where it has none.
Json class_accuracies(const Json& predictions) {
  const std::size_t classes = predictions.at("classes").size();
  Json seeds = Json::array();
  if (classes > most_classes_shown) return seeds;
  for (const Json& seed : predictions.at("seeds")) {
    std::vector<double> rows(classes), right(classes);
    for (const Json& row : seed.at("rows")) {
      const auto label = row.at("label").get<std::size_t>();
      ++rows[label];
      right[label] += place_of_largest(row.at("probabilities")) == label;
    }
    Json shares = Json::array();
    for (std::size_t c = 0; c < classes; ++c)
      shares.push_back(rows[c] > 0 ? Json(runs::rounded(right[c] / rows[c])) : Json(nullptr));
    seeds.push_back(std::move(shares));
  }
  return seeds;
}

/// @param path  of the scores in a summary: "/test", "/test/single_sample"
runs::SummaryColumn error_column(std::string heading, const std::string& path) {
  return {std::move(heading), [place = Json::json_pointer(path + "/error")](const Json& summary) {
            return summary.contains(place) ? error_text(summary.at(place)) : std::string();
          }};
}

}  // namespace

runs::ReportLayout classifier_report() {
  return {.script = report_script,
          .task = "data",
          .grouped_by = {"synthetic"},
          .needs = {"model", "sampler", "parameters", "epochs", "rows_per_second", "classes", "test"},
          .first_column = "model",
          .columns = {error_column("validation error", "/validation"),
                      error_column("test error", "/test"),
                      error_column("of one sample", "/test/single_sample"),
                      {"samples", [](const Json& s) { return runs::text(s["test"]["samples"], "{:.0f}"); }},
                      {"log-likelihood, nats",
                       [](const Json& s) { return runs::text(s["test"]["log_likelihood"], "{:.3f}"); }},
                      {"rows/s", [](const Json& s) { return runs::text(s["rows_per_second"], "{:.0f}"); }}},
          .label = network_label,
          .curve_parts = [](std::string_view) { return 0; },
          .data =
              [](const runs::RunRecord& record) {
                const Json predictions = record.json_file("predictions.json");
                if (predictions.is_null()) return Json::object();
                return Json{{"averages", record.json_file("curves.json")},
                            {"reliability", reliability(predictions)},
                            {"confusion", confusion(predictions)},
                            {"class_accuracies", class_accuracies(predictions)},
                            {"adversarial", record.json_file("adversarial.json")},
                            {"other", record.json_file("other.json")},
                            {"plane", predictions.value("plane", Json(nullptr))},
                            {"ambiguous", ambiguous(predictions)}};
              }};
}

}  // namespace stein::training
