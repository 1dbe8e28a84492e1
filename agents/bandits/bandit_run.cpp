#include <stein/agents/bandits/bandit_run.h>

#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/runs/repetitions.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <cmath>

namespace stein::agents {
namespace {

/// Agents wait for each other this often [interactions]: often enough to stop soon when asked to, rarely enough to cost
/// nothing.
constexpr std::int64_t block_size = 8;

double entropy(std::span<const double> probabilities) {
  double sum = 0;
  for (const double p : probabilities)
    if (p > 0) sum -= p * std::log(p);
  return sum;
}

}  // namespace

struct BanditRun::Report {
  struct Number {
    std::int64_t step;
    std::string tag;
    double value;
  };
  std::vector<Interaction> interactions;
  std::vector<std::vector<double>> expected_rewards, propensities;  ///< what the spans of `interactions` point to
  std::vector<Number> numbers;

  void clear() {
    interactions.clear();
    expected_rewards.clear();
    propensities.clear();
    numbers.clear();
  }
  void add(const Interaction& interaction) {
    const auto& expected =
        expected_rewards.emplace_back(interaction.expected_rewards.begin(), interaction.expected_rewards.end());
    const auto& chances = propensities.emplace_back(interaction.propensities.begin(), interaction.propensities.end());
    interactions.push_back(interaction);
    interactions.back().expected_rewards = expected;
    interactions.back().propensities = chances;
  }
};

double BanditResult::regret_percent_of_uniform() const {
  return 100 * mean(regret) / mean(uniform_regret);
}

double BanditResult::lock_in_share() const {
  std::int64_t locked = 0;
  for (std::size_t i = 0; i < regret.size(); ++i)  // equal but for the order of a sum is not worse
    locked += regret[i] > uniform_regret[i] * (1 + 1e-9);
  return static_cast<double>(locked) / static_cast<double>(regret.size());
}

BanditRun::BanditRun(std::uint64_t first_seed, std::uint64_t end_seed, const MakeAgent& make_agent) {
  check_seeds(first_seed, end_seed);
  for (std::uint64_t seed = first_seed; seed < end_seed; ++seed) agents_.push_back({.agent = make_agent(seed)});
}

void BanditRun::advance(std::int64_t until, const StopToken& stop, const Outputs& outputs) {
  std::vector<Report> reports(agents_.size());
  while (steps_done() < until && !stop.stop_requested()) {
    const std::int64_t block_end = std::min(until, steps_done() + block_size);
    parallel_for(agent_count(), [&](std::int64_t i) {
      const auto place = static_cast<std::size_t>(i);
      const std::int64_t before = agents_[place].agent->steps_done();
      run_block(agents_[place], block_end, reports[place]);
      outputs.progress.advance(static_cast<std::uint64_t>(block_end - before));
    });
    hand_over(reports, outputs);
  }
}

void BanditRun::run_block(Repetition& repetition, std::int64_t until, Report& report) {
  BanditAgent& agent = *repetition.agent;
  report.clear();
  report.expected_rewards.reserve(block_size);
  report.propensities.reserve(block_size);
  while (agent.steps_done() < until) {
    const Interaction& now = agent.step();
    report.add(now);
    repetition.entropy_sum += entropy(now.propensities);
    ++repetition.entropy_count;
    const std::int64_t done = agent.steps_done();
    if (!is_recorded(done)) continue;
    report.numbers.push_back({done, "regret", now.regret});
    report.numbers.push_back({done, "uniform_regret", now.uniform_regret});
    report.numbers.push_back({done, "reward", now.total_reward});
    report.numbers.push_back(
        {done, "propensity_entropy", repetition.entropy_sum / static_cast<double>(repetition.entropy_count)});
    repetition.entropy_sum = 0;
    repetition.entropy_count = 0;
    for (auto& [tag, value] : agent.policy().diagnostics()) report.numbers.push_back({done, std::move(tag), value});
  }
}

void BanditRun::hand_over(std::vector<Report>& reports, const Outputs& outputs) const {
  if (outputs.decisions != nullptr) {
    for (std::size_t k = 0; k < reports.front().interactions.size(); ++k)
      for (std::size_t i = 0; i < reports.size(); ++i)
        outputs.decisions->interaction(agents_[i].agent->seed(), reports[i].interactions[k]);
  }
  std::vector<std::size_t> next(reports.size(), 0);
  for (const Interaction& interaction : reports.front().interactions) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
      const auto& numbers = reports[i].numbers;
      for (; next[i] < numbers.size() && numbers[next[i]].step == interaction.step + 1; ++next[i]) {
        const auto& [step, tag, value] = numbers[next[i]];
        outputs.recorder.scalar(tag, agents_[i].agent->seed(), static_cast<std::uint64_t>(step), value);
      }
    }
  }
}

BanditResult BanditRun::result() const {
  BanditResult result{.steps = steps_done()};
  for (const Repetition& repetition : agents_) {
    const BanditAgent& agent = *repetition.agent;
    result.seeds.push_back(agent.seed());
    result.regret.push_back(agent.last().regret);
    result.uniform_regret.push_back(agent.last().uniform_regret);
    result.reward.push_back(agent.last().total_reward);
    if (const auto warning = agent.policy().warning())
      result.warnings.push_back(fmt::format("seed {}: {}", agent.seed(), *warning));
    result.timing += agent.timing();
  }
  return result;
}

std::vector<ProbedPosterior> BanditRun::probed_posteriors() {
  std::vector<ProbedPosterior> posteriors;
  for (Repetition& repetition : agents_) {
    BanditAgent& agent = *repetition.agent;
    for (const auto& probe : agent.environment().probes()) {
      auto samples = agent.policy().posterior_rewards({.dense = probe.dense, .active = probe.active});
      if (!samples.empty())
        posteriors.push_back({agent.seed(), probe.name, probe.expected_rewards, std::move(samples)});
    }
  }
  return posteriors;
}

void BanditRun::save(Snapshot& snapshot) const {
  for (const Repetition& repetition : agents_) {
    Snapshot part;
    repetition.agent->save(part);
    part.put("entropy_sum", repetition.entropy_sum);
    part.put("entropy_count", repetition.entropy_count);
    snapshot.put_part(part_name(repetition.agent->seed()), part);
  }
}

void BanditRun::restore(const Snapshot& snapshot) {
  for (Repetition& repetition : agents_) {
    const Snapshot part = snapshot.part(part_name(repetition.agent->seed()));
    repetition.agent->restore(part);
    repetition.entropy_sum = part.get_scalar<double>("entropy_sum");
    repetition.entropy_count = part.get_scalar<std::int64_t>("entropy_count");
    if (repetition.agent->steps_done() != steps_done())
      fail(ErrorKind::data, "the saved repetitions are not in step: {} and {} interactions", steps_done(),
           repetition.agent->steps_done());
  }
}

}  // namespace stein::agents
