// stein env: what an environment is, and what it does step by step.
#include <stein/core/error.h>
#include <stein/core/nearest_name.h>
#include <stein/envs/bandit_environment.h>
#include <stein/envs/vector_environment.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "command.h"
#include "env_description.h"
#include "env_trace.h"

namespace stein::cli {
namespace {

struct EnvArguments {
  std::string name, state, actions, data;
  std::vector<std::string> settings;
  std::uint64_t seed = 0;
  bool json = false;
};

template <class Builder>
void set_options(Builder& builder, const std::vector<std::string>& settings) {
  OptionTable table;
  builder.describe(table);
  for (const std::string& setting : settings) {
    const auto [key, value] = runs::parse_setting(setting);
    table.set(key, value);
  }
}

int print(const nlohmann::ordered_json& description, bool json) {
  std::fputs((json ? description.dump(2) + "\n" : description_text(description)).c_str(), stdout);
  return 0;
}

int show_bandit(const EnvArguments& arguments) {
  STEIN_CHECK(arguments.actions.empty() && arguments.state.empty(),
              "'{0}' is a bandit, which has no state to start from: `stein bandit --env {0}` plays it", arguments.name);
  const envs::BanditEntry& entry = envs::bandits().at(arguments.name);
  const auto builder = entry.builder();
  set_options(*builder, arguments.settings);
  return print(describe_bandit(arguments.name, entry.description, *builder, {arguments.data}), arguments.json);
}

int show_control(const EnvArguments& arguments) {
  const envs::ControlEntry& entry = envs::controls().at(arguments.name);
  const auto builder = entry.builder();
  set_options(*builder, arguments.settings);
  if (arguments.actions.empty()) {
    STEIN_CHECK(arguments.state.empty(), "--state is where --actions FILE start from, which are missing");
    return print(describe_control(entry.description, *builder), arguments.json);
  }
  const auto environment = builder->make_single();
  if (arguments.state.empty())
    environment->reset(arguments.seed);
  else
    environment->set_state(parse_numbers(arguments.state, "--state"));
  print_trace(*environment, read_actions(arguments.actions, environment->spec().action), arguments.actions,
              arguments.json ? TraceForm::json : TraceForm::text);
  return 0;
}

int show(const EnvArguments& arguments) {
  std::vector<std::string> names = envs::controls().names();
  STEIN_CHECK(!arguments.name.empty(), "`stein env` expects the name of an environment; `stein list` has them");
  if (envs::controls().entries().contains(arguments.name)) return show_control(arguments);
  if (envs::bandits().entries().contains(arguments.name)) return show_bandit(arguments);
  for (const std::string& name : envs::bandits().names()) names.push_back(name);
  fail(ErrorKind::usage, "unknown environment '{}'.{}", arguments.name, suggestion(arguments.name, names));
}

}  // namespace

Action env_command(CLI::App& command, const Arguments&) {
  const auto arguments = std::make_shared<EnvArguments>();
  command.add_option("NAME", arguments->name, "The environment; `stein list` names them");
  command.add_option("--set", arguments->settings, "key=value, an option of the environment; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--actions", arguments->actions,
                     "File with an action a line: print the transition that each one makes, in double precision where "
                     "the dynamics have it");
  command.add_option("--state", arguments->state,
                     "Where the first action starts, x,y,… as the description lists it (default: a reset)");
  from_zero(command.add_option("--seed", arguments->seed, "Of that reset")->capture_default_str());
  command.add_option("--data", arguments->data, "Folder with data sets, for bandits that have one");
  command.add_flag("--json", arguments->json, "One JSON object; with --actions one a line for every transition");
  return [arguments] { return show(*arguments); };
}

}  // namespace stein::cli
