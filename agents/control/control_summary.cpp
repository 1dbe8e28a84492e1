#include <fmt/format.h>
#include <stein/agents/control/control_summary.h>
#include <stein/runs/measured.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace stein::agents {
namespace {

using Json = nlohmann::ordered_json;
using runs::measured;

constexpr double not_reached = std::numeric_limits<double>::quiet_NaN();

/// Of every seed, the mean of something over its episodes.
template <class Value>
Json over_episodes(const std::vector<ControlOutcome>& outcomes, std::vector<FinishedEpisode> ControlOutcome::*episodes,
                   const Value& value) {
  std::vector<double> means;
  for (const ControlOutcome& outcome : outcomes) {
    std::vector<double> values;
    for (const FinishedEpisode& episode : outcome.*episodes) values.push_back(static_cast<double>(value(episode)));
    means.push_back(runs::mean(values));
  }
  return measured(means);
}

/// Of every seed, the share that each part has of the Stein direction.
Json posterior_share(const std::vector<ControlOutcome>& outcomes) {
  const auto shares = [&](double PosteriorParts::*part) {
    std::vector<double> values;
    for (const ControlOutcome& outcome : outcomes)
      values.push_back(outcome.parts && outcome.parts->sum() > 0 ? *outcome.parts.*part / outcome.parts->sum()
                                                                 : not_reached);
    return runs::measured_where_defined(values);
  };
  return {{"prior", shares(&PosteriorParts::prior)},
          {"repulsion", shares(&PosteriorParts::repulsion)},
          {"drive", shares(&PosteriorParts::drive)}};
}

/// The values of the seeds that have one; earlier versions wrote the bare list.
std::vector<double> defined_values(const Json& value) {
  std::vector<double> values;
  for (const Json& entry : value.is_object() ? value["per_seed"] : value)
    if (!entry.is_null()) values.push_back(entry.get<double>());
  return values;
}

/// "475 in 3 of 5 seeds, median after 12345 steps, 0.10 s".
std::string threshold_text(const Json& summary) {
  if (!was_evaluated(summary))
    return fmt::format("{:g}, not looked for: no evaluation while it learned (evaluate_every)",
                       summary["threshold"].get<double>());
  const std::vector<double> steps = defined_values(summary["steps_to_threshold"]);
  const std::string reached =
      fmt::format("{:g} in {} of {} seeds", summary["threshold"].get<double>(), steps.size(), summary["seeds"].size());
  if (steps.empty()) return reached;
  return fmt::format("{}, median after {:.0f} steps, {:.2f} s", reached, runs::quantile(steps, 0.5),
                     runs::quantile(defined_values(summary["seconds_to_threshold"]), 0.5));
}

}  // namespace

bool was_evaluated(const Json& summary) {
  return summary.value("evaluated", true);
}

double steps_of_seed(const Json& summary) {
  return summary["env_steps"].get<double>() / static_cast<double>(summary["seeds"].size());
}

Json over_particles(const std::vector<std::vector<double>>& returns) {
  std::vector<double> mean, median, best;
  for (const std::vector<double>& seed : returns) {
    mean.push_back(runs::mean(seed));
    median.push_back(runs::quantile(seed, 0.5));
    best.push_back(std::ranges::max(seed));
  }
  return {{"count", returns.front().size()},
          {"mean", measured(mean)},
          {"median", measured(median)},
          {"max", measured(best)},
          {"per_seed", returns}};
}

