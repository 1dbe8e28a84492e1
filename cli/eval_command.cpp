// stein eval: episodes of the policies that a run has learned.
#include <stein/agents/control/evaluation.h>
#include <stein/core/error.h>
#include <stein/runs/seed_statistics.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "command.h"
#include "summary_numbers.h"
#include "trained_run.h"

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;
using agents::FinishedEpisode;

struct Arguments {
  std::string directory;
  std::int64_t episodes = 100;
  bool sampled = false;
  std::optional<std::int64_t> particle;
  std::uint64_t seed = 0;
  CommonOptions common;
};

Json evaluate(const TrainedRun& trained, const Arguments& arguments) {
  const envs::ControlEntry::Builder& environment = trained.experiment->environment_builder();
  std::vector<double> returns, discounted, lengths, per_seed;
  std::vector<std::vector<double>> of_particles;
  Json seeds = Json::array();
  for (std::int64_t i = 0; i < trained.run->agent_count(); ++i) {
    const agents::ControlAgent& agent = trained.run->agent(i);
    const std::int64_t count = agent.policy().particle_count();
    STEIN_CHECK(!arguments.particle || *arguments.particle < count, "--particle {}: the run has particles 0 to {}",
                *arguments.particle, count - 1);
    const std::vector<std::int64_t> particles =
        arguments.particle ? std::vector(static_cast<std::size_t>(arguments.episodes), *arguments.particle)
                           : agents::draw_particles(arguments.episodes, count, arguments.seed);
    const agents::EvaluationOptions options{
        .deterministic = !arguments.sampled, .discount = agent.discount(), .seed = arguments.seed};
    const std::vector<FinishedEpisode> episodes = play_episodes(agent.policy(), environment, particles, options);
    const std::vector<double> of_seed = agents::returns_of(episodes);
    returns.insert(returns.end(), of_seed.begin(), of_seed.end());
    for (const FinishedEpisode& episode : episodes) {
      discounted.push_back(episode.discounted_reward);
      lengths.push_back(static_cast<double>(episode.length));
    }
    seeds.push_back(agent.seed());
    per_seed.push_back(agents::mean(of_seed));
    if (arguments.particle) continue;
    of_particles.push_back(particle_returns(agent.policy(), environment, arguments.episodes, options));
  }
  Json result{{"name", trained.experiment->name()},
              {"env", trained.experiment->environment()},
              {"agent", trained.experiment->agent()},
              {"posterior", trained.experiment->posterior()},
              {"seeds", seeds},
              {"steps_done", trained.run->steps_done()},
              {"episodes", arguments.episodes},
              {"actions", arguments.sampled ? "sampled" : "most likely"},
              {"episode_seed", arguments.seed},
              {"return",
               {{"mean", number(agents::mean(returns))},
                {"sd", number(agents::deviation(returns))},
                {"min", std::ranges::min(returns)},
                {"max", std::ranges::max(returns)},
                {"per_seed", per_seed}}},
              {"discounted_return", number(agents::mean(discounted))},
              {"episode_length", number(agents::mean(lengths))},
              {"threshold", number(trained.run->spec().threshold)}};
  if (!arguments.particle) result["particles"] = over_particles(of_particles);
  return result;
}

std::string readable(const Json& result) {
  const Json& returns = result["return"];
  const std::size_t seeds = result["seeds"].size();
  std::string lines =
      fmt::format("{} after {} steps, {} episodes{}, {} actions\n\n", result["name"].get<std::string>(),
                  result["steps_done"].get<std::int64_t>(), result["episodes"].get<std::int64_t>(),
                  seeds > 1 ? fmt::format(" of each of {} seeds", seeds) : "", result["actions"].get<std::string>());
  lines += summary_line("return", mean_and_deviation(returns) + "   mean ± sd of the episodes");
  lines += summary_line("from, to", fmt::format("{}, {}", text(returns["min"]), text(returns["max"])));
  lines += summary_line("discounted", text(result["discounted_return"]));
  lines += summary_line("episode length", text(result["episode_length"]));
  if (!result.contains("particles") || result["particles"]["count"] == 1) return lines;
  for (std::size_t s = 0; s < seeds; ++s) {
    lines += fmt::format("\n  seed {}, mean return of every particle\n ", result["seeds"][s].get<std::uint64_t>());
    for (const Json& value : result["particles"]["per_seed"][s]) lines += fmt::format(" {}", text(value));
    lines += "\n";
  }
  return lines;
}

}  // namespace

Action eval_command(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("RUN", arguments->directory, "Run directory")->required();
  command.add_option("--episodes", arguments->episodes, "Episodes of every seed of the run")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  command.add_flag("--sampled", arguments->sampled, "Draw actions; without it the most likely one is taken");
  from_zero(command.add_option("--particle", arguments->particle,
                               "This one only (default: one drawn uniformly for each episode)"));
  from_zero(command.add_option("--seed", arguments->seed, "Of the episodes, not of the run")->capture_default_str());
  arguments->common.add_all(command);
  return [arguments] {
    arguments->common.apply();
    const TrainedRun trained = load_trained_run(RunDirectory::open(arguments->directory));
    const Json result = evaluate(trained, *arguments);
    std::fputs(arguments->common.json ? (result.dump(2) + "\n").c_str() : readable(result).c_str(), stdout);
    return 0;
  };
}

}  // namespace stein::cli
