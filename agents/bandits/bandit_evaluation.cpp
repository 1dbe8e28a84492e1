#include <stein/agents/bandits/bandit_evaluation.h>
#include <stein/core/parallel.h>
#include <stein/runs/measured.h>
#include <stein/runs/repetitions.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <numeric>

namespace stein::agents {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t first_step = std::int64_t{1} << 40;

}  // namespace

ChoicesWorth worth_of_choices(policies::BanditPolicy& policy, envs::BanditEnvironment& environment, std::uint64_t seed,
                              std::int64_t interactions, Progress& progress) {
  ChoicesWorth worth;
  for (std::int64_t i = 0; i < interactions; ++i) {
    const envs::Context context = environment.observe(seed, first_step + i);
    const policies::Decision decision = policy.decide(context, first_step + i, policies::Propensities::none);
    const std::span<const double> expected = environment.expected_rewards();
    const double best = std::ranges::max(expected);
    worth.regret += best - expected[static_cast<std::size_t>(decision.action)];
    worth.uniform_regret +=
        best - std::accumulate(expected.begin(), expected.end(), 0.0) / static_cast<double>(expected.size());
    worth.reward += environment.reward(decision.action);
    progress.advance(1);
  }
  return worth;
}

void BanditEvaluation::describe(OptionTable& table) {
  table("interactions", interactions_, "contexts that every seed's policy chooses in", between(1, 1e9), "interactions");
  table("seed", context_seed_, "of the contexts, not of the run", between(0, 9e15));
}

Json BanditEvaluation::perform_on(const BanditExperiment& experiment, BanditRun& run, const RunDirectory&,
                                  const runs::Console& console) {
  console.progress->begin(experiment.name(), "interactions", static_cast<std::uint64_t>(run.count() * interactions_));
  const std::uint64_t contexts =
      runs::derived_seed({.seed = static_cast<std::uint64_t>(context_seed_), .step = 0, .stream = Stream::test});
  std::vector<double> regret(static_cast<std::size_t>(run.count())), uniform = regret, percent = regret,
                                                                     reward = regret;
  Json seeds = Json::array();
  parallel_for(run.count(), [&](std::int64_t i) {
    BanditAgent& agent = run.repetition(i).agent();
    const ChoicesWorth worth =
        worth_of_choices(agent.policy(), agent.environment(), contexts, interactions_, *console.progress);
    const auto place = static_cast<std::size_t>(i);
    regret[place] = worth.regret;
    uniform[place] = worth.uniform_regret;
    percent[place] = 100 * worth.regret / worth.uniform_regret;
    reward[place] = worth.reward;
  });
  for (std::int64_t i = 0; i < run.count(); ++i) seeds.push_back(run.repetition(i).seed());
  return {{"seeds", seeds},
          {"steps_done", run.steps_done()},
          {"interactions", interactions_},
          {"context_seed", context_seed_},
          {"contexts_are_rows", run.repetition(0).agent().environment().row() >= 0},
          {"regret", runs::measured(regret)},
          {"uniform_regret", runs::measured(uniform)},
          {"regret_percent_of_uniform", runs::measured(percent)},
          {"reward", runs::measured(reward)}};
}

std::string BanditEvaluation::readable(const Json& result) const {
  const std::size_t seeds = result["seeds"].size();
  const char* const contexts =
      result["contexts_are_rows"].get<bool>() ? "rows drawn anew from the data that it learned from," : "new contexts";
  std::string lines =
      fmt::format("{} after {} interactions, choosing in {} {} without learning\n\n", result["name"].get<std::string>(),
                  result["steps_done"].get<std::int64_t>(), result["interactions"].get<std::int64_t>(), contexts);
  lines += runs::summary_line("regret", runs::mean_and_deviation(result["regret"]) + runs::spread_note(seeds));
  lines += runs::summary_line("of uniform play", runs::text(result["regret_percent_of_uniform"]) + " %");
  lines += runs::summary_line("reward", runs::mean_and_deviation(result["reward"]));
  return lines;
}

}  // namespace stein::agents
