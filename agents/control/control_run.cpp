#include <stein/agents/control/control_run.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/runs/repetitions.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <sstream>
#include <string>

namespace stein::agents {
namespace {

using Clock = std::chrono::steady_clock;

/// Iterations of every agent before metrics are handed over and a wish to stop is heard.
constexpr int block_iterations = 8;

/// Mean of something of the episodes of each particle that finished any.
template <class Value>
std::vector<double> by_particle(const std::vector<FinishedEpisode>& episodes, std::int64_t particles,
                                const Value& value) {
  std::vector<double> sums(static_cast<std::size_t>(particles)), counts(sums.size()), means;
  for (const FinishedEpisode& episode : episodes) {
    sums[static_cast<std::size_t>(episode.particle)] += value(episode);
    counts[static_cast<std::size_t>(episode.particle)] += 1;
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (counts[i] > 0) means.push_back(sums[i] / counts[i]);
  return means;
}

/// Seeds of evaluations, apart from those of training: another one every time.
std::uint64_t evaluation_seed(std::uint64_t seed, std::uint64_t number) {
  return derived_seed({.seed = seed, .step = number, .stream = Stream::test});
}

constexpr std::uint64_t final_evaluation = std::uint64_t{1} << 40;

}  // namespace

ControlRun::ControlRun(std::uint64_t first_seed, std::uint64_t end_seed, const MakeAgent& make_agent,
                       const envs::ControlEntry::Builder& environment, const ControlEvaluationOptions& evaluation)
    : environment_(environment), evaluation_(checked(evaluation)), spec_(environment.spec()) {
  check_seeds(first_seed, end_seed);
  for (std::uint64_t seed = first_seed; seed < end_seed; ++seed) repetitions_.push_back({.agent = make_agent(seed)});
  timing_.resize(repetitions_.size());
}

std::int64_t ControlRun::steps_done() const {
  std::int64_t fewest = repetitions_.front().agent->total_steps();
  for (const Repetition& repetition : repetitions_) fewest = std::min(fewest, repetition.agent->total_steps());
  return fewest;
}

void ControlRun::advance(std::int64_t until, const StopToken& stop, const Outputs& outputs) {
  while (steps_done() < until && !stop.stop_requested()) {
    parallel_for(agent_count(), [&](std::int64_t i) {
      Repetition& repetition = repetitions_[static_cast<std::size_t>(i)];
      const std::int64_t before = repetition.agent->total_steps();
      for (int k = 0; k < block_iterations && repetition.agent->total_steps() < until && !stop.stop_requested(); ++k)
        iterate(repetition, timing_[static_cast<std::size_t>(i)]);
      outputs.progress.advance(static_cast<std::uint64_t>(repetition.agent->total_steps() - before));
    });
    hand_over(outputs, steps_done());
  }
}

void ControlRun::iterate(Repetition& repetition, ControlTiming& timing) const {
  const Clock::time_point start = Clock::now();
  const IterationReport report = repetition.agent->iterate();
  timing.training_seconds += std::chrono::duration<double>(Clock::now() - start).count();
  record(repetition, report);
  const std::int64_t every = evaluation_.evaluate_every;
  if (every > 0 && repetition.agent->total_steps() / every > repetition.evaluations) evaluate(repetition, timing);
}

void ControlRun::record(Repetition& repetition, const IterationReport& report) const {
  repetition.episodes.insert(repetition.episodes.end(), report.episodes.begin(), report.episodes.end());
  const ControlAgent& agent = *repetition.agent;
  if (!is_recorded(agent.iterations())) return;
  const std::int64_t particles = agent.policy().particle_count();
  const auto add = [&](const std::string& tag, double value) {
    repetition.numbers.push_back({agent.total_steps(), tag, value});
  };
  add("entropy", report.entropy);
  for (const auto& [tag, value] : agent.policy().diagnostics()) add(tag, value);
  if (repetition.episodes.empty()) return;
  const auto add_returns = [&](const std::string& tag, const auto& value) {
    const std::vector<double> returns = by_particle(repetition.episodes, particles, value);
    add(tag, mean(returns));
    if (particles == 1) return;
    add(tag + "_median", quantile(returns, 0.5));
    add(tag + "_max", *std::ranges::max_element(returns));
  };
  add_returns("return", [](const FinishedEpisode& e) { return e.total_reward; });
  add_returns("discounted_return", [](const FinishedEpisode& e) { return e.discounted_reward; });
  add("episode_length", mean(by_particle(repetition.episodes, particles,
                                         [](const FinishedEpisode& e) { return static_cast<double>(e.length); })));
  repetition.episodes.clear();
}

void ControlRun::evaluate(Repetition& repetition, ControlTiming& timing) const {
  const ControlAgent& agent = *repetition.agent;
  repetition.evaluations = agent.total_steps() / evaluation_.evaluate_every;
  const std::uint64_t seed = evaluation_seed(agent.seed(), static_cast<std::uint64_t>(repetition.evaluations));
  const std::vector<FinishedEpisode> episodes = play_episodes(
      agent.policy(), environment_,
      draw_particles(evaluation_.evaluation_episodes, agent.policy().particle_count(), seed), {.seed = seed});
  const double value = mean(returns_of(episodes));
  repetition.numbers.push_back({agent.total_steps(), "evaluation_return", value});
  if (!(value >= spec_.threshold) || repetition.steps_to_threshold >= 0) return;
  repetition.steps_to_threshold = agent.total_steps();
  timing.seconds_to_threshold = timing.training_seconds;
}

void ControlRun::finish(const Outputs& outputs) {
  hand_over(outputs, std::numeric_limits<std::int64_t>::max());
}

/// By step and then by seed.
void ControlRun::hand_over(const Outputs& outputs, std::int64_t last_step) {
  std::vector<std::size_t> next(repetitions_.size());
  while (true) {
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < next.size(); ++i) {
      const auto& numbers = repetitions_[i].numbers;
      if (next[i] < numbers.size()) step = std::min(step, numbers[next[i]].step);
    }
    if (step > last_step || step == std::numeric_limits<std::int64_t>::max()) break;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const auto& numbers = repetitions_[i].numbers;
      for (; next[i] < numbers.size() && numbers[next[i]].step == step; ++next[i])
        outputs.recorder.scalar(numbers[next[i]].tag, repetitions_[i].agent->seed(), static_cast<std::uint64_t>(step),
                                numbers[next[i]].value);
    }
  }
  for (std::size_t i = 0; i < next.size(); ++i) {
    auto& numbers = repetitions_[i].numbers;
    numbers.erase(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(next[i]));
  }
}

