// stein resume: an interrupted run, or the runs of a sweep, go on where their last checkpoints are.
#include <stein/core/error.h>
#include <stein/runs/resume_run.h>
#include <stein/runs/sweep.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "command.h"
#include "sweep_report.h"

namespace stein::cli {
namespace {

struct ResumeArguments {
  std::string directory;
  std::vector<std::string> settings;
  SessionArguments session;
  CommonOptions common;
};

int resume(const ResumeArguments& arguments) {
  const runs::SessionOptions options = arguments.session.begin(arguments.common);
  if (runs::Sweep::is_in(arguments.directory)) {
    STEIN_CHECK(arguments.settings.empty(), "a sweep goes on as it was planned: --set is for a single run");
    return advance_sweep(runs::Sweep::open(arguments.directory), options, arguments.common);
  }
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string& setting : arguments.settings) settings.push_back(runs::parse_setting(setting));
  const RunDirectory directory = RunDirectory::open(arguments.directory, Access::write);
  return print_result(runs::resume_run(directory, settings, options), arguments.common);
}

}  // namespace

Action resume_command(CLI::App& command, const Arguments&) {
  const auto arguments = std::make_shared<ResumeArguments>();
  command.add_option("RUN", arguments->directory, "Run directory, or the folder of a sweep")->required();
  command.add_option("--set", arguments->settings, "steps=N makes the run longer")->allow_extra_args(false);
  arguments->session.add_data(command);
  arguments->session.add_stop_after(command);
  arguments->common.add_all(command);
  return [arguments] {
    arguments->common.apply();
    return resume(*arguments);
  };
}

}  // namespace stein::cli
