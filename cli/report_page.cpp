#include "report_page.h"

#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/core/version.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace stein::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Six digits are more than a picture can show.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

/// step → values over seeds, in seed order.
using OverSeeds = std::map<std::int64_t, std::vector<double>>;
using Metric = std::map<std::int64_t, std::map<std::uint64_t, double>>;

OverSeeds over_seeds(const Metric& metric) {
  OverSeeds values;
  for (const auto& [step, of_seed] : metric)
    for (const auto& [seed, value] : of_seed) values[step].push_back(value);
  return values;
}

/// Values of single interactions jump about: their means over sixtieths of the run can be read.
OverSeeds smoothed(const OverSeeds& values) {
  constexpr std::int64_t parts = 60;
  if (values.empty()) return {};
  const std::int64_t width = std::max<std::int64_t>(1, values.rbegin()->first / parts);
  OverSeeds means;
  std::int64_t before = 0, weight = 0;
  std::vector<double> sum;
  for (const auto& [step, of_seed] : values) {
    sum.resize(std::max(sum.size(), of_seed.size()));
    // A record is the mean over the interactions since the one before it.
    for (std::size_t i = 0; i < of_seed.size(); ++i) sum[i] += of_seed[i] * static_cast<double>(step - before);
    weight += step - before;
    before = step;
    if (weight < width && step != values.rbegin()->first) continue;
    for (double& value : sum) value /= static_cast<double>(weight);
    means[step] = std::exchange(sum, {});
    weight = 0;
  }
  return means;
}

/// Seeds of a control run finish episodes at different times: every seed's mean over a part of the run, or what it had
/// before where it recorded nothing in it.
OverSeeds in_parts(const Metric& metric, std::int64_t parts) {
  if (metric.empty()) return {};
  const std::int64_t width = std::max<std::int64_t>(1, metric.rbegin()->first / parts);
  std::map<std::int64_t, std::map<std::uint64_t, std::pair<double, double>>> sums;  // end of part → seed → sum, count
  for (const auto& [step, of_seed] : metric)
    for (const auto& [seed, value] : of_seed) {
      auto& [sum, count] = sums[std::min((step + width - 1) / width * width, metric.rbegin()->first)][seed];
      sum += value, count += 1;
    }
  std::map<std::uint64_t, double> latest;
  OverSeeds means;
  for (const auto& [end, of_seed] : sums) {
    for (const auto& [seed, sum] : of_seed) latest[seed] = sum.first / sum.second;
    for (const auto& [seed, value] : latest) means[end].push_back(value);
  }
  return means;
}

OverSeeds shown_values(const RunRecord& record, const std::string& tag) {
  const Metric& metric = record.metrics.at(tag);
  if (record.kind == RunKind::control) return in_parts(metric, 120);
  return tag == "propensity_entropy" ? smoothed(over_seeds(metric)) : over_seeds(metric);
}

/// Median and quartiles over seeds at every recorded step.
Json curve(const OverSeeds& values) {
  Json steps = Json::array(), median = Json::array(), low = Json::array(), high = Json::array();
  for (const auto& [step, of_seed] : values) {
    steps.push_back(step);
    median.push_back(rounded(agents::quantile(of_seed, 0.5)));
    low.push_back(rounded(agents::quantile(of_seed, 0.25)));
    high.push_back(rounded(agents::quantile(of_seed, 0.75)));
  }
  return {{"step", steps}, {"median", median}, {"low", low}, {"high", high}};
}

/// Of every probe, what the first seed came to: {seed, expected_rewards, arms: one list of samples an arm}. The seeds'
/// posteriors are different ones: together they would show the spread between seeds as that of a posterior.
Json first_posteriors(const Json& posteriors) {
  Json first = Json::object();
  for (const Json& entry : posteriors) {
    if (entry["seed"] != posteriors[0]["seed"]) continue;
    Json arms = Json::array();
    for (const Json& sample : entry["samples"])
      for (std::size_t arm = 0; arm < sample.size(); ++arm) arms[arm].push_back(rounded(sample[arm].get<double>()));
    first[entry["probe"].get<std::string>()] = {
        {"seed", entry["seed"]}, {"expected_rewards", entry["expected_rewards"]}, {"arms", arms}};
  }
  return first;
}

