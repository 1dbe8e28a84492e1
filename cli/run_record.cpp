#include "run_record.h"

#include <stein/core/error.h>
#include <stein/core/read_file.h>

#include <sstream>

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

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
    if (!entry.is_object() || !entry.contains("tag") || !entry.contains("step") || !entry.contains("value"))
      fail(ErrorKind::data, "'{}', line {}: expected tag, seed, step and value, found '{}'", path.string(), number,
           line);
    if (!entry["value"].is_number()) continue;
    record.metrics[entry["tag"].get<std::string>()][entry["step"].get<std::int64_t>()].push_back(
        entry["value"].get<double>());
  }
}

}  // namespace

RunRecord read_run(const RunDirectory& directory) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory.summary(), ignored))
    fail(ErrorKind::data, "the run in '{0}' is not finished: `stein resume {0}` goes on with it",
         directory.root().string());
  RunRecord record;
  record.summary = read_json(directory.summary());
  record.manifest = read_json(directory.manifest());
  record.config = read_file(directory.config());
  for (const char* key : {"policy", "env", "data", "steps", "seeds", "regret", "uniform_regret",
                          "regret_percent_of_uniform", "lock_in_share", "decisions_per_second"})
    if (!record.summary.contains(key))
      fail(ErrorKind::data, "'{}' has no '{}': it is not the summary of a bandit run", directory.summary().string(),
           key);
  record.label = record.summary["policy"].get<std::string>();
  read_metrics(directory.metrics(), record);
  if (std::filesystem::exists(directory.posteriors(), ignored)) record.posteriors = read_json(directory.posteriors());
  return record;
}

void label_apart(std::vector<RunRecord>& records) {
  std::map<std::pair<std::string, std::string>, int> count;
  const auto key = [](const RunRecord& record) {
    return std::pair(record.summary["env"].get<std::string>(), record.summary["policy"].get<std::string>());
  };
  for (const RunRecord& record : records) ++count[key(record)];
  for (RunRecord& record : records) {
    if (count[key(record)] == 1) continue;
    const std::filesystem::path root = record.summary.value("run_directory", "");
    record.label = fmt::format("{} ({})", record.label, root.filename().string());
  }
}

}  // namespace stein::cli
