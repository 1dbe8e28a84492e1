// stein bandit: a policy learns a contextual bandit.
#include <CLI/CLI.hpp>
#include <memory>

#include "bandit_experiment.h"
#include "command.h"
#include "experiment_arguments.h"

namespace stein::cli {
namespace {

struct Arguments {
  std::string environment, policy;
  bool log_decisions = false;
  ExperimentArguments all;

  OptionSources sources() const {
    return all.sources({{"env", environment}, {"policy", policy}, {"log_decisions", log_decisions ? "true" : ""}});
  }
};

}  // namespace

Action bandit_command(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("--env", arguments->environment, "The bandit (default: mushroom)");
  command.add_option("--policy", arguments->policy, "The policy (default: s2vgd)");
  arguments->all.add_all(command, "ENV-POLICY");
  command.add_flag("--log-decisions", arguments->log_decisions, "Write decisions.jsonl: every choice with its chances");
  arguments->all.run.add_data(command);
  command.footer([arguments] { return BanditExperiment(arguments->sources()).help(); });
  return [arguments] {
    arguments->all.common.apply();
    return arguments->all.start(BanditExperiment(arguments->sources()));
  };
}

}  // namespace stein::cli
