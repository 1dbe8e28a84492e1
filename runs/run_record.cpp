#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/runs/json_file.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/result_checksums.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/run_record.h>

#include <set>
#include <sstream>

namespace stein::runs {
namespace {

using Json = nlohmann::ordered_json;

/// A file that the run wrote. Throws Error(data) if it was changed since.
std::string read_result(const RunDirectory& directory, const std::filesystem::path& path) {
  std::string content = read_file(path);
  check_result(directory, path.filename().string(), content);
  return content;
}

void read_metrics(const RunDirectory& directory, const std::string& content, RunRecord& record) {
  std::istringstream lines(content);
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    const auto is = [&](const char* key, bool (nlohmann::json::*type)() const noexcept) {
      return entry.contains(key) && (entry[key].*type)();
    };
    if (!entry.is_object() || !is("tag", &nlohmann::json::is_string) ||
        !is("step", &nlohmann::json::is_number_integer) || !is("seed", &nlohmann::json::is_number_integer) ||
        !entry.contains("value"))
      fail(ErrorKind::data, "'{}', line {}: expected tag, seed, step and value, found '{}'",
           directory.metrics().string(), number, line);
    if (!entry["value"].is_number()) continue;
    record.metrics[entry["tag"].get<std::string>()][entry["step"].get<std::int64_t>()]
                  [entry["seed"].get<std::uint64_t>()] = entry["value"].get<double>();
  }
}

/// Name and value of every option of the task.
std::map<std::string, std::string> task_options(const RunRecord& record) {
  const Json protocol = record.manifest.value("protocol", Json::object());
  return protocol.value(record.kind->report.task_options, std::map<std::string, std::string>());
}

std::string task_of(const RunRecord& record) {
  return record.summary.at(record.kind->report.task).get<std::string>();
}

/// Throws Error(data) unless the summary has what a report of its kind needs, in the shape that it needs.
void check_summary(const RunRecord& record, const RunDirectory& directory) {
  const ReportLayout& report = record.kind->report;
  std::vector<std::string> needed{report.task, "steps", "seeds"};
  needed.insert(needed.end(), report.needs.begin(), report.needs.end());
  for (const std::string& key : needed)
    if (!record.summary.contains(key))
      fail(ErrorKind::data, "'{}' has no '{}': it is not the summary of a {} run", directory.summary().string(), key,
           record.kind->name);
  try {
    static_cast<void>(task_of(record));
    static_cast<void>(record.summary["seeds"].get<std::vector<std::uint64_t>>());
    static_cast<void>(record.summary["steps"].get<std::int64_t>());
    static_cast<void>(report.label(record.summary));
    for (const SummaryColumn& column : report.columns) static_cast<void>(column.text(record.summary));
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "'{}' is not the summary of a {} run: {}", directory.summary().string(), record.kind->name,
         error.what());
  }
}

/// Why a run has no result, and what to do; empty where it has one.
std::string why_unfinished(const RunDirectory& directory) {
  std::error_code ignored;
  if (std::filesystem::exists(directory.divergence(), ignored)) {
    const std::string where = read_file(directory.divergence());
    return fmt::format("the run in '{}' diverged and has no result: {}", directory.root().string(),
                       where.substr(0, where.find_last_not_of('\n') + 1));
  }
  if (std::filesystem::exists(directory.summary(), ignored)) return "";
  return fmt::format(
      "the run in '{0}' is not finished: `stein resume {0}` goes on with it, where no other process does",
      directory.root().string());
}

/// Of any run.
RunRecord begin_record(const RunDirectory& directory) {
  RunRecord record;
  record.kind = &kind_of(directory);
  record.manifest = read_manifest(directory);
  record.config = read_file(directory.config());
  record.directory = directory.root().has_filename() ? directory.root() : directory.root().parent_path();
  return record;
}

