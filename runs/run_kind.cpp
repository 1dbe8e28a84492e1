#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/nearest_name.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/result_checksums.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <iterator>

namespace stein::runs {
namespace {

/// Says what the options name that no kind of the subcommand knows.
[[noreturn]] void fail_unrecognised(std::string_view subcommand, const std::vector<const RunKind*>& kinds,
                                    const OptionSources& sources) {
  std::vector<std::string> names, data_names, presets;
  for (const RunKind* kind : kinds) {
    names.push_back(kind->name);
    if (kind->data_names) std::ranges::copy(kind->data_names(), std::back_inserter(data_names));
    for (const Part& part : kind->parts())
      for (const Preset& preset : part.presets) presets.push_back(preset.name);
  }
  if (!sources.preset.empty() && std::ranges::find(presets, sources.preset) == presets.end())
    fail(ErrorKind::usage, "`stein {}` has no preset '{}'.{}", subcommand, sources.preset,
         suggestion(sources.preset, presets));
  if (const std::string data = sources.look_ahead("data", ""); !data.empty() && !data_names.empty())
    fail(ErrorKind::usage, "`stein {}` knows no data '{}', and there is no such file.{}", subcommand, data,
         suggestion(data, data_names));
  fail(ErrorKind::usage, "`stein {}` starts runs of the kinds {}, and these options are of none of them", subcommand,
       fmt::join(names, ", "));
}

}  // namespace

Registry<RunKind>& run_kinds() {
  static Registry<RunKind> registry("kind of run");
  return registry;
}

std::vector<std::string> RunKind::files() const {
  std::vector<std::string> all = log_files;
  all.insert(all.end(), result_files.begin(), result_files.end());
  all.emplace_back(checksums_file);
  return all;
}

bool register_run_kind(RunKind kind) {
  STEIN_CHECK(!kind.name.empty() && !kind.subcommand.empty() && !kind.unit.empty(),
              "a kind of run needs a name, a subcommand and a unit, got '{}', '{}' and '{}'", kind.name,
              kind.subcommand, kind.unit);
  STEIN_CHECK(kind.make && kind.parts && kind.readable, "the kind of run '{}' needs make, parts and readable",
              kind.name);
  STEIN_CHECK(kind.report.label && !kind.report.script.empty() && !kind.report.columns.empty(),
              "the report of the kind of run '{}' needs a script, a label and columns", kind.name);
  std::string name = kind.name;
  return run_kinds().add(std::move(name), std::move(kind));
}

std::vector<const RunKind*> kinds_of(std::string_view subcommand) {
  std::vector<const RunKind*> kinds;
  for (const auto& [name, kind] : run_kinds().entries())
    if (kind.subcommand == subcommand) kinds.push_back(&kind);
  return kinds;
}

const RunKind& kind_of(std::string_view subcommand, const OptionSources& sources) {
  const std::vector<const RunKind*> kinds = kinds_of(subcommand);
  STEIN_CHECK(!kinds.empty(), "there is no subcommand '{}' that starts runs", subcommand);
  if (kinds.size() == 1) return *kinds.front();
  for (const RunKind* kind : kinds)
    if (kind->recognises && kind->recognises(sources)) return *kind;
  fail_unrecognised(subcommand, kinds, sources);
}

const RunKind& kind_of(const RunDirectory& directory) {
  const nlohmann::ordered_json manifest = read_manifest(directory);
  std::string name = manifest.value("kind", "");
  if (name.empty()) name = manifest.value("command", "");  // before kinds had names of their own
  const auto place = run_kinds().entries().find(name);
  if (place != run_kinds().entries().end()) return place->second;
  fail(ErrorKind::data, "'{}' is the manifest of a run of kind '{}'; this program knows {}",
       directory.manifest().string(), name, fmt::join(run_kinds().names(), ", "));
}

std::vector<std::string> all_files() {
  std::vector<std::string> all;
  for (const auto& [name, kind] : run_kinds().entries())
    for (const std::string& file : kind.files()) all.push_back(file);
  return all;
}

}  // namespace stein::runs