Json summarize_outcomes(const std::vector<ControlOutcome>& outcomes, const std::vector<ControlTiming>& timing) {
  std::int64_t all_steps = 0;
  double training_seconds = 0;
  std::vector<std::vector<double>> particle_returns;
  std::vector<double> steps, seconds;
  Json iterations = Json::array();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const ControlOutcome& outcome = outcomes[i];
    iterations.push_back(outcome.iterations);
    particle_returns.push_back(outcome.particle_returns);
    all_steps += outcome.steps;
    training_seconds += timing[i].training_seconds;
    const bool reached = outcome.steps_to_threshold.has_value();
    steps.push_back(reached ? static_cast<double>(*outcome.steps_to_threshold) : not_reached);
    seconds.push_back(reached ? timing[i].seconds_to_threshold.value_or(not_reached) : not_reached);
  }
  const auto total = [](const FinishedEpisode& episode) { return episode.total_reward; };
  const auto discounted = [](const FinishedEpisode& episode) { return episode.discounted_reward; };
  const auto length = [](const FinishedEpisode& episode) { return episode.length; };
  Json summary{
      {"env_steps", all_steps},
      {"iterations", iterations},
      {"steps_per_second", runs::number(training_seconds > 0 ? static_cast<double>(all_steps) / training_seconds : 0)},
      {"return", over_episodes(outcomes, &ControlOutcome::deterministic, total)},
      {"return_sampled", over_episodes(outcomes, &ControlOutcome::sampled, total)},
      {"discounted_return", over_episodes(outcomes, &ControlOutcome::deterministic, discounted)},
      {"episode_length", over_episodes(outcomes, &ControlOutcome::deterministic, length)},
      {"evaluation_episodes", outcomes.front().deterministic.size()},
      {"seconds_to_threshold", runs::measured_where_defined(seconds)},
      {"steps_to_threshold", runs::measured_where_defined(steps)},
      {"evaluated", std::ranges::any_of(outcomes, &ControlOutcome::evaluated)},
      {"particles", over_particles(particle_returns)},
      {"training_seconds", training_seconds}};
  const bool stein =
      std::ranges::any_of(outcomes, [](const ControlOutcome& outcome) { return outcome.parts.has_value(); });
  if (!stein) return summary;
  const auto where_measured = [&](std::optional<double> ControlOutcome::*number) {
    std::vector<double> values;
    for (const ControlOutcome& outcome : outcomes) values.push_back((outcome.*number).value_or(not_reached));
    return runs::measured_where_defined(values);
  };
  summary["posterior_share"] = posterior_share(outcomes);
  summary["collapse"] = where_measured(&ControlOutcome::collapse);
  if (std::ranges::any_of(outcomes, [](const ControlOutcome& outcome) { return outcome.effective_share.has_value(); }))
    summary["effective_share"] = where_measured(&ControlOutcome::effective_share);
  return summary;
}

std::string readable_control_summary(const Json& summary) {
  using runs::mean_and_deviation, runs::text;
  const std::size_t seeds = summary["seeds"].size();
  const std::string posterior = summary["posterior"].get<std::string>();
  const std::int64_t asked = summary["steps"];
  const double played = steps_of_seed(summary);
  constexpr double clearly = 1.1;
  std::string lines = fmt::format(
      "{}{} on {}, {:.0f} steps{}{}\n\n", summary["agent"].get<std::string>(),
      posterior == "none" ? "" : fmt::format(" with posterior {}", posterior), summary["env"].get<std::string>(),
      played, seeds > 1 ? " per seed" : "",
      played > clearly * static_cast<double>(asked) ? fmt::format(", in whole iterations ({} asked for)", asked) : "");
  const auto line = [&](const char* name, const std::string& value) { lines += runs::summary_line(name, value); };
  line("return", mean_and_deviation(summary["return"]) + runs::spread_note(seeds));
  line("with drawn actions", mean_and_deviation(summary["return_sampled"]));
  line("discounted", mean_and_deviation(summary["discounted_return"]));
  line("episode length", text(summary["episode_length"]));
  const Json& particles = summary["particles"];
  if (particles["count"] > 1)
    line("particles", fmt::format("mean {}, median {}, best {}", text(particles["mean"]), text(particles["median"]),
                                  text(particles["max"])));
  if (summary.contains("posterior_share")) {
    const Json& share = summary["posterior_share"];
    line("what moves them", fmt::format("prior {}, repulsion {}, drive {} of the whole", text(share["prior"], "{:.2g}"),
                                        text(share["repulsion"], "{:.2g}"), text(share["drive"], "{:.2g}")));
    line("collapse meter", text(summary["collapse"], "{:.2g}"));
    if (summary.contains("effective_share")) line("effective share", text(summary["effective_share"], "{:.3g}"));
  }
  if (!summary["threshold"].is_null()) line("threshold", threshold_text(summary));
  line("steps a second", text(summary["steps_per_second"], "{:.0f}"));
  line("peak memory", text(summary["peak_memory_mb"], "{:.0f}") + " MB");
  line("wall time", text(summary["wall_seconds"], "{:.2f}") + " s");
  return lines;
}

}  // namespace stein::agents
