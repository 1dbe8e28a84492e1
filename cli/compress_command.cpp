// stein compress: another run that makes the network of a run sparse.
#include <stein/core/error.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/start_run.h>

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>

#include "command.h"

namespace stein::cli {
namespace {

struct CompressArguments {
  std::string directory, epochs, out;
  double target = 0;
  std::vector<std::string> settings;
  bool overwrite = false;
  SessionArguments session;
  CommonOptions common;
};

/// Throws Error(data) where runs of the kind have no compression.
void check_kind(const runs::RunKind& kind, const std::string& directory) {
  if (kind.compressed) return;
  std::set<std::string> others;
  for (const auto& [name, other] : runs::run_kinds().entries())
    if (other.compressed) others.insert(fmt::format("`stein {}`", other.subcommand));
  fail(ErrorKind::data, "'{}' holds a run of `stein {}`: `stein compress` is for runs of {}", directory,
       kind.subcommand, fmt::join(others, " and "));
}

int compress(const CompressArguments& arguments) {
  STEIN_CHECK(arguments.target > 0 && arguments.target < 1,
              "--target expects the share of weights that are zero in the end, between 0 and 1, got {}",
              arguments.target);
  const RunDirectory trained = RunDirectory::open(arguments.directory);
  const runs::RunKind& kind = runs::kind_of(trained);
  check_kind(kind, arguments.directory);
  runs::OptionSources sources =
      kind.compressed(*runs::recorded_experiment(trained), arguments.directory, arguments.target);
  for (const std::string& setting : arguments.settings) {
    sources.settings.push_back(runs::parse_setting(setting));
    STEIN_CHECK(sources.settings.back().first != "pruning.final_share",
                "--target says which share of the weights is zero in the end: leave --set pruning.final_share out");
  }
  if (!arguments.epochs.empty()) sources.settings.emplace_back("epochs", arguments.epochs);
  const auto experiment = kind.make(kind, sources);
  const Existing existing = arguments.overwrite ? Existing::overwrite : Existing::refuse;
  return print_result(runs::start_run(*experiment, arguments.out, existing, arguments.session.begin(arguments.common)),
                      arguments.common);
}

}  // namespace

Action compress_command(CLI::App& command, const Arguments&) {
  const auto arguments = std::make_shared<CompressArguments>();
  command.add_option("RUN", arguments->directory, "Run directory of a classifier; it stays as it is")->required();
  command.add_option("--target", arguments->target, "Share of the weights that are zero in the end, such as 0.9")
      ->required();
  not_empty(command.add_option("--epochs", arguments->epochs, "Times through the data (default: as RUN was trained)"));
  command.add_option("--set", arguments->settings,
                     "key=value, any option of `stein classify --sampler sghmc-sa`; may be repeated");
  not_empty(command.add_option("--out", arguments->out,
                               "Run directory (default: runs/DATA-sghmc-sa-NUMBER, the next free number)"));
  command.add_flag("--overwrite", arguments->overwrite, "Replace the run in --out");
  arguments->session.add_stop_after(command);
  arguments->common.add_all_but_device(command);
  command.footer(
      "The new run has the data, the network and the seeds of RUN and begins with the weights that RUN ended with. It "
      "is a chain under a spike-and-slab prior (Deng et al. 2019): the smallest weights go to zero until its burn-in "
      "ends, and its samples are averaged behind it. Resume, evaluate, export and report it as any other.\n");
  return [arguments] {
    arguments->common.apply();
    return compress(*arguments);
  };
}

}  // namespace stein::cli
