#include <stein/agents/control/control_evaluation.h>
#include <stein/agents/control/control_summary.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>

namespace stein::agents {
using Json = nlohmann::ordered_json;

void ControlEvaluation::describe(OptionTable& table) {
  table("episodes", episodes_, "episodes of every seed of the run", between(1, 1e6));
  table("sampled", sampled_, "draw actions; without it the most likely one is taken");
  table("particle", particle_, "this one only; -1: one drawn uniformly for each episode", between(-1, 1e9));
  table("seed", episode_seed_, "of the episodes, not of the run", between(0, 9e15));
}

ControlEvaluation::Played ControlEvaluation::play(const ControlAgent& agent,
                                                  const envs::ControlEntry::Builder& environment,
                                                  Progress& progress) const {
  const std::int64_t particles = agent.policy().particle_count();
  const auto seed = static_cast<std::uint64_t>(episode_seed_);
  const std::vector<std::int64_t> players = particle_ >= 0 ? std::vector(static_cast<std::size_t>(episodes_), particle_)
                                                           : draw_particles(episodes_, particles, seed);
  const EvaluationOptions options{
      .deterministic = !sampled_, .discount = agent.discount(), .seed = seed, .progress = &progress};
  const std::vector<FinishedEpisode> episodes = play_episodes(agent.policy(), environment, players, options);
  Played played{.returns = returns_of(episodes)};
  for (const FinishedEpisode& episode : episodes) {
    played.discounted_return += episode.discounted_reward;
    played.length += static_cast<double>(episode.length);
  }
  played.discounted_return /= static_cast<double>(episodes_);
  played.length /= static_cast<double>(episodes_);
  if (particle_ >= 0) return played;
  // A single policy has played all of them already.
  played.of_particles = particles == 1 ? std::vector{runs::mean(played.returns)}
                                       : particle_returns(agent.policy(), environment, episodes_, options);
  return played;
}

std::int64_t ControlEvaluation::episodes_in_all(std::int64_t particles) const {
  return episodes_ + (particle_ < 0 && particles > 1 ? episodes_of_particles(episodes_, particles) : 0);
}

Json ControlEvaluation::perform_on(const ControlExperiment& experiment, ControlRun& run, const RunDirectory&,
                                   const runs::Console& console) {
  std::vector<double> all_returns, returns, discounted, lengths;
  std::vector<std::vector<double>> of_particles;
  Json seeds = Json::array();
  std::int64_t episodes = 0;
  run.check_particle(particle_);
  for (std::int64_t i = 0; i < run.count(); ++i)
    episodes += episodes_in_all(run.repetition(i).agent().policy().particle_count());
  console.progress->begin(experiment.name(), "episodes", static_cast<std::uint64_t>(episodes));
  for (std::int64_t i = 0; i < run.count(); ++i) {
    const Played played = play(run.repetition(i).agent(), experiment.environment_builder(), *console.progress);
    seeds.push_back(run.repetition(i).seed());
    all_returns.insert(all_returns.end(), played.returns.begin(), played.returns.end());
    returns.push_back(runs::mean(played.returns));
    discounted.push_back(played.discounted_return);
    lengths.push_back(played.length);
    of_particles.push_back(played.of_particles);
  }
  Json result{{"env", experiment.environment()},
              {"agent", experiment.agent()},
              {"posterior", experiment.posterior()},
              {"seeds", seeds},
              {"steps_done", run.steps_done()},
              {"episodes", episodes_},
              {"actions", sampled_ ? "sampled" : "most likely"},
              {"episode_seed", episode_seed_},
              {"return", runs::measured(returns)},
              {"episode_return",
               {{"mean", runs::number(runs::mean(all_returns))},
                {"sd", runs::number(runs::deviation(all_returns))},
                {"min", std::ranges::min(all_returns)},
                {"max", std::ranges::max(all_returns)},
                {"per_seed", returns}}},
              {"discounted_return", runs::measured(discounted)},
              {"episode_length", runs::measured(lengths)},
              {"threshold", runs::number(run.spec().threshold)}};
  if (particle_ < 0) result["particles"] = over_particles(of_particles);
  return result;
}

std::string ControlEvaluation::readable(const Json& result) const {
  using runs::summary_line, runs::text;
  const Json& episodes = result["episode_return"];
  const std::size_t seeds = result["seeds"].size();
  std::string lines =
      fmt::format("{} after {} steps, {} episodes{}, {} actions\n\n", result["name"].get<std::string>(),
                  result["steps_done"].get<std::int64_t>(), result["episodes"].get<std::int64_t>(),
                  seeds > 1 ? fmt::format(" of each of {} seeds", seeds) : "", result["actions"].get<std::string>());
  lines += summary_line("return", runs::mean_and_deviation(episodes) + "   mean ± sd of the episodes");
  if (seeds > 1) lines += summary_line("over seeds", runs::mean_and_deviation(result["return"]));
  lines += summary_line("from, to", fmt::format("{}, {}", text(episodes["min"]), text(episodes["max"])));
  lines += summary_line("discounted", text(result["discounted_return"]));
  lines += summary_line("episode length", text(result["episode_length"]));
  if (!result.contains("particles") || result["particles"]["count"] == 1) return lines;
  for (std::size_t s = 0; s < seeds; ++s) {
    lines += fmt::format("\n  seed {}, mean return of every particle\n ", result["seeds"][s].get<std::uint64_t>());
    for (const Json& value : result["particles"]["per_seed"][s]) lines += fmt::format(" {}", text(value));
    lines += '\n';
  }
  return lines;
}

}  // namespace stein::agents
