// The program: finds the subcommand, lets it run, turns errors into sentences and exit codes.
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/core/nearest_name.h>
#include <stein/core/version.h>
#include <stein/distributed/agree.h>
#include <stein/distributed/join_ranks.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/runs/run_kind.h>

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "command.h"
#include "program.h"

namespace stein::cli {
namespace {

/// A subcommand; one of a group is called by both names: "lm train".
struct Subcommand {
  std::string name;
  std::string description;
  std::function<Action(CLI::App&, const Arguments&)> add;
  bool spreads = false;  ///< over several ranks, which then do it together
};

/// What a group of subcommands is about: as a kind of run says that belongs to it, else what one of them does.
std::string group_description(const std::string& group, const std::vector<Subcommand>& all) {
  for (const auto& [name, kind] : runs::run_kinds().entries())
    if (group_of(kind.subcommand) == group && !kind.group_description.empty()) return kind.group_description;
  return std::ranges::find(all, group, [](const Subcommand& each) { return group_of(each.name); })->description;
}

/// The verbs that some kind of run has an action for, each with what it does.
std::map<std::string, std::string> verbs() {
  const std::map<std::string, std::string> known{
      {"eval", "Evaluate what a run has learned"},
      {"attack", "Show a classifier images that were changed against it"},
      {"export", "Write the weights of a trained network to a safetensors file"},
      {"predict", "Predict new data with what a run has learned"},
      {"sample", "Draw text from what a run has learned"},
      {"render", "Show what a run has learned: a picture, or in the terminal"}};
  std::map<std::string, std::string> found;
  for (const auto& [name, kind] : runs::run_kinds().entries())
    for (const auto& [verb, action] : kind.actions)
      found[verb] = known.contains(verb) ? known.at(verb) : fmt::format("For runs of `stein {}`", kind.subcommand);
  return found;
}

/// Those that start runs, by kinds of run, those that some kind has an action for, and those of the program itself.
std::vector<Subcommand> subcommands(const Ranks& ranks) {
  std::vector<Subcommand> all;
  const auto add = [&](const std::string& name, const std::string& description, auto command) {
    all.push_back({name, description, std::move(command)});
  };
  const auto add_spread = [&](const std::string& name, const std::string& description, auto command) {
    all.push_back({name, description, std::move(command), true});
  };
  for (const auto& [name, kind] : runs::run_kinds().entries()) {
    const std::string subcommand = kind.subcommand;
    if (std::ranges::find(all, subcommand, &Subcommand::name) != all.end()) continue;
    add_spread(subcommand, kind.description, [subcommand, ranks](CLI::App& command, const Arguments&) {
      return start_command(subcommand, command, ranks);
    });
  }
  const auto known_verbs = verbs();
  for (const auto& [verb, description] : known_verbs) {
    std::set<std::string> names{verb};  // of the action on all kinds of runs, and in every group that has it
    for (const auto& [name, kind] : runs::run_kinds().entries())
      if (kind.actions.contains(verb) && !group_of(kind.subcommand).empty())
        names.insert(group_of(kind.subcommand) + " " + verb);
    for (const std::string& name : names)
      add(name, description, [verb = RunVerb{verb, group_of(name)}](CLI::App& command, const Arguments& arguments) {
        return run_action_command(verb, command, arguments);
      });
  }
  add_spread("resume", "Continue an interrupted run or sweep, bit for bit",
             [ranks](CLI::App& command, const Arguments&) { return resume_command(command, ranks); });
  add_spread("ranks", "Say where the ranks of a launcher run, and measure what messages between them cost",
             [ranks](CLI::App& command, const Arguments&) { return ranks_command(command, ranks); });
  add("compress", "Make the network of a run sparse: train it on, and prune it", compress_command);
  add("report", "Turn runs into one page with interactive plots", report_command);
  add("list", "Kinds of runs, environments, policies, presets, benchmarks, data sets", list_command);
  add("env", "What an environment is, and what it does step by step", env_command);
  add("data", "List, fetch, find and check data sets", data_command);
  add("bench", "Measure ours against a reference", bench_command);
  add("caption score", "Score captions against references: BLEU, ROUGE-L, CIDEr-D, METEOR by exact words and stems",
      caption_score_command);
  return all;
}

/// `stein help bandit` is `stein bandit --help`.
std::vector<std::string> rewrite_help(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return arguments;
}

void check_subcommand(const std::vector<std::string>& arguments, const std::vector<Subcommand>& known) {
  STEIN_CHECK(!arguments.empty(), "a subcommand is expected; `stein help` lists them");
  const std::string& first = arguments.front();
  if (first.starts_with('-')) return;
  std::vector<std::string> names{"help"}, in_group;
  for (const Subcommand& subcommand : known) {
    const std::string group = group_of(subcommand.name);
    const std::string& name = group.empty() ? subcommand.name : group;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    if (group == first) in_group.push_back(subcommand.name.substr(group.size() + 1));
  }
  STEIN_CHECK(std::ranges::find(names, first) != names.end(), "unknown subcommand '{}'.{}", first,
              suggestion(first, names));
  if (in_group.empty()) return;
  STEIN_CHECK(arguments.size() > 1, "`stein {}` expects one of {}", first, fmt::join(in_group, ", "));
  const std::string& second = arguments[1];
  STEIN_CHECK(second.starts_with('-') || std::ranges::find(in_group, second) != in_group.end(),
              "unknown subcommand '{} {}'.{}", first, second, suggestion(second, in_group));
}

/// The name of the subcommand that is typed, with its group; empty where the group alone is.
std::string typed_name(const std::vector<std::string>& arguments, const std::vector<Subcommand>& known) {
  for (const Subcommand& subcommand : known)
    if (subcommand.name == arguments.front() ||
        (arguments.size() > 1 && subcommand.name == arguments[0] + " " + arguments[1]))
      return subcommand.name;
  return "";
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

/// Where a key could stand that is no argument of `command`, as a sentence; empty where nobody knows it.
std::string place_of(const std::string& key, const std::string& command) {
  for (const runs::RunKind* kind : runs::kinds_of(command)) {
    const std::vector<runs::Part> parts = kind->parts();
    const bool is_option =
        kind->make(*kind, {})->options().contains(key) ||
        std::ranges::any_of(parts, [&](const runs::Part& part) { return part.options.contains(key); });
    if (is_option) return fmt::format(" It is given as `--set {}=…`.", key);
  }
  for (const auto& [name, kind] : runs::run_kinds().entries())
    for (const auto& [verb, action] : kind.actions) {
      if (!OptionTable::of(*action()).contains(key)) continue;
      if (verb == command) return fmt::format(" It is for runs of `stein {}`.", kind.subcommand);
      if (kind.subcommand == command) return fmt::format(" It is an option of `stein {}`.", verb);
    }
  return "";
}

/// What the parser says, in the words of the program.
std::string sentence_of(const CLI::ParseError& error, const std::string& command) {
  const std::string text = error.what(), see = fmt::format("; see `stein {} --help`", command);
  if (error.get_name() == "RequiredError")
    return fmt::format("`stein {}` expects {}{}", command, text.substr(0, text.find(' ')), see);
  if (error.get_name() == "ArgumentMismatch") {
    const bool repeated = text.find("received") != std::string::npos;
    return text.substr(0, text.find(':')) + (repeated ? " is given more than once" : " expects a value") + see;
  }
  return text;
}

/// Arguments that no option took. @param name  of the subcommand, with its group
void check_leftovers(const CLI::App& command, const std::string& name) {
  const std::vector<std::string> leftovers = command.remaining(true);
  const std::vector<std::string> parts = names_of(command.get_subcommands([](const CLI::App*) { return true; }));
  if (!parts.empty() && command.get_subcommands().empty()) {
    STEIN_CHECK(!leftovers.empty(), "`stein {}` expects one of {}", name, fmt::join(parts, ", "));
    fail(ErrorKind::usage, "unknown subcommand '{} {}'.{}", name, leftovers.front(),
         suggestion(leftovers.front(), parts));
  }
  if (leftovers.empty()) return;
  std::string unknown = leftovers.front();
  const char* const again =
      unknown.find('=') == std::string::npos ? "" : " (`--set` takes one setting here: repeat it)";
  STEIN_CHECK(unknown.starts_with("--"), "unexpected argument '{}'{}; see `stein {} --help`", unknown, again, name);
  unknown = unknown.substr(0, unknown.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& long_name : option->get_lnames()) names.push_back("--" + long_name);
  std::string key = unknown.substr(2);
  std::ranges::replace(key, '-', '_');
  std::string dashed = unknown;
  std::ranges::replace(dashed, '_', '-');
  const bool is_argument = std::ranges::find(names, dashed) != names.end();
  const std::string place = is_argument ? "" : place_of(key, name);
  const auto near = is_argument ? dashed : nearest_name(unknown, names);
  fail(ErrorKind::usage, "unknown option '{}'.{}", unknown,
       place.empty() && near ? fmt::format(" Did you mean '{}'?", *near) : place);
}

/// Throws Error(usage) where several ranks are to do what one does.
void check_ranks(const Ranks& ranks, const std::string& typed, const std::vector<Subcommand>& known) {
  const auto command = std::ranges::find(known, typed, &Subcommand::name);
  STEIN_CHECK(
      ranks->size() == 1 || command == known.end() || command->spreads,
      "`stein {}` is for one process, and {} were started: what starts a run, `stein resume` and `stein ranks` are for "
      "several, everything else is started without a launcher",
      typed, ranks->size());
}

/// What the arguments ask for. `app` has to outlive it.
Action parse(CLI::App& app, std::vector<std::string> arguments, const Ranks& ranks) {
  app.set_version_flag("--version", fmt::format("stein {} ({})", version(), commit()));
  app.set_help_flag("-h,--help", "Say what there is");
  app.footer(
      "`stein help SUBCOMMAND` says more of each.\n"
      "Exit codes: 0 done, 1 failure while running, 2 usage, 3 bad or missing data, 4 diverged, 75 interrupted "
      "with a checkpoint saved.");
  app.require_subcommand(0, 1);  // what follows the first is an argument, also if it is called like a subcommand
  arguments = rewrite_help(std::move(arguments));
  const std::vector<Subcommand> known = subcommands(ranks);
  check_subcommand(arguments, known);
  const std::string typed = typed_name(arguments, known);
  check_ranks(ranks, typed, known);
  std::map<std::string, CLI::App*> groups;
  CLI::App* command = nullptr;
  Action action;
  for (const auto& [name, description, add, spreads] : known) {
    const std::string group = group_of(name);
    CLI::App*& parent = groups[group];
    if (parent == nullptr)
      parent = group.empty()
                   ? &app
                   : app.add_subcommand(group, group_description(group, known))->footer("")->require_subcommand(0, 1);
    const std::string own = group.empty() ? name : name.substr(group.size() + 1);
    CLI::App* const here = parent->add_subcommand(own, description)->allow_extras()->footer("");
    if (name != typed) continue;
    command = here;
    action = add(*here, {arguments.begin() + (group.empty() ? 1 : 2), arguments.end()});
  }
  const std::string first = arguments.front();
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0)
      return [&app, error, shown = ranks->is_root()] { return shown ? app.exit(error) : 0; };
    if (!app.get_subcommands().empty()) fail(ErrorKind::usage, "{}", sentence_of(error, typed.empty() ? first : typed));
  }
  STEIN_CHECK(command != nullptr && !app.get_subcommands().empty(),
              "a subcommand is expected, got '{}'; `stein help` lists them", first);
  check_leftovers(*command, typed);
  return action;
}

int run(const std::vector<std::string>& arguments, const Ranks& ranks) {
  CLI::App app("Stein: bandits, reinforcement learning and sequence models with Bayesian weights", "stein");
  Action action;
  distributed::agree(*ranks, [&] { action = parse(app, arguments, ranks); });
  return action();
}

/// Throws Error(io) if what was printed has not arrived: a full disk, a closed pipe.
void check_output() {
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout)
    fail(ErrorKind::io, "standard output cannot be written: {}", std::generic_category().message(errno));
}

