// stein eval, stein render, …: does something with a run of any kind that has an action of this name.
#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/progress.h>
#include <stein/core/signals.h>
#include <stein/runs/recorded_settings.h>
#include <stein/runs/run_action.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/sweep.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "command.h"

namespace stein::cli {
namespace {

struct RunArguments {
  std::string directory;
  TableArguments named;
  SessionArguments session;
  CommonOptions common;
};

/// The first argument that is a run directory; empty where there is none.
std::string run_in(const Arguments& arguments) {
  for (const std::string& argument : arguments) {
    const std::filesystem::path path = argument;
    std::error_code ignored;
    if (!argument.starts_with('-') && std::filesystem::is_regular_file(path / "manifest.json", ignored))
      return argument;
  }
  return "";
}

/// Kinds of run that have the action, as it was typed: of `stein caption eval` those of captions alone.
std::vector<const runs::RunKind*> kinds_with(const RunVerb& verb) {
  std::vector<const runs::RunKind*> kinds;
  for (const auto& [name, kind] : runs::run_kinds().entries())
    if (kind.actions.contains(verb.name) && (verb.group.empty() || group_of(kind.subcommand) == verb.group))
      kinds.push_back(&kind);
  return kinds;
}

/// Kinds of run that have the action, with its options.
std::string options_text(const RunVerb& verb) {
  std::string text;
  for (const runs::RunKind* kind : kinds_with(verb)) {
    const auto action = kind->actions.at(verb.name)();
    text += fmt::format(
        "Options for runs of `stein {}` ({}), as --name VALUE with '-' for '_', true ones as --name alone:\n\n{}\n",
        kind->subcommand, kind->name, help_text(OptionTable::of(*action)));
  }
  return text;
}

std::unique_ptr<runs::RunAction> make_action(const RunVerb& verb, const runs::RunKind& kind,
                                             const std::string& directory) {
  const auto kinds = kinds_with(verb);
  if (std::ranges::find(kinds, &kind) != kinds.end()) return kind.actions.at(verb.name)();
  std::set<std::string> others;
  const auto called = [](const runs::RunKind& each) {
    return fmt::format("`stein {}` ({})", each.subcommand, each.name);
  };
  for (const runs::RunKind* other : kinds) others.insert(called(*other));
  fail(ErrorKind::data, "'{}' holds a run of {}: `stein {}` is for runs of {}", directory, called(kind), verb.text(),
       fmt::join(others, " and "));
}

/// A text of bytes need not be UTF-8, which JSON is: what is not becomes U+FFFD.
std::string text_of(const nlohmann::ordered_json& result, int indent) {
  return result.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int perform(const RunVerb& verb, const RunArguments& arguments) {
  const RunDirectory directory = RunDirectory::open(arguments.directory);
  const runs::RunKind& kind = runs::kind_of(directory);
  const auto action = make_action(verb, kind, arguments.directory);
  OptionTable table = OptionTable::of(*action);
  for (const auto& [key, value] : arguments.named.given()) table.set(key, value);
  nlohmann::ordered_json result{{"name", runs::recorded_experiment(directory)->name()}, {"kind", kind.name}};
  const runs::Console console{.progress = make_progress(arguments.common.quiet || action->streams())};
  if (action->streams()) install_signal_handlers(console.stop);
  result.update(action->perform(directory, arguments.session.data, console));
  console.progress->finish();
  std::fputs(
      arguments.common.json ? text_of(result, action->streams() ? -1 : 2).c_str() : action->readable(result).c_str(),
      action->streams() ? stderr : stdout);
  return console.stop.stop_requested() ? interrupted : 0;
}

}  // namespace

Action run_action_command(const RunVerb& verb, CLI::App& command, const Arguments& typed) {
  const auto arguments = std::make_shared<RunArguments>();
  const bool asks_for_help =
      std::ranges::any_of(typed, [](const std::string& argument) { return argument == "--help" || argument == "-h"; });
  // The run is opened first of all: what options there are depends on it.
  const auto open = [asks_for_help](const std::string& directory) {
    if (asks_for_help) return;
    STEIN_CHECK(!runs::Sweep::is_in(directory), "'{}' is the folder of a sweep: name one of its runs, such as '{}'",
                directory, runs::Sweep::open(directory).runs().front().string());
    static_cast<void>(RunDirectory::open(directory));
  };
  command.add_option("RUN", arguments->directory, "Run directory")->required()->each(open);
  const std::string run = run_in(typed);
  if (!run.empty()) {
    const runs::RunKind& kind = runs::kind_of(RunDirectory::open(run));
    const auto action = make_action(verb, kind, run);
    arguments->named.add_all(command, OptionTable::of(*action));
    if (kind.reads_data) arguments->session.add_data(command);
    arguments->common.add_all(command);
  } else {
    arguments->common.add_all_but_device(command);
    command.footer([verb] { return options_text(verb); });
  }
  return [arguments, verb] {
    arguments->common.apply();
    return perform(verb, *arguments);
  };
}

}  // namespace stein::cli