Json describe(const RunRecord& record) {
  Json curves = Json::object();
  for (const auto& [tag, values] : record.metrics) curves[tag] = curve(shown_values(record, tag));
  Json run{{"label", record.label},
           {"summary", record.summary},
           {"manifest", record.manifest},
           {"config", record.config},
           {"curves", curves}};
  if (record.kind == RunKind::bandit) {
    run["posteriors"] = first_posteriors(record.posteriors);
  } else {
    run["visits"] = record.visits;
    run["episode"] = record.episode;
  }
  return run;
}

/// A group without runs: of one bandit and one length, or of one control task.
Json group_of(const RunRecord& record) {
  const Json& summary = record.summary;
  if (record.kind == RunKind::control)
    return {{"kind", "control"},
            {"task", record.task},
            {"env", summary["env"]},
            {"env_version", summary.value("env_version", 0)},
            {"source", summary.value("source", "")}};
  return {{"kind", "bandit"},
          {"bandit", record.task},
          {"steps", summary["steps"]},
          {"env", summary["env"]},
          {"data", summary["data"]},
          {"source", summary.value("source", "")},
          {"arm_names", summary.value("arm_names", Json::array())}};
}

/// Runs that can be compared, groups in the order in which they were given.
Json group_alike(const std::vector<RunRecord>& records) {
  std::vector<std::pair<Json, Json>> groups;  // and their runs
  for (const RunRecord& record : records) {
    const Json group = group_of(record);
    auto place = std::ranges::find(groups, group, &std::pair<Json, Json>::first);
    if (place == groups.end()) place = groups.emplace(place, group, Json::array());
    place->second.push_back(describe(record));
  }
  Json list = Json::array();
  for (auto& [group, runs] : groups) {
    list.push_back(std::move(group));
    list.back()["runs"] = std::move(runs);
  }
  return list;
}

/// share/stein/report in the build folder, or beside the folder of an installed program.
fs::path page_folder() {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& base : {program, program.parent_path()}) {
    fs::path folder = base / "share" / "stein" / "report";
    std::error_code ignored;
    if (fs::exists(folder / "page.html", ignored)) return folder;
  }
  fail(ErrorKind::io, "the parts of the report page were expected in share/stein/report beside '{}'", program.string());
}

std::string read_part(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  if (!fs::exists(folder / name, ignored))
    fail(ErrorKind::io, "'{}' is missing: run scripts/setup and build again", (folder / name).string());
  return read_file(folder / name);
}

/// What stands inside a <script> must not end it.
std::string inside_script(std::string text) {
  for (std::size_t place = 0; (place = text.find("</", place)) != std::string::npos; place += 3)
    text.replace(place, 2, "<\\/");
  return text;
}

void fill(std::string& page, const std::string& mark, const std::string& content) {
  const std::size_t place = page.find(mark);
  if (place == std::string::npos) fail(ErrorKind::io, "the report page has no place for {}", mark);
  page.replace(place, mark.size(), content);
}

}  // namespace

std::string make_report_page(const std::vector<RunRecord>& records) {
  const fs::path folder = page_folder();
  const Json data{{"version", version()}, {"commit", commit()}, {"groups", group_alike(records)}};
  std::string page = read_part(folder, "page.html");
  fill(page, "/* style */", read_part(folder, "page.css"));
  fill(page, "{} /* data */", inside_script(data.dump()));
  fill(page, "/* bandit */", inside_script(read_part(folder, "bandit.js")));
  fill(page, "/* control */", inside_script(read_part(folder, "control.js")));
  fill(page, "/* page */", inside_script(read_part(folder, "page.js")));
  fill(page, "/* plotly */", read_part(folder, "plotly.min.js"));
  return page;
}

}  // namespace stein::cli
