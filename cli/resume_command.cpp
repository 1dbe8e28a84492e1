// stein resume: an interrupted run, or the runs of a sweep, go on where their last checkpoints are.
#include <stein/core/error.h>
#include <stein/distributed/agree.h>
#include <stein/runs/resume_run.h>
#include <stein/runs/sweep.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "command.h"
#include "sweep_report.h"

namespace stein::cli {
namespace {

struct ResumeArguments {
  std::string directory, device;
  std::vector<std::string> settings;
  SessionArguments session;
  CommonOptions common;
  Ranks ranks;
};

int resume(const ResumeArguments& arguments) {
  distributed::Communicator& ranks = *arguments.ranks;
  const runs::SessionOptions options = arguments.session.begin(arguments.common, arguments.ranks);
  std::optional<runs::Sweep> sweep;
  std::optional<RunDirectory> directory;
  std::vector<std::pair<std::string, std::string>> settings;
  distributed::agree(ranks, [&] {
    for (const std::string& setting : arguments.settings) settings.push_back(runs::parse_setting(setting));
    if (runs::Sweep::is_in(arguments.directory)) {
      STEIN_CHECK(arguments.device.empty(), "a sweep goes on where it was planned: --device is for a single run");
      const Access access = ranks.is_root() ? Access::write : Access::read;
      sweep = runs::Sweep::open(arguments.directory, access);
      if (!settings.empty()) sweep->lengthen(settings, access);
      return;
    }
    if (!arguments.device.empty()) settings.emplace_back("device", arguments.device);
    directory = RunDirectory::open(arguments.directory, ranks.is_root() ? Access::write : Access::read);
  });
  if (sweep) return advance_sweep(*sweep, options, arguments.common);
  return print_result(runs::resume_run(*directory, settings, options), arguments.common, ranks);
}

}  // namespace

Action resume_command(CLI::App& command, const Ranks& ranks) {
  const auto arguments = std::make_shared<ResumeArguments>();
  arguments->ranks = ranks;
  command.add_option("RUN", arguments->directory, "Run directory, or the folder of a sweep")->required();
  command
      .add_option("--set", arguments->settings,
                  "steps=N makes the run, or all of a sweep, longer; with it an agent takes decay_steps=N; may be "
                  "repeated")
      ->allow_extra_args(false);
  arguments->session.add_data(command);
  arguments->session.add_stop_after(command);
  not_empty(command.add_option("--device", arguments->device,
                               "Where the run goes on: cpu, cuda or cuda:INDEX (default: where it was)"));
  arguments->common.add_all_but_device(command);
  return [arguments] {
    distributed::agree(*arguments->ranks, [&] { arguments->common.apply(); });
    return resume(*arguments);
  };
}

}  // namespace stein::cli
