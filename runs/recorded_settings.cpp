#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/run_kind.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

namespace stein::runs {
namespace {

/// Where a checkpoint holds the settings.
constexpr const char* settings_text = "settings";

/// What the run began with as `option`; nothing where nobody knows.
std::optional<std::string> first_value(const RunDirectory& directory, const std::string& option) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory.manifest(), ignored)) return std::nullopt;
  return first_setting(read_manifest(directory), option);
}

/// Says which of the two is not this run's, its file or its checkpoint. @param saved  the value in the checkpoint
[[noreturn]] void fail_changed(const Experiment& experiment, const Option& option, const std::string& saved,
                               const RunDirectory& directory) {
  const std::optional<std::string> first = first_value(directory, option.name);
  if (first == option.text())
    fail(ErrorKind::data,
         "the checkpoint in '{0}' is another run's: it has `{1} = {2}`, and the run in '{3}' began with `{1} = {4}`",
         directory.checkpoints().string(), option.name, saved, directory.root().string(), option.text());
  fail(ErrorKind::usage,
       "'{0}' was changed since the run began{1}: that has `{2} = {3}`, the file `{2} = {4}`; a resumed run may change "
       "its steps{6} and nothing else, start another with `stein {5} --config`",
       directory.config().string(), first == saved ? "" : ", or the checkpoint is another run's", option.name, saved,
       option.text(), experiment.kind().subcommand, experiment.options().contains("device") ? ", its device" : "");
}

}  // namespace

std::unique_ptr<Experiment> recorded_experiment(const RunDirectory& directory,
                                                const std::vector<std::pair<std::string, std::string>>& settings) {
  const RunKind& kind = kind_of(directory);
  OptionSources sources{.preset = read_manifest(directory).value("preset", ""),
                        .toml = read_file(directory.config()),
                        .toml_name = directory.config().string(),
                        .settings = {},
                        .data = {},
                        .of_run = true};
  try {
    std::unique_ptr<Experiment> made = kind.make(kind, sources);
    if (settings.empty()) return made;
  } catch (const Error& error) {  // what a run has written was right once
    fail(error.kind() == ErrorKind::usage ? ErrorKind::data : error.kind(), "{}", error.what());
  }
  sources.settings = settings;
  return kind.make(kind, sources);
}

void save_settings(const Experiment& experiment, Snapshot& state) {
  std::istringstream lines(to_toml(experiment.options()));
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (!experiment.may_change(line.substr(0, line.find(' ')))) kept += line + "\n";
  state.put_text(settings_text, kept);
}

void check_settings(const Experiment& experiment, const Snapshot& state, const RunDirectory& directory) {
  if (!state.contains(settings_text))
    fail(ErrorKind::data,
         "the checkpoint in '{}' says nothing of the settings of a run: it is not one that this run wrote",
         directory.checkpoints().string());
  const std::map<std::string, std::string> before = values_from_toml(
      state.get_text(settings_text), fmt::format("settings in the checkpoint of '{}'", directory.root().string()));
  const OptionTable& now = experiment.options();
  for (const auto& [key, value] : before)
    if (!now.contains(key))
      fail(ErrorKind::data,
           "the checkpoint in '{}' has `{} = {}`, an option that the run does not have: it is another run's or another "
           "version's, and cannot go on",
           directory.checkpoints().string(), key, value);
  for (const Option& option : now.options()) {
    if (experiment.may_change(option.name)) continue;
    const auto place = before.find(option.name);
    STEIN_CHECK(place != before.end() || option.older_value.has_value(),
                "the run in '{}' began before there was an option '{}', and no value is known that goes on with it",
                directory.root().string(), option.name);
    const std::string& value = place != before.end() ? place->second : *option.older_value;
    if (option.text() != value) fail_changed(experiment, option, value, directory);
  }
}

}  // namespace stein::runs
