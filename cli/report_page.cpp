#include "report_page.h"

#include <stein/agents/seed_statistics.h>
#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/core/version.h>

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

/// Values of single interactions jump about: their means over sixtieths of the run can be read.
std::map<std::int64_t, std::vector<double>> smoothed(const std::map<std::int64_t, std::vector<double>>& values) {
  constexpr std::int64_t parts = 60;
  if (values.empty()) return {};
  const std::int64_t width = std::max<std::int64_t>(1, values.rbegin()->first / parts);
  std::map<std::int64_t, std::vector<double>> means;
  std::int64_t before = 0, weight = 0;
  std::vector<double> sum;
  for (const auto& [step, over_seeds] : values) {
    sum.resize(std::max(sum.size(), over_seeds.size()));
    // A record is the mean over the interactions since the one before it.
    for (std::size_t i = 0; i < over_seeds.size(); ++i) sum[i] += over_seeds[i] * static_cast<double>(step - before);
    weight += step - before;
    before = step;
    if (weight < width && step != values.rbegin()->first) continue;
    for (double& value : sum) value /= static_cast<double>(weight);
    means[step] = std::exchange(sum, {});
    weight = 0;
  }
  return means;
}

/// Median and quartiles over seeds at every recorded step.
Json curve(const std::map<std::int64_t, std::vector<double>>& values) {
  Json steps = Json::array(), median = Json::array(), low = Json::array(), high = Json::array();
  for (const auto& [step, over_seeds] : values) {
    steps.push_back(step);
    median.push_back(rounded(agents::quantile(over_seeds, 0.5)));
    low.push_back(rounded(agents::quantile(over_seeds, 0.25)));
    high.push_back(rounded(agents::quantile(over_seeds, 0.75)));
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
  for (const auto& [tag, values] : record.metrics)
    curves[tag] = curve(tag == "propensity_entropy" ? smoothed(values) : values);
  return {{"label", record.label},   {"summary", record.summary}, {"manifest", record.manifest},
          {"config", record.config}, {"curves", curves},          {"posteriors", first_posteriors(record.posteriors)}};
}

/// Runs of one bandit and one length, groups in the order in which they were given.
Json group_alike(const std::vector<RunRecord>& records) {
  Json groups = Json::array();
  for (const RunRecord& record : records) {
    const Json& steps = record.summary["steps"];
    auto place = std::find_if(groups.begin(), groups.end(), [&](const Json& group) {
      return group["bandit"] == record.bandit && group["steps"] == steps;
    });
    if (place == groups.end()) {
      groups.push_back({{"bandit", record.bandit},
                        {"steps", steps},
                        {"env", record.summary["env"]},
                        {"data", record.summary["data"]},
                        {"source", record.summary.value("source", "")},
                        {"arm_names", record.summary.value("arm_names", Json::array())},
                        {"runs", Json::array()}});
      place = groups.end() - 1;
    }
    (*place)["runs"].push_back(describe(record));
  }
  return groups;
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
  fill(page, "/* page */", inside_script(read_part(folder, "page.js")));
  fill(page, "/* plotly */", read_part(folder, "plotly.min.js"));
  return page;
}

}  // namespace stein::cli