/// The last part of every record's directory, or all of it where two are called alike.
std::map<std::filesystem::path, std::string> names_of_directories(const std::vector<RunRecord>& records) {
  std::map<std::string, std::set<std::filesystem::path>> called;
  for (const RunRecord& record : records) called[record.directory.filename().string()].insert(record.directory);
  std::map<std::filesystem::path, std::string> names;
  for (const auto& [name, paths] : called)
    for (const std::filesystem::path& path : paths) names[path] = paths.size() == 1 ? name : path.string();
  return names;
}

}  // namespace

Json RunRecord::json_file(const std::string& name) const {
  const auto place = files.find(name);
  if (place == files.end()) return nullptr;
  Json json = Json::parse(place->second, nullptr, false);
  if (json.is_discarded()) fail(ErrorKind::data, "'{}' of the run in '{}' is no JSON file", name, directory.string());
  return json;
}

RunRecord read_run(const RunDirectory& directory) {
  if (const std::string why = why_unfinished(directory); !why.empty()) fail(ErrorKind::data, "{}", why);
  RunRecord record = begin_record(directory);
  record.summary = read_json_object(directory.summary());
  check_summary(record, directory);
  record.task = task_of(record);
  record.label = record.kind->report.label(record.summary);
  read_metrics(directory, read_result(directory, directory.metrics()), record);
  std::error_code ignored;
  for (const std::string& name : record.kind->result_files)
    if (std::filesystem::exists(directory.file(name), ignored))
      record.files[name] = read_result(directory, directory.file(name));
  return record;
}

RunRecord read_run_so_far(const RunDirectory& directory) {
  const std::string why = why_unfinished(directory);
  if (why.empty()) return read_run(directory);
  RunRecord record = begin_record(directory);
  record.unfinished = why;
  std::error_code ignored;
  if (std::filesystem::exists(directory.metrics(), ignored)) {
    // Of a run that is under way the last line may be half there.
    const std::string content = read_file(directory.metrics());
    read_metrics(directory, content.substr(0, content.rfind('\n') + 1), record);
  }
  std::int64_t steps = 0;
  std::set<std::uint64_t> seeds;
  for (const auto& [tag, of_step] : record.metrics)
    for (const auto& [step, of_seed] : of_step) {
      steps = std::max(steps, step);
      for (const auto& [seed, value] : of_seed) seeds.insert(seed);
    }
  const std::string& task = record.kind->report.task;
  record.summary = {
      {task, first_setting(record.manifest, task).value_or(record.kind->name)}, {"steps", steps}, {"seeds", seeds}};
  record.task = task_of(record);
  record.label = record.directory.filename().string();
  return record;
}

Json group_of(const RunRecord& record) {
  Json group{{"kind", record.kind->name}, {"task", record.task}};
  if (!record.unfinished.empty()) {
    group["unit"] = record.kind->unit;
    group["unfinished"] = true;
    return group;
  }
  for (const std::string& key : record.kind->report.grouped_by) group[key] = record.summary.value(key, Json(nullptr));
  return group;
}

void label_apart(std::vector<RunRecord>& records) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> values;  // of every option of every task
  for (RunRecord& record : records) record.task = task_of(record);
  for (const RunRecord& record : records)
    for (const auto& [option, value] : task_options(record)) values[{record.task, option}].insert(value);
  std::map<std::pair<std::string, std::string>, int> count;
  for (RunRecord& record : records) {
    std::vector<std::string> differing;
    for (const auto& [option, value] : task_options(record))
      if (values[{record.task, option}].size() > 1) differing.push_back(fmt::format("{}={}", option, value));
    if (!differing.empty()) record.task += fmt::format(" ({})", fmt::join(differing, ", "));
    ++count[{record.task, record.label}];
  }
  const std::map<std::filesystem::path, std::string> names = names_of_directories(records);
  for (RunRecord& record : records) {
    if (count[{record.task, record.label}] == 1) continue;
    record.label = fmt::format("{} ({})", record.label, names.at(record.directory));
  }
}

}  // namespace stein::runs
