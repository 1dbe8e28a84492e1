// stein bandit, stein rl, …: starts runs of the kinds that are registered under the subcommand.
#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/distributed/agree.h>
#include <stein/runs/report_page.h>
#include <stein/runs/report_table.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/start_run.h>
#include <stein/runs/sweep.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "command.h"
#include "sweep_report.h"

namespace stein::cli {
namespace {

struct StartArguments {
  std::string subcommand, config, preset, seeds, out;
  std::vector<std::string> settings, sweeps;
  bool overwrite = false, render = false;
  TableArguments named;
  SessionArguments session;
  CommonOptions common;
  Ranks ranks;

  /// The file, then --set, then the options that have an argument of their own, which must not say otherwise.
  runs::OptionSources sources() const {
    runs::OptionSources sources{
        .preset = preset, .toml = {}, .toml_name = config, .settings = {}, .data = session.data};
    std::error_code ignored;
    if (std::filesystem::is_directory(config, ignored))
      fail(ErrorKind::data, "'{}' is a folder, --config expects a TOML file", config);
    if (!config.empty()) sources.toml = read_file(config);
    for (const std::string& setting : settings) sources.settings.push_back(runs::parse_setting(setting));
    std::vector<std::pair<std::string, std::string>> arguments = named.given();
    if (!seeds.empty()) arguments.emplace_back("seeds", seeds);
    for (const auto& [key, text] : arguments)
      for (const auto& [name, value] : sources.settings)
        STEIN_CHECK(name != key || value == text,
                    "option '{0}' is given twice, by its argument as {1}, by --set as {2}", key, text, value);
    std::ranges::move(arguments, std::back_inserter(sources.settings));
    return sources;
  }
  Existing existing() const { return overwrite ? Existing::overwrite : Existing::refuse; }
  runs::SessionOptions begin() const { return session.begin(common, ranks); }
};

/// Runs for the values that are compared and for those of --sweep.
int sweep(const StartArguments& arguments, const runs::OptionSources& sources, std::vector<runs::SweepAxis> axes) {
  const runs::SessionOptions options = arguments.begin();
  std::optional<runs::Sweep> planned;
  distributed::agree(*arguments.ranks, [&] {
    STEIN_CHECK(!arguments.render, "--render shows one run, not several");
    for (const std::string& text : arguments.sweeps) axes.push_back(runs::SweepAxis::parse(text));
    planned = runs::Sweep::plan(arguments.subcommand, sources, axes, arguments.out);
    STEIN_CHECK(!arguments.out.empty() || arguments.sweeps.empty(),
                "--sweep needs --out, the folder that its runs go to");
    if (!arguments.ranks->is_root()) return;
    planned->check(options, arguments.existing());
    if (arguments.out.empty()) planned->claim_directory();
    planned->write(arguments.existing());
  });
  const std::filesystem::path directory = arguments.ranks->broadcast(planned->directory().string());
  distributed::agree(*arguments.ranks, [&] {
    if (!arguments.ranks->is_root()) planned = runs::Sweep::open(directory);
  });
  return advance_sweep(*planned, options, arguments.common);
}

/// An episode of what the run has learned, on standard error: standard output is for results.
void show(const runs::RunKind& kind, const runs::SessionResult& result) {
  const auto rendering = kind.actions.at("render")();
  OptionTable::of(*rendering).set("terminal", "true");
  const RunDirectory directory = RunDirectory::open(result.directory);
  static_cast<void>(rendering->perform(directory, "", {.out = stderr}));
}

std::unique_ptr<runs::Experiment> make_experiment(const StartArguments& arguments, const runs::OptionSources& sources) {
  const runs::RunKind& kind = runs::kind_of(arguments.subcommand, sources);
  auto experiment = kind.make(kind, sources);
  if (arguments.render) {
    STEIN_CHECK(kind.actions.contains("render"), "--render: there is no picture of runs of the kind '{}'", kind.name);
    kind.actions.at("render")()->check(*experiment);  // before a long run
  }
  return experiment;
}

int start(const StartArguments& arguments) {
  runs::OptionSources sources;
  std::optional<runs::SweepAxis> compared;
  std::unique_ptr<runs::Experiment> experiment;
  distributed::agree(*arguments.ranks, [&] {
    sources = arguments.sources();
    compared = runs::SweepAxis::compared(arguments.subcommand, sources);
    if (!compared && arguments.sweeps.empty()) experiment = make_experiment(arguments, sources);
  });
  if (!experiment) return sweep(arguments, sources, compared ? std::vector{*compared} : std::vector<runs::SweepAxis>());
  const runs::SessionResult result =
      runs::start_run(*experiment, arguments.out, arguments.existing(), arguments.begin());
  const int code = print_result(result, arguments.common, *arguments.ranks);
  if (arguments.render && result.finished && arguments.ranks->is_root()) show(experiment->kind(), result);
  return code;
}

/// The kind that help speaks of: that of the options, or the first where those are of none.
const runs::RunKind& shown_kind(const std::string& subcommand, const runs::OptionSources& sources) {
  const std::vector<const runs::RunKind*> kinds = runs::kinds_of(subcommand);
  for (const runs::RunKind* kind : kinds)
    if (kind->recognises && kind->recognises(sources)) return *kind;
  return *kinds.front();
}

/// Options of the run, or of all that are compared.
std::string options_help(const StartArguments& arguments) {
  runs::OptionSources sources = arguments.sources();
  const runs::RunKind& kind = shown_kind(arguments.subcommand, sources);
  const auto compared = runs::SweepAxis::compared(arguments.subcommand, sources);
  if (!compared) return kind.make(kind, sources)->help();
  sources.of_others = sources.keys();
  std::vector<std::unique_ptr<runs::Experiment>> experiments;
  for (const std::string& value : compared->values) {
    sources.settings.emplace_back(compared->key, value);
    experiments.push_back(kind.make(kind, sources));
  }
  return experiments.front()->help(experiments);
}

std::string help(const StartArguments& arguments) {
  return options_help(arguments) +
         "\nWhich options there are depends on the data, the network and the method: choose these before --help to see "
         "theirs.\n";
}

}  // namespace

Action start_command(const std::string& subcommand, CLI::App& command, const Ranks& ranks) {
  const auto arguments = std::make_shared<StartArguments>();
  arguments->ranks = ranks;
  arguments->subcommand = subcommand;
  bool reads_data = false, renders = false;
  std::string directory;
  for (const runs::RunKind* kind : runs::kinds_of(subcommand)) {
    arguments->named.add_all(command, kind->make(*kind, {})->options(), kind->arguments);
    if (directory.empty()) directory = kind->directory;
    reads_data |= kind->reads_data;
    renders |= kind->actions.contains("render");
  }
  command.add_option("--config", arguments->config, "TOML file with options; what follows on the line wins");
  not_empty(command.add_option("--preset", arguments->preset,
                               "Named settings to begin with, from `stein list`; --config and --set win, but over "
                               "the data and the sampler of a published one"));
  command.add_option("--set", arguments->settings, "key=value, any option below; may be repeated");
  command.add_option("--sweep", arguments->sweeps,
                     "key=a,b,c: a run for every value, in folders of --out, with one table and one report; may be "
                     "repeated; lists are separated by ';'");
  not_empty(command.add_option("--seeds", arguments->seeds, "Independent repetitions A:B, without B; default below"));
  not_empty(
      command.add_option("--out", arguments->out,
                         fmt::format("Run directory (default: runs/{}-NUMBER, the next free number)", directory)));
  command.add_flag("--overwrite", arguments->overwrite, "Replace the run in --out");
  arguments->session.add_stop_after(command);
  arguments->common.add_all(command);
  if (renders) command.add_flag("--render", arguments->render, "Show what was learned in the terminal afterwards");
  if (reads_data) arguments->session.add_data(command);
  command.footer([arguments] { return help(*arguments); });
  return [arguments] {
    distributed::agree(*arguments->ranks, [&] { arguments->common.apply(); });
    return start(*arguments);
  };
}

}  // namespace stein::cli
