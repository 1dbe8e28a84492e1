#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/core/version.h>
#include <stein/runs/measured.h>
#include <stein/runs/paired_differences.h>
#include <stein/runs/report_page.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <utility>

namespace stein::runs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// step → values over seeds, in seed order.
using OverSeeds = std::map<std::int64_t, std::vector<double>>;
using Metric = std::map<std::int64_t, std::map<std::uint64_t, double>>;

OverSeeds over_seeds(const Metric& metric) {
  OverSeeds values;
  for (const auto& [step, of_seed] : metric)
    for (const auto& [seed, value] : of_seed) values[step].push_back(value);
  return values;
}

/// Every seed's mean over each part of the run, a record standing for the steps since the seed's last one; where a seed
/// recorded nothing in a part, what it had before. Seeds may record at different steps.
OverSeeds in_parts(const Metric& metric, std::int64_t parts) {
  struct Sum {
    double value = 0, weight = 0;
  };
  if (metric.empty()) return {};
  const std::int64_t last = metric.rbegin()->first, width = std::max<std::int64_t>(1, last / parts);
  std::map<std::int64_t, std::map<std::uint64_t, Sum>> sums;  // end of part → seed
  std::map<std::uint64_t, std::int64_t> before;
  for (const auto& [step, of_seed] : metric)
    for (const auto& [seed, value] : of_seed) {
      const auto weight = static_cast<double>(std::max<std::int64_t>(1, step - before[seed]));
      Sum& sum = sums[std::min((step + width - 1) / width * width, last)][seed];
      sum.value += value * weight, sum.weight += weight;
      before[seed] = step;
    }
  std::map<std::uint64_t, double> latest;
  OverSeeds means;
  for (const auto& [end, of_seed] : sums) {
    for (const auto& [seed, sum] : of_seed) latest[seed] = sum.value / sum.weight;
    for (const auto& [seed, value] : latest) means[end].push_back(value);
  }
  return means;
}

OverSeeds shown_values(const RunRecord& record, const std::string& tag) {
  const Metric& metric = record.metrics.at(tag);
  const auto& curve_parts = record.kind->report.curve_parts;
  const std::int64_t parts = curve_parts ? curve_parts(tag) : 0;
  return parts > 0 ? in_parts(metric, parts) : over_seeds(metric);
}

/// Median and quartiles over seeds at every recorded step.
Json curve(const OverSeeds& values) {
  Json steps = Json::array(), median = Json::array(), low = Json::array(), high = Json::array();
  for (const auto& [step, of_seed] : values) {
    steps.push_back(step);
    median.push_back(rounded(quantile(of_seed, 0.5)));
    low.push_back(rounded(quantile(of_seed, 0.25)));
    high.push_back(rounded(quantile(of_seed, 0.75)));
  }
  return {{"step", steps}, {"median", median}, {"low", low}, {"high", high}};
}

Json describe(const RunRecord& record) {
  Json curves = Json::object();
  for (const auto& [tag, values] : record.metrics) curves[tag] = curve(shown_values(record, tag));
  Json run{{"label", record.label},
           {"summary", record.summary},
           {"manifest", record.manifest},
           {"config", record.config},
           {"curves", curves}};
  if (!record.unfinished.empty()) {
    run["unfinished"] = record.unfinished;
    return run;
  }
  if (!record.kind->report.data) return run;
  try {
    run.update(record.kind->report.data(record));
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "a result file of the run in '{}' is not as it was written: {}", record.directory.string(),
         error.what());
  }
  return run;
}

using Runs = std::vector<std::reference_wrapper<const RunRecord>>;

/// {list, left_out}: what `paired_differences` tells of these; of more pairs than a figure shows, since a kind may ask
/// of any two runs whether they are told apart.
Json differences_of(const Runs& runs) {
  constexpr std::size_t most_pairs = 1'000;  // of 45 runs all, in about half a megabyte
  const PairedDifferences differences = paired_differences(runs, most_pairs);
  Json list = Json::array();
  for (const PairedDifference& difference : differences.list) list.push_back(difference.to_json());
  return {{"list", list}, {"left_out", differences.left_out}};
}

/// Runs that can be compared, groups in the order in which they were given.
Json group_alike(const std::vector<RunRecord>& records) {
  std::vector<std::pair<Json, Runs>> groups;
  for (const RunRecord& record : records) {
    const Json group = group_of(record);
    auto place = std::ranges::find(groups, group, &std::pair<Json, Runs>::first);
    if (place == groups.end()) place = groups.emplace(place, group, Runs());
    place->second.emplace_back(record);
  }
  Json list = Json::array();
  for (const auto& [group, runs] : groups) {
    Json described = group;
    described["runs"] = Json::array();
    for (const RunRecord& record : runs) described["runs"].push_back(describe(record));
    described["differences"] =
        group.contains("unfinished") ? Json{{"list", Json::array()}, {"left_out", 0}} : differences_of(runs);
    list.push_back(std::move(described));
  }
  return list;
}

/// Where the parts of the page lie.
fs::path page_folder() {
  fs::path folder = share_folder("report");
  std::error_code ignored;
  if (fs::exists(folder / "page.html", ignored)) return folder;
  fail(ErrorKind::io, "the parts of the report page were expected in '{}'", folder.string());
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

/// The scripts of the kinds that there are runs of, by the kinds' names.
std::string scripts_of(const std::vector<RunRecord>& records) {
  std::map<std::string, std::string> scripts;
  for (const RunRecord& record : records) scripts[record.kind->name] = record.kind->report.script;
  std::string text = "{\n";
  for (const auto& [name, script] : scripts) text += fmt::format("{}:\n{},\n", Json(name).dump(), script);
  return text + "}";
}

}  // namespace

std::string make_report_page(const std::vector<RunRecord>& records) {
  const fs::path folder = page_folder();
  const Json data{{"version", version()}, {"commit", commit()}, {"groups", group_alike(records)}};
  std::string page = read_part(folder, "page.html");
  fill(page, "/* style */", read_part(folder, "page.css"));
  fill(page, "{} /* data */", inside_script(data.dump()));
  fill(page, "{} /* kinds */", inside_script(scripts_of(records)));
  fill(page, "/* page */", inside_script(read_part(folder, "page.js")));
  fill(page, "/* plotly */", read_part(folder, "plotly.min.js"));
  return page;
}

}  // namespace stein::runs