/// What went wrong, and the exit code for it.
std::pair<std::string, int> told(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& found) {
    return {found.what(), exit_code(found.kind())};
  } catch (const nlohmann::json::exception& found) {
    return {fmt::format("a JSON file is not as it was written: {}", found.what()), exit_code(ErrorKind::data)};
  } catch (const std::bad_alloc&) {
    return {
        "out of memory: less is taken by smaller networks (hidden) and fewer of them (particles), by smaller "
        "minibatches, by shorter windows of a bandit (buffer) and fewer slots of an agent",
        1};
  } catch (const std::exception& found) {
    return {found.what(), 1};
  }
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  Ranks ranks = std::make_shared<distributed::SingleProcess>();
  try {
    ranks = distributed::join_ranks();
    inference::set_process_on_machine(ranks->rank_on_machine());
    const int code = run(arguments, ranks);
    if (code == 0) check_output();
    return code;
  } catch (const distributed::AgreedError& error) {
    if (ranks->is_root()) log_error("{}", error.what());
    return exit_code(error.kind());
  } catch (...) {
    const auto [sentence, code] = told(std::current_exception());
    log_error("{}{}", ranks->size() > 1 ? fmt::format("rank {}: ", ranks->rank()) : "", sentence);
    if (ranks->size() > 1) ranks->abort(code);  // the others may wait for this one
    return code;
  }
}

}  // namespace stein::cli
