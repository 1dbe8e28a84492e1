#include <stein/runs/measured.h>
#include <stein/runs/run_record.h>
#include <stein/supervised/regression/regression_report.h>
#include <stein/training/network_summary.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace stein::supervised {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* report_script =
#include "regression/report.js.inc"
    ;

/// F(target) of the rows of all seeds, ascending: on the diagonal where predictions are calibrated.
Json transforms(const Json& predictions) {
  std::vector<double> all;
  for (const Json& seed : predictions["seeds"])
    for (const Json& row : seed["rows"]) all.push_back(row["probability"].get<double>());
  std::ranges::sort(all);
  constexpr std::size_t most = 200;
  Json list = Json::array();
  const std::size_t count = std::min(most, all.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = (2 * i + 1) * all.size() / (2 * count);
    list.push_back({runs::rounded((static_cast<double>(place) + 0.5) / static_cast<double>(all.size())), all[place]});
  }
  return list;
}

/// Rows of the first seed, some at equal distances of many.
Json some_rows(const Json& predictions) {
  constexpr std::size_t most = 300;
  const Json& rows = predictions["seeds"][0]["rows"];
  Json list = Json::array();
  const std::size_t count = std::min(most, rows.size());
  for (std::size_t i = 0; i < count; ++i) list.push_back(rows[i * rows.size() / count]);
  return list;
}

runs::SummaryColumn measured_column(std::string heading, const std::string& path) {
  return {std::move(heading), [place = Json::json_pointer(path)](const Json& summary) {
            return summary.contains(place) ? runs::mean_and_deviation(summary.at(place), "{:.3f}") : std::string();
          }};
}

}  // namespace

runs::ReportLayout regression_report() {
  return {
      .script = report_script,
      .task = "data",
      .grouped_by = {"synthetic"},
      .needs = {"model", "sampler", "parameters", "epochs", "rows_per_second", "target", "inputs", "test"},
      .first_column = "model",
      .columns = {measured_column("validation RMSE", "/validation/rmse"),
                  measured_column("test RMSE", "/test/rmse"),
                  measured_column("log-likelihood, nats", "/test/log_likelihood"),
                  measured_column("of one sample", "/test/single_sample/rmse"),
                  {"samples", [](const Json& s) { return runs::text(s["test"]["samples"], "{:.0f}"); }},
                  {"in 90 % intervals",
                   [](const Json& s) { return fmt::format("{:.1f} %", 100 * runs::mean_of(s["test"]["coverage"])); }},
                  {"rows/s", [](const Json& s) { return runs::text(s["rows_per_second"], "{:.0f}"); }}},
      .label = training::network_label,
      .curve_parts = [](std::string_view) { return 0; },
      .data =
          [](const runs::RunRecord& record) {
            const Json predictions = record.json_file("predictions.json");
            if (predictions.is_null()) return Json::object();
            return Json{{"averages", record.json_file("curves.json")},
                        {"transforms", transforms(predictions)},
                        {"rows", some_rows(predictions)},
                        {"line", predictions["seeds"][0].value("line", Json::array())}};
          }};
}

}  // namespace stein::supervised
