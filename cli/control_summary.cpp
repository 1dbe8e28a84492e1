#include "control_summary.h"

#include <stein/core/version.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "summary_numbers.h"

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;
using agents::ControlOutcome;
using agents::FinishedEpisode;

/// Of every seed, the mean of something over its episodes.
template <class Value>
std::vector<double> means(const std::vector<ControlOutcome>& outcomes,
                          std::vector<FinishedEpisode> ControlOutcome::*episodes, const Value& value) {
  std::vector<double> result;
  for (const ControlOutcome& outcome : outcomes) {
    std::vector<double> values;
    for (const FinishedEpisode& episode : outcome.*episodes) values.push_back(static_cast<double>(value(episode)));
    result.push_back(agents::mean(values));
  }
  return result;
}

/// "3 of 5 seeds, median after 12,345 steps and 0.10 s of training".
std::string threshold_text(const Json& summary) {
  std::vector<double> steps, seconds;
  for (const Json& value : summary["steps_to_threshold"])
    if (!value.is_null()) steps.push_back(value.get<double>());
  for (const Json& value : summary["seconds_to_threshold"])
    if (!value.is_null()) seconds.push_back(value.get<double>());
  const std::string reached =
      fmt::format("{:g} in {} of {} seeds", summary["threshold"].get<double>(), steps.size(), summary["seeds"].size());
  if (steps.empty()) return reached;
  return fmt::format("{}, median after {:.0f} steps, {:.2f} s", reached, agents::quantile(steps, 0.5),
                     agents::quantile(seconds, 0.5));
}

}  // namespace

Json summarize_control(const ControlExperiment& experiment, const agents::ControlRun& run, const RunCost& cost) {
  const std::vector<ControlOutcome> outcomes = run.outcomes();
  const envs::ControlSpec& spec = run.spec();
  std::int64_t all_steps = 0;
  double training_seconds = 0;
  std::vector<std::vector<double>> particle_returns;
  Json seeds = Json::array(), iterations = Json::array();
  Json steps_to_threshold = Json::array(), seconds_to_threshold = Json::array();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const ControlOutcome& outcome = outcomes[i];
    const agents::ControlTiming& timing = run.timing()[i];
    seeds.push_back(outcome.seed);
    iterations.push_back(outcome.iterations);
    particle_returns.push_back(outcome.particle_returns);
    all_steps += outcome.steps;
    training_seconds += timing.training_seconds;
    steps_to_threshold.push_back(outcome.steps_to_threshold ? Json(*outcome.steps_to_threshold) : Json(nullptr));
    seconds_to_threshold.push_back(
        outcome.steps_to_threshold && timing.seconds_to_threshold ? Json(*timing.seconds_to_threshold) : Json(nullptr));
  }
  const auto total = [](const FinishedEpisode& episode) { return episode.total_reward; };
  const auto discounted = [](const FinishedEpisode& episode) { return episode.discounted_reward; };
  const auto length = [](const FinishedEpisode& episode) { return episode.length; };
  return {{"name", experiment.name()},
          {"env", experiment.environment()},
          {"env_version", spec.version},
          {"agent", experiment.agent()},
          {"posterior", experiment.posterior()},
          {"source", spec.source},
          {"steps", experiment.steps()},
          {"seeds", seeds},
          {"env_steps", all_steps},
          {"iterations", iterations},
          {"steps_per_second", number(training_seconds > 0 ? static_cast<double>(all_steps) / training_seconds : 0)},
          {"return", over_seeds(means(outcomes, &ControlOutcome::deterministic, total))},
          {"return_sampled", over_seeds(means(outcomes, &ControlOutcome::sampled, total))},
          {"discounted_return", over_seeds(means(outcomes, &ControlOutcome::deterministic, discounted))},
          {"episode_length", number(agents::mean(means(outcomes, &ControlOutcome::deterministic, length)))},
          {"evaluation_episodes", outcomes.front().deterministic.size()},
          {"threshold", number(spec.threshold)},
          {"seconds_to_threshold", seconds_to_threshold},
          {"steps_to_threshold", steps_to_threshold},
          {"particles", over_particles(particle_returns)},
          {"training_seconds", training_seconds},
          {"peak_memory_mb", cost.peak_memory_mb},
          {"wall_seconds", cost.wall_seconds},
          {"warnings", run.warnings()},
          {"version", version()},
          {"commit", commit()}};
}

std::string readable_control_summary(const Json& summary) {
  const std::size_t seeds = summary["seeds"].size();
  const std::string posterior = summary["posterior"].get<std::string>();
  std::string lines = fmt::format("{}{} on {}, {} steps{}\n\n", summary["agent"].get<std::string>(),
                                  posterior == "none" ? "" : fmt::format(" with posterior {}", posterior),
                                  summary["env"].get<std::string>(), summary["steps"].get<std::int64_t>(),
                                  seeds > 1 ? " per seed" : "");
  const auto line = [&](const char* name, const std::string& value) { lines += summary_line(name, value); };
  line("return", mean_and_deviation(summary["return"]) + spread_note(seeds));
  line("with drawn actions", mean_and_deviation(summary["return_sampled"]));
  line("discounted", mean_and_deviation(summary["discounted_return"]));
  line("episode length", text(summary["episode_length"]));
  const Json& particles = summary["particles"];
  if (particles["count"] > 1)
    line("particles", fmt::format("mean {}, median {}, best {}", text(particles["mean"]), text(particles["median"]),
                                  text(particles["max"])));
  if (!summary["threshold"].is_null()) line("threshold", threshold_text(summary));
  line("steps a second", text(summary["steps_per_second"], "{:.0f}"));
  line("peak memory", text(summary["peak_memory_mb"], "{:.0f}") + " MB");
  line("wall time", text(summary["wall_seconds"], "{:.2f}") + " s");
  return lines;
}

}  // namespace stein::cli
