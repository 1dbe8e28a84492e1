#include "experiment_arguments.h"

#include <stein/core/error.h>
#include <stein/core/read_file.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "run_session.h"

namespace stein::cli {

void ExperimentArguments::add_all(CLI::App& command, const std::string& name) {
  command.add_option("--config", config, "TOML file with options; what follows on the line wins");
  command.add_option("--set", settings, "key=value, any option below; may be repeated");
  command.add_option("--seeds", seeds, "Independent repetitions A:B, without B (default: 0:1)");
  command.add_option("--out", out, fmt::format("Run directory (default: runs/{}-NUMBER, the next free number)", name));
  command.add_flag("--overwrite", overwrite, "Replace the run in --out");
  run.add_stop_after(command);
  common.add_all(command);
}

OptionSources ExperimentArguments::sources(const std::vector<std::pair<std::string, std::string>>& named) const {
  OptionSources sources;
  std::error_code ignored;
  if (std::filesystem::is_directory(config, ignored))
    fail(ErrorKind::data, "'{}' is a folder, --config expects a TOML file", config);
  if (!config.empty()) sources.toml = read_file(config);
  sources.toml_name = config;
  for (const std::string& setting : settings) sources.settings.push_back(parse_setting(setting));
  for (const auto& [key, value] : named)
    if (!value.empty()) sources.settings.emplace_back(key, value);
  if (!seeds.empty()) sources.settings.emplace_back("seeds", seeds);
  return sources;
}

int ExperimentArguments::start(const Experiment& experiment,
                               const std::function<void(const RunDirectory&)>& finished) const {
  return start_run(experiment, out, overwrite ? Existing::overwrite : Existing::refuse, run, common, finished);
}

}  // namespace stein::cli
