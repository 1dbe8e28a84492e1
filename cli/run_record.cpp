#include "run_record.h"

#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/read_file.h>

#include <set>
#include <sstream>

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace nlohmann::literals;

Json read_json(const std::filesystem::path& path) {
  Json json = Json::parse(read_file(path), nullptr, false);
  if (json.is_discarded()) fail(ErrorKind::data, "'{}' is no JSON file", path.string());
  return json;
}

void read_metrics(const std::filesystem::path& path, RunRecord& record) {
  std::istringstream lines(read_file(path));
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    if (!entry.is_object() || !entry.contains("tag") || !entry.contains("step") || !entry.contains("value") ||
        !entry.contains("seed"))
      fail(ErrorKind::data, "'{}', line {}: expected tag, seed, step and value, found '{}'", path.string(), number,
           line);
    if (!entry["value"].is_number()) continue;
    record.metrics[entry["tag"].get<std::string>()][entry["step"].get<std::int64_t>()]
                  [entry["seed"].get<std::uint64_t>()] = entry["value"].get<double>();
  }
}

/// Name and value of every option of the environment.
std::map<std::string, std::string> environment_options(const RunRecord& record) {
  return record.manifest.value("/protocol/env_options"_json_pointer, std::map<std::string, std::string>());
}

/// Throws Error(data) unless the summary has what a report of its kind needs.
void check_summary(const RunRecord& record, const RunDirectory& directory) {
  static const std::vector<const char*> of_bandit{"policy",         "env",
                                                  "data",           "steps",
                                                  "seeds",          "regret",
                                                  "uniform_regret", "regret_percent_of_uniform",
                                                  "lock_in_share",  "decisions_per_second"};
  static const std::vector<const char*> of_control{
      "agent",           "posterior",      "env",       "steps",     "seeds",
      "return",          "return_sampled", "particles", "threshold", "steps_to_threshold",
      "steps_per_second"};
  const bool control = record.kind == RunKind::control;
  for (const char* key : control ? of_control : of_bandit)
    if (!record.summary.contains(key))
      fail(ErrorKind::data, "'{}' has no '{}': it is not the summary of a {} run", directory.summary().string(), key,
           control ? "control" : "bandit");
}

std::string label_of(const RunRecord& record) {
  if (record.kind == RunKind::bandit) return record.summary["policy"].get<std::string>();
  const std::string posterior = record.summary["posterior"].get<std::string>();
  return record.summary["agent"].get<std::string>() + (posterior == "none" ? "" : "-" + posterior);
}

}  // namespace

RunRecord read_run(const RunDirectory& directory) {
  std::error_code ignored;
  if (std::filesystem::exists(directory.divergence(), ignored))
    fail(ErrorKind::data, "the run in '{}' diverged and has no result: {}", directory.root().string(),
         read_file(directory.divergence()));
  if (!std::filesystem::exists(directory.summary(), ignored))
    fail(ErrorKind::data, "the run in '{0}' is not finished: `stein resume {0}` goes on with it",
         directory.root().string());
  RunRecord record;
  record.summary = read_json(directory.summary());
  record.manifest = read_json(directory.manifest());
  record.config = read_file(directory.config());
  record.kind = record.manifest.value("command", "") == "rl" ? RunKind::control : RunKind::bandit;
  check_summary(record, directory);
  record.task = record.summary["env"].get<std::string>();
  record.label = label_of(record);
  read_metrics(directory.metrics(), record);
  if (std::filesystem::exists(directory.posteriors(), ignored)) record.posteriors = read_json(directory.posteriors());
  if (std::filesystem::exists(directory.visits(), ignored)) record.visits = read_json(directory.visits());
  if (std::filesystem::exists(directory.episode(), ignored)) record.episode = read_file(directory.episode());
  return record;
}

void label_apart(std::vector<RunRecord>& records) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> values;  // of every option of every environment
  for (const RunRecord& record : records)
    for (const auto& [option, value] : environment_options(record)) values[{record.task, option}].insert(value);
  std::map<std::pair<std::string, std::string>, int> count;
  for (RunRecord& record : records) {
    std::vector<std::string> differing;
    for (const auto& [option, value] : environment_options(record))
      if (values[{record.task, option}].size() > 1) differing.push_back(fmt::format("{}={}", option, value));
    if (!differing.empty()) record.task += fmt::format(" ({})", fmt::join(differing, ", "));
    ++count[{record.task, record.label}];
  }
  for (RunRecord& record : records) {
    if (count[{record.task, record.label}] == 1) continue;
    const std::filesystem::path root = record.summary.value("run_directory", "");
    record.label = fmt::format("{} ({})", record.label, root.filename().string());
  }
}

}  // namespace stein::cli