std::vector<std::string> ControlRun::warnings() const {
  std::vector<std::string> found;
  for (const Repetition& repetition : repetitions_)
    if (const auto warning = repetition.agent->warning())
      found.push_back("seed " + std::to_string(repetition.agent->seed()) + ": " + *warning);
  return found;
}

std::vector<ControlOutcome> ControlRun::outcomes() const {
  std::vector<ControlOutcome> outcomes(repetitions_.size());
  parallel_for(agent_count(), [&](std::int64_t i) {
    const Repetition& repetition = repetitions_[static_cast<std::size_t>(i)];
    const ControlAgent& agent = *repetition.agent;
    const std::int64_t particles = agent.policy().particle_count(), episodes = evaluation_.final_episodes;
    const std::uint64_t seed = evaluation_seed(agent.seed(), final_evaluation);
    const double discount = agent.discount();
    const std::vector<std::int64_t> drawn = draw_particles(episodes, particles, seed);
    ControlOutcome& outcome = outcomes[static_cast<std::size_t>(i)];
    outcome = {.seed = agent.seed(), .steps = agent.total_steps(), .iterations = agent.iterations()};
    outcome.deterministic = play_episodes(agent.policy(), environment_, drawn, {.discount = discount, .seed = seed});
    outcome.sampled = play_episodes(agent.policy(), environment_, drawn,
                                    {.deterministic = false, .discount = discount, .seed = seed});
    outcome.particle_returns =
        particle_returns(agent.policy(), environment_, episodes, {.discount = discount, .seed = seed + 1});
    if (repetition.steps_to_threshold >= 0) outcome.steps_to_threshold = repetition.steps_to_threshold;
  });
  return outcomes;
}

void ControlRun::add_timing(const std::vector<ControlTiming>& earlier) {
  STEIN_CHECK(earlier.size() == timing_.size(), "expected the time of {} seeds, got {}", timing_.size(),
              earlier.size());
  for (std::size_t i = 0; i < timing_.size(); ++i) {
    if (timing_[i].seconds_to_threshold) *timing_[i].seconds_to_threshold += earlier[i].training_seconds;
    if (earlier[i].seconds_to_threshold) timing_[i].seconds_to_threshold = earlier[i].seconds_to_threshold;
    timing_[i].training_seconds += earlier[i].training_seconds;
  }
}

void ControlRun::save(Snapshot& snapshot) const {
  for (const Repetition& repetition : repetitions_) {
    Snapshot part, agent;
    repetition.agent->save(agent);
    part.put_part("agent", agent);
    std::vector<double> episodes;
    for (const FinishedEpisode& e : repetition.episodes)
      for (const double value : {static_cast<double>(e.particle), static_cast<double>(e.length), e.total_reward,
                                 e.discounted_reward, e.terminated ? 1.0 : 0.0})
        episodes.push_back(value);
    part.put("episodes", episodes);
    part.put("evaluations", std::vector<std::int64_t>{repetition.evaluations, repetition.steps_to_threshold});
    std::vector<std::int64_t> steps;
    std::vector<double> values;
    std::string tags;
    for (const Number& number : repetition.numbers) {
      steps.push_back(number.step);
      values.push_back(number.value);
      tags += number.tag + "\n";
    }
    part.put("unrecorded_steps", steps);
    part.put("unrecorded_values", values);
    part.put_text("unrecorded_tags", tags);
    snapshot.put_part(part_name(repetition.agent->seed()), part);
  }
}

void ControlRun::restore(const Snapshot& snapshot) {
  for (Repetition& repetition : repetitions_) {
    const Snapshot part = snapshot.part(part_name(repetition.agent->seed()));
    repetition.agent->restore(part.part("agent"));
    repetition.episodes.clear();
    const auto episodes = part.get_vector<double>("episodes");
    for (std::size_t k = 0; k + 5 <= episodes.size(); k += 5)
      repetition.episodes.push_back({.particle = static_cast<std::int64_t>(episodes[k]),
                                     .length = static_cast<std::int64_t>(episodes[k + 1]),
                                     .total_reward = episodes[k + 2],
                                     .discounted_reward = episodes[k + 3],
                                     .terminated = episodes[k + 4] != 0});
    const auto evaluations = part.get_vector<std::int64_t>("evaluations");
    repetition.evaluations = evaluations.at(0), repetition.steps_to_threshold = evaluations.at(1);
    repetition.numbers.clear();
    const auto steps = part.get_vector<std::int64_t>("unrecorded_steps");
    const auto values = part.get_vector<double>("unrecorded_values");
    std::istringstream tags(part.get_text("unrecorded_tags"));
    std::string tag;
    for (std::size_t k = 0; k < std::min(steps.size(), values.size()) && std::getline(tags, tag); ++k)
      repetition.numbers.push_back({steps[k], tag, values[k]});
  }
}

}  // namespace stein::agents
