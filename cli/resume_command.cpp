// stein resume: an interrupted run goes on where its last checkpoint is.
#include <stein/core/error.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "bandit_experiment.h"
#include "command.h"
#include "control_experiment.h"
#include "run_session.h"

namespace stein::cli {
namespace {

struct Arguments {
  std::string directory;
  std::vector<std::string> settings;
  RunOptions run;
  CommonOptions common;
};

std::unique_ptr<Experiment> make_experiment(const std::string& command, const OptionSources& sources) {
  if (command == "bandit") return std::make_unique<BanditExperiment>(sources);
  if (command == "rl") return std::make_unique<ControlExperiment>(sources);
  return nullptr;
}

}  // namespace

Action resume_command(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("RUN", arguments->directory, "Run directory")->required();
  command.add_option("--set", arguments->settings, "steps=N makes the run longer")->allow_extra_args(false);
  arguments->run.add_data(command);
  arguments->run.add_stop_after(command);
  arguments->common.add_all(command);
  return [arguments] {
    arguments->common.apply();
    std::vector<std::pair<std::string, std::string>> settings;
    for (const std::string& setting : arguments->settings) settings.push_back(parse_setting(setting));
    return resume_run(RunDirectory::open(arguments->directory, Access::write), make_experiment, settings,
                      arguments->run, arguments->common);
  };
}

}  // namespace stein::cli
