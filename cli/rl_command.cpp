// stein rl: an agent learns a control task.
#include <CLI/CLI.hpp>
#include <memory>

#include "command.h"
#include "control_experiment.h"
#include "experiment_arguments.h"
#include "terminal_film.h"
#include "trained_run.h"

namespace stein::cli {
namespace {

struct Arguments {
  std::string environment, agent, posterior;
  bool render = false;
  ExperimentArguments all;

  OptionSources sources() const {
    return all.sources({{"env", environment}, {"agent", agent}, {"posterior", posterior}});
  }
};

/// An episode of the policy that the run has learned, on standard error: standard output is for results.
void show(const RunDirectory& directory) {
  const TrainedRun trained = load_trained_run(directory);
  const RecordedEpisode episode = play_for_film(*trained.experiment, trained.run->agent(0), -1, 0);
  show_in_terminal({trained.run->spec(), scene_of(trained.experiment->environment()), episode}, stderr);
}

}  // namespace

Action rl_command(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("--env", arguments->environment, "The control task (default: CartPole-v1)");
  command.add_option(
      "--agent", arguments->agent,
      fmt::format("How policies learn: {} (default: a2c)", fmt::join(agents::control_agents().names(), ", ")));
  command.add_option(
      "--posterior", arguments->posterior,
      fmt::format("Over policies: {} (default: none)", fmt::join(agents::policy_posteriors().names(), ", ")));
  arguments->all.add_all(command, "ENV-AGENT-POSTERIOR");
  command.add_flag("--render", arguments->render, "Play an episode of the trained policy in the terminal afterwards");
  command.footer([arguments] { return ControlExperiment(arguments->sources()).help(); });
  return [arguments] {
    arguments->all.common.apply();
    const ControlExperiment experiment(arguments->sources());
    if (!arguments->render) return arguments->all.start(experiment);
    static_cast<void>(scene_of(experiment.environment()));  // before a long run
    return arguments->all.start(experiment, show);
  };
}

}  // namespace stein::cli
