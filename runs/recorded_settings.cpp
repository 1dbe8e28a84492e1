#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/run_kind.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace stein::runs {
namespace {

/// Where a checkpoint holds the settings.
constexpr const char* settings_text = "settings";

bool may_change(const std::string& option) {
  return option == "steps";
}

}  // namespace

std::unique_ptr<Experiment> recorded_experiment(const RunDirectory& directory,
                                                const std::vector<std::pair<std::string, std::string>>& settings) {
  const RunKind& kind = kind_of(directory);
  return kind.make(kind, {.preset = read_manifest(directory).value("preset", ""),
                          .toml = read_file(directory.config()),
                          .toml_name = directory.config().string(),
                          .settings = settings,
                          .data = {},
                          .of_run = true});
}

void save_settings(const Experiment& experiment, Snapshot& state) {
  std::istringstream lines(to_toml(experiment.options()));
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (!may_change(line.substr(0, line.find(' ')))) kept += line + "\n";
  state.put_text(settings_text, kept);
}

void check_settings(const Experiment& experiment, const Snapshot& state, const RunDirectory& directory) {
  const std::string name = directory.config().string();
  const std::map<std::string, std::string> before = values_from_toml(
      state.get_text(settings_text), fmt::format("settings in the checkpoint of '{}'", directory.root().string()));
  const OptionTable& now = experiment.options();
  for (const auto& [key, value] : before)
    STEIN_CHECK(
        now.contains(key),
        "the checkpoint of the run in '{}' has `{} = {}`, an option that such a run does not have: it is another "
        "run's or another version's, and cannot go on",
        directory.root().string(), key, value);
  for (const Option& option : now.options()) {
    if (may_change(option.name)) continue;
    const auto place = before.find(option.name);
    STEIN_CHECK(place != before.end() || option.older_value.has_value(),
                "the run in '{}' began before there was an option '{}', and no value is known that goes on with it",
                directory.root().string(), option.name);
    const std::string& value = place != before.end() ? place->second : *option.older_value;
    STEIN_CHECK(option.text() == value,
                "'{0}' was changed since the run began, or the checkpoint is another run's: that has `{1} = {2}`, the "
                "file `{1} = {3}`; a resumed run may change its steps and nothing else, start another with `stein {4} "
                "--config`",
                name, option.name, value, option.text(), experiment.kind().subcommand);
  }
}

}  // namespace stein::runs
