#include "command.h"

#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/core/parallel.h>
#include <stein/core/signals.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

namespace stein::cli {

std::string group_of(const std::string& subcommand) {
  const std::size_t space = subcommand.find(' ');
  return space == std::string::npos ? "" : subcommand.substr(0, space);
}

void from_zero(CLI::Option* option) {
  option->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max(), "a whole number from 0 on"));
}

CLI::Option* not_empty(CLI::Option* option) {
  return option->check(CLI::Validator(
      [](std::string& text) {
        return text.empty() ? std::string("expected a value, got an empty text") : std::string();
      },
      "", "not empty"));
}

void CommonOptions::add_json(CLI::App& command) {
  command.add_flag(
      "--json", json,
      "Print the result as one JSON object and nothing else; of predict on standard error, beside the answers on "
      "standard output");
}

void CommonOptions::add_all_but_device(CLI::App& command) {
  command.add_option("--threads", threads, "Threads to use; results do not depend on it (default: all cores)")
      ->check(CLI::Range(1, 4096));
  add_json(command);
  command.add_flag("--quiet", quiet, "No progress and no messages but warnings");
}

void CommonOptions::add_all(CLI::App& command) {
  if (command.get_option_no_throw("--device") == nullptr)  // else it is an option of the runs
    command.add_option("--device", device, "Where to compute: cpu")->capture_default_str();
  add_all_but_device(command);
}

void CommonOptions::apply() const {
  STEIN_CHECK(
      device == "cpu",
      "this command computes on the processor (device cpu), got '{}': runs are begun on other devices by bandit, "
      "replay, rl, lm train, caption train, classify and regress, and go on there by resume",
      device);
  if (threads > 0) set_thread_count(threads);
  if (quiet) set_log_level(LogLevel::warning);
}

void TableArguments::add_all(CLI::App& command, const OptionTable& table, const std::vector<std::string>& names) {
  for (const Option& option : table.options()) {
    if (!names.empty() && std::ranges::find(names, option.name) == names.end()) continue;
    std::string name = "--" + option.name;
    std::ranges::replace(name, '_', '-');
    const std::string otherwise =
        option.default_text.empty() || option.kind == Option::Kind::boolean
            ? ""
            : fmt::format(" (default: {}{}{})", option.default_text, option.range.empty() ? "" : "; ", option.range);
    const std::string description = option.help + otherwise;
    if (std::ranges::any_of(arguments_, [&](const auto& known) { return known->key == option.name; })) {
      CLI::Option* const known = command.get_option(name);
      if (known->get_description() != description)
        known->description(known->get_description().starts_with(option.help) ? option.help + " (default: below)"
                                                                             : "Depends on the data: below");
      continue;
    }
    Argument& argument = *arguments_.emplace_back(std::make_unique<Argument>(Argument{.key = option.name}));
    if (option.kind == Option::Kind::boolean)
      command.add_flag(name, argument.flag, description);
    else if (option.kind == Option::Kind::text_list)
      not_empty(command.add_option(name, argument.texts, description));
    else
      not_empty(command.add_option(name, argument.text, description));
  }
}

std::vector<std::pair<std::string, std::string>> TableArguments::given() const {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& argument : arguments_) {
    if (argument->flag) settings.emplace_back(argument->key, "true");
    if (!argument->text.empty()) settings.emplace_back(argument->key, argument->text);
    if (!argument->texts.empty())
      settings.emplace_back(argument->key, fmt::format("{}", fmt::join(argument->texts, ",")));
  }
  return settings;
}

runs::SessionOptions SessionArguments::begin(const CommonOptions& common, const Ranks& ranks) const {
  runs::SessionOptions options{.data = data, .stop_after = stop_after, .quiet = common.quiet, .ranks = ranks};
  install_signal_handlers(options.stop);
  if (!ranks->is_root()) set_log_level(LogLevel::error);
  return options;
}

void SessionArguments::add_data(CLI::App& command) {
  command.add_option("--data", data,
                     "Folder with data sets, the only one looked in (default: $STEIN_DATA, then the user's cache)");
}

void SessionArguments::add_stop_after(CLI::App& command) {
  command
      .add_option(
          "--stop-after", stop_after,
          "Stop when every seed has done this many steps, with a checkpoint and exit code 75; a comparison or a "
          "sweep stops within the first of its runs that gets there")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 53));
}

int print_result(const runs::SessionResult& result, const CommonOptions& common,
                 const distributed::Communicator& ranks) {
  if (!result.finished) return interrupted;
  if (!ranks.is_root()) return 0;
  if (common.json) {
    std::fputs((result.summary.dump(2) + "\n").c_str(), stdout);
    return 0;
  }
  const runs::RunKind& kind = runs::kind_of(RunDirectory::open(result.directory));
  std::fputs(kind.readable(result.summary).c_str(), stdout);
  std::fputs(runs::summary_line("kept in", result.directory.string()).c_str(), stdout);
  return 0;
}

}  // namespace stein::cli
