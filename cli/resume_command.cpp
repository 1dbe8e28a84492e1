// stein resume: an interrupted run goes on where its last checkpoint is.
#include <stein/core/error.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "bandit_session.h"
#include "command.h"

namespace stein::cli {
namespace {

struct Arguments {
  std::string directory;
  std::vector<std::string> settings;
  RunOptions run;
  CommonOptions common;
};

}  // namespace

Action resume_command(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("RUN", arguments->directory, "Run directory")->required();
  command.add_option("--set", arguments->settings, "steps=N makes the run longer")->allow_extra_args(false);
  arguments->run.add_all(command);
  arguments->common.add_all(command);
  return [arguments] {
    arguments->common.apply();
    std::vector<std::pair<std::string, std::string>> settings;
    for (const std::string& setting : arguments->settings) settings.push_back(parse_setting(setting));
    return resume_bandit_run(RunDirectory::open(arguments->directory, Access::write), settings, arguments->run,
                             arguments->common);
  };
}

}  // namespace stein::cli
