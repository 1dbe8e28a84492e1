#include <stein/agents/control/control_run.h>

#include <stein/core/jsonl_recorder.h>
#include <stein/core/parallel.h>
#include <stein/core/read_file.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "agents/toy_control.h"
#include "core/error_matcher.h"
#include "core/temporary_directory.h"

using namespace stein;
using namespace stein::agents;

namespace {

const envs::ControlEntry::Builder& cart_pole() {
  static const auto builder = envs::controls().at("CartPole-v1").builder();
  return *builder;
}

std::unique_ptr<ControlAgent> make_agent(std::uint64_t seed) {
  // Whole paths: seeds differ in the steps of an iteration.
  ControlAgentOptions options = earlier_options(Learner::reinforce, PolicyPosterior::svgd, true);
  test::set(options, {{"particles", "3"}, {"slots", "2"}, {"steps_per_slot", "20"}, {"hidden", "8"}, {"alpha", "1"}});
  return std::make_unique<ControlAgent>(options, cart_pole(), seed);
}

constexpr ControlEvaluationOptions evaluation{.evaluate_every = 700, .evaluation_episodes = 3, .final_episodes = 5};

std::unique_ptr<ControlRun> make_run(std::uint64_t first = 4, std::uint64_t end = 7) {
  return std::make_unique<ControlRun>(runs::SeedRange{first, end}, make_agent, cart_pole(), evaluation,
                                      ControlRun::Facts{.environment = "CartPole-v1"});
}

/// Of prior and repulsion in the lengths of what moves particles: the mean over the iterations that were measured.
double mean_share(const std::vector<runs::Records::Number>& numbers) {
  std::map<std::int64_t, std::map<std::string, double>> parts;  // by step
  for (const auto& number : numbers)
    if (number.tag.ends_with("_norm") && number.tag != "gradient_norm") parts[number.step][number.tag] = number.value;
  double sum = 0;
  for (auto& [step, of] : parts) {
    const double rest = of["prior_norm"] + of["repulsion_norm"];
    sum += rest / (of["drive_norm"] + rest);
  }
  return sum / static_cast<double>(parts.size());
}

/// What a run leaves: its metrics and its saved state.
struct Trace {
  std::string metrics;
  Snapshot state;
};

/// At least 6,000 steps of three seeds on `threads` threads, saved and restored into a new run after each of `pauses`.
Trace trace(int threads, const std::vector<std::int64_t>& pauses) {
  const int before = thread_count();
  set_thread_count(threads);
  const test::TemporaryDirectory folder;
  Trace result;
  {
    JsonlRecorder recorder(folder / "metrics.jsonl");
    SilentProgress progress;
    auto run = make_run();
    for (const std::int64_t pause : pauses) {
      run->advance(pause, StopToken(), {recorder, progress});
      const Snapshot state = test::snapshot_of(*run);
      run = make_run();
      run->restore(state);
    }
    run->advance(6000, StopToken(), {recorder, progress});
    result.state = test::snapshot_of(*run);
    run->record_rest({recorder, progress});
    recorder.flush();
  }
  result.metrics = read_file(folder / "metrics.jsonl");
  set_thread_count(before);
  return result;
}

}  // namespace

TEST_CASE("metrics are the same bytes at any thread count and wherever a run pauses", "[agents][run][control]") {
  const Trace reference = trace(1, {});
  const auto [threads, pauses] =
      GENERATE(table<int, std::vector<std::int64_t>>({{2, {}}, {4, {}}, {2, {1, 700, 3001}}, {3, {5999}}}));
  const Trace other = trace(threads, pauses);
  CHECK(other.metrics == reference.metrics);
  CHECK(test::same_bytes(other.state, reference.state));
}

TEST_CASE("returns that are recorded are the mean, the median and the best of the particles' means",
          "[agents][run][control]") {
  // Of the episodes since the last record, particle by particle; an agent of the same seed plays the same ones.
  std::map<std::uint64_t, std::map<std::string, double>> recorded;  // by step
  std::istringstream lines(trace(1, {}).metrics);
  for (std::string line; std::getline(lines, line);)
    if (const auto entry = nlohmann::json::parse(line); entry["seed"] == 5)
      recorded[entry["step"]][entry["tag"]] = entry["value"];
  const auto agent = make_agent(5);
  std::vector<double> sums(3), counts(3);
  int compared = 0;
  while (agent->total_steps() < 6000) {
    for (const FinishedEpisode& episode : agent->iterate().episodes) {
      sums[static_cast<std::size_t>(episode.particle)] += episode.total_reward;
      counts[static_cast<std::size_t>(episode.particle)] += 1;
    }
    const auto found = recorded.find(static_cast<std::uint64_t>(agent->total_steps()));
    if (found == recorded.end() || !found->second.contains("return")) continue;
    std::vector<double> means;
    for (std::size_t i = 0; i < 3; ++i) means.push_back(sums[i] / counts[i]);
    std::ranges::sort(means);
    CHECK(found->second.at("return") == Approx((means[0] + means[1] + means[2]) / 3));
    CHECK(found->second.at("return_median") == Approx(means[1]));
    CHECK(found->second.at("return_max") == Approx(means[2]));
    sums.assign(3, 0), counts.assign(3, 0), ++compared;
  }
  CHECK(compared > 5);
}

TEST_CASE("metrics are numbered by the steps taken and then by seed, and are those of agents and evaluations",
          "[agents][run][control]") {
  std::map<std::uint64_t, std::set<std::uint64_t>> taken;  // after every iteration of a seed
  for (std::uint64_t seed = 4; seed < 7; ++seed)
    for (const auto agent = make_agent(seed); agent->total_steps() < 6000;) {
      agent->iterate();
      taken[seed].insert(static_cast<std::uint64_t>(agent->total_steps()));
    }
  std::istringstream lines(trace(2, {}).metrics);
  std::pair<std::uint64_t, std::uint64_t> last{0, 0};
  std::map<std::string, int> counts;
  for (std::string line; std::getline(lines, line);) {
    const auto entry = nlohmann::json::parse(line);
    const std::pair<std::uint64_t, std::uint64_t> place{entry["step"], entry["seed"]};
    REQUIRE(taken[place.second].contains(place.first));
    REQUIRE(place >= last);
    last = place;
    ++counts[entry["tag"]];
    if (entry["tag"] == "return") CHECK(entry["value"].get<double>() >= 1);
  }
  for (const char* tag :
       {"entropy", "particle_distance", "collapse", "return", "return_median", "return_max", "discounted_return",
        "discounted_return_median", "discounted_return_max", "episode_length", "evaluation_return"}) {
    CAPTURE(tag);
    CHECK(counts[tag] >= 3 * 6000 / 700 / 2);
  }
}

TEST_CASE("every evaluation of a run has starts of its own", "[agents][run][control]") {
  // A policy that hardly moves, always judged on the same starts, would always have the same return.
  const auto make_still = [](std::uint64_t seed) {
    ControlAgentOptions options = earlier_options(Learner::reinforce, PolicyPosterior::none, true);
    test::set(options, {{"slots", "2"}, {"steps_per_slot", "20"}, {"hidden", "8"}, {"step_size", "1e-12"}});
    return std::make_unique<ControlAgent>(options, cart_pole(), seed);
  };
  const test::TemporaryDirectory folder;
  {
    JsonlRecorder recorder(folder / "metrics.jsonl");
    SilentProgress progress;
    ControlRun run(runs::SeedRange{4, 5}, make_still, cart_pole(), evaluation, {.environment = "CartPole-v1"});
    run.advance(6000, StopToken(), {recorder, progress});
    run.record_rest({recorder, progress});
  }
  std::set<double> returns;
  std::istringstream lines(read_file(folder / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);)
    if (const auto entry = nlohmann::json::parse(line); entry["tag"] == "evaluation_return")
      returns.insert(entry["value"].get<double>());
  CHECK(returns.size() > 1);
}

TEST_CASE("the outcome of a control run has every seed and every particle", "[agents][run][control]") {
  RecorderGroup recorder;
  SilentProgress progress;
  const auto run = make_run();
  run->advance(500, StopToken(), {recorder, progress});
  const std::vector<ControlOutcome> outcomes = run->outcomes(StopToken());
  REQUIRE(outcomes.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(outcomes[i].seed == 4 + i);
    CHECK(outcomes[i].steps >= 500);
    CHECK(outcomes[i].deterministic.size() == 5);
    CHECK(outcomes[i].sampled.size() == 5);
    CHECK(outcomes[i].particle_returns.size() == 3);
    CHECK_FALSE(outcomes[i].steps_to_threshold);
    CHECK(outcomes[i].evaluated == (outcomes[i].steps >= evaluation.evaluate_every));
    CHECK(run->repetition(static_cast<std::int64_t>(i)).timing().training_seconds > 0);
  }
  CHECK(run->warnings().empty());
}

TEST_CASE("a repetition that concluded keeps what was played, in its state too, until it goes on",
          "[agents][run][control]") {
  runs::Records records(false);
  const auto make = [] { return std::make_unique<ControlRepetition>(make_agent(4), cart_pole(), evaluation); };
  auto repetition = make();
  repetition->advance(300, StopToken(), records);
  const Snapshot before = test::snapshot_of(*repetition);
  const ControlOutcome played = repetition->outcome({});
  CHECK_FALSE(repetition->concluded());
  StopToken stop;
  stop.request_stop();
  repetition->conclude(stop);
  CHECK_FALSE(repetition->concluded());
  repetition->conclude({});
  REQUIRE(repetition->concluded());
  const Snapshot state = test::snapshot_of(*repetition);
  repetition = make();
  repetition->restore(state);
  REQUIRE(repetition->concluded());
  const ControlOutcome kept = repetition->outcome(stop);  // nothing is played any more
  CHECK(returns_of(kept.deterministic) == returns_of(played.deterministic));
  CHECK(returns_of(kept.sampled) == returns_of(played.sampled));
  CHECK(kept.particle_returns == played.particle_returns);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(kept.sampled[k].particle == played.sampled[k].particle);
    CHECK(kept.sampled[k].length == played.sampled[k].length);
    CHECK(kept.sampled[k].discounted_reward == played.sampled[k].discounted_reward);
    CHECK(kept.sampled[k].terminated == played.sampled[k].terminated);
  }
  repetition->forget_conclusion();
  CHECK(test::same_bytes(test::snapshot_of(*repetition), before));
  repetition->conclude({});
  repetition->advance(repetition->steps_done() + 1, StopToken(), records);
  CHECK_FALSE(repetition->concluded());
}

TEST_CASE("a warning of an agent names its seed", "[agents][run][control]") {
  RecorderGroup recorder;
  SilentProgress progress;
  const auto run = make_run();
  run->advance(100, StopToken(), {recorder, progress});
  ControlAgent& agent = run->repetition(1).agent();
  agent.policy().particles().values()(0, 0) = NAN;
  agent.policy().refresh();
  run->advance(agent.total_steps() + 1, StopToken(), {recorder, progress});
  std::vector<std::string> warnings = run->warnings();
  std::erase_if(warnings, [](const std::string& text) { return text.find("gone back") == std::string::npos; });
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings.front(), Catch::StartsWith("seed 5: ") && Catch::Contains("has gone back 1 time"));
}

TEST_CASE("a control run that is asked to stop stops soon, and its state can be taken up", "[agents][run][control]") {
  RecorderGroup recorder;
  SilentProgress progress;
  const auto run = make_run();
  StopToken stop;
  stop.request_stop();
  run->advance(1000, stop, {recorder, progress});
  CHECK(run->steps_done() == 0);
  for (const ControlOutcome& outcome : run->outcomes(stop))
    for (const auto* episodes : {&outcome.deterministic, &outcome.sampled})
      for (const FinishedEpisode& episode : *episodes) CHECK(episode.length == 0);
  CHECK_NOTHROW(make_run()->restore(test::snapshot_of(*run)));
}

namespace {

/// A short training of three particles; one that pauses goes on in a repetition of its own.
std::unique_ptr<ControlRepetition> played(ControlAgentOptions options, std::int64_t iterations, bool pauses,
                                          runs::Records& records) {
  test::set(options, {{"particles", "3"}, {"slots", "2"}, {"hidden", "8"}});
  const auto make = [&] {
    return std::make_unique<ControlRepetition>(std::make_unique<ControlAgent>(options, cart_pole(), 3), cart_pole(),
                                               evaluation);
  };
  auto repetition = make();
  while (repetition->agent().iterations() < iterations)
    repetition->advance(repetition->steps_done() + 1, StopToken(), records);
  if (!pauses) return repetition;
  const Snapshot state = test::snapshot_of(*repetition);
  repetition = make();
  repetition->restore(state);
  return repetition;
}

}  // namespace

TEST_CASE("a Stein posterior of which prior and repulsion are next to nothing is warned of, also once it was resumed",
          "[agents][run][control]") {
  const auto after = [](std::int64_t iterations, const char* alpha, bool pauses, const char* half_life = "0") {
    ControlAgentOptions options = earlier_options(Learner::a2c, PolicyPosterior::svgd, true);
    test::set(options, {{"alpha", alpha}, {"alpha_half_life", half_life}, {"initial_correlation", "0"}});
    runs::Records records(false);
    const auto repetition = played(options, iterations, pauses, records);
    const ControlOutcome outcome = repetition->outcome(StopToken());
    CHECK(outcome.collapse.has_value());
    REQUIRE(outcome.parts.has_value());
    return std::pair(repetition->warning(), 100 * mean_share(records.numbers()));
  };
  for (const bool pauses : {false, true}) {
    const auto [warning, percent] = after(10, "1e-6", pauses);
    REQUIRE(percent < 0.1);
    REQUIRE(warning);
    CHECK_THAT(*warning, Catch::Contains(fmt::format("are {:.2g} % of", percent)) &&
                             Catch::Contains("not draws of a posterior; a larger alpha"));
    CHECK(!after(9, "1e-6", pauses).first);  // a prior around the start would be 0 there
    const auto [none, more] = after(10, "5e-5", pauses);
    REQUIRE(more > 0.1);
    REQUIRE(more < 1);
    CHECK(!none);
    CHECK(!after(10, "1", pauses).first);
    const auto [annealed, once] = after(150, "1", pauses, "5");
    REQUIRE(once > 1);  // in the mean of all iterations: what was long ago is forgotten
    CHECK(annealed);
  }
}

TEST_CASE(
    "Stein posteriors with the defaults on CartPole-v1 are no maxima of the return, with next to no alpha they are",
    "[agents][run][control]") {
  for (const Learner learner : {Learner::a2c, Learner::ppo})
    for (const PolicyPosterior posterior : {PolicyPosterior::svgd, PolicyPosterior::s2vgd})
      for (const double alpha : {0.0, 1e-9}) {
        ControlAgentOptions options = default_options(learner, posterior, true);
        if (alpha > 0) options.alpha = alpha;
        ControlRepetition repetition(std::make_unique<ControlAgent>(options, cart_pole(), 3), cart_pole(), evaluation);
        runs::Records records(false);
        for (int k = 0; k < 10; ++k) repetition.advance(repetition.steps_done() + 1, StopToken(), records);
        CAPTURE(static_cast<int>(learner), static_cast<int>(posterior), alpha);
        const std::optional<std::string> warning = repetition.warning();
        CHECK((warning && warning->find("maxima of the return") != std::string::npos) == (alpha > 0));
      }
}

TEST_CASE("particles of a Stein posterior that act alike are warned of, also once they were resumed",
          "[agents][run][control]") {
  const auto play = [](const char* posterior, const char* correlation, const char* shared, bool pauses,
                       const char* spread = "1") {
    ControlAgentOptions options = earlier_options(
        Learner::a2c, std::string(posterior) == "svgd" ? PolicyPosterior::svgd : PolicyPosterior::s2vgd, true);
    test::set(
        options,
        {{"alpha", "1"}, {"share_rollouts", shared}, {"initial_correlation", correlation}, {"output_spread", spread}});
    runs::Records records(false);
    const auto repetition = played(options, 6, pauses, records);
    return std::pair{repetition->warning(), repetition->outcome(StopToken())};
  };
  for (const char* posterior : {"svgd", "s2vgd"})
    for (const bool pauses : {false, true}) {
      CAPTURE(posterior, pauses);
      const auto [warning, outcome] = play(posterior, "0.999", "true", pauses);
      REQUIRE(outcome.effective_share > 0.99);
      CHECK(outcome.effective_share <= 1 + 1e-6);
      REQUIRE(warning);
      CHECK_THAT(*warning, Catch::Contains("a posterior in name only") &&
                               Catch::Contains(fmt::format("(collapse {:.2g})", *outcome.collapse)) &&
                               Catch::Contains(fmt::format("effective_share {:.3g}", *outcome.effective_share)));
      const auto [none, apart] = play(posterior, "0", "true", pauses, "10");
      REQUIRE(apart.effective_share < 0.99);
      CHECK(!none);
      const auto [jitter, alone] = play(posterior, "0.999", "false", pauses);
      CHECK(!alone.effective_share);
      REQUIRE(alone.collapse < 0.01);
      REQUIRE(jitter);
      CHECK_THAT(*jitter, Catch::Contains("a posterior in name only") && Catch::Contains("(collapse);"));
      const auto [unknown, close] = play(posterior, "0.9", "false", pauses);
      CHECK(close.collapse > 0.01);
      CHECK(close.collapse < 0.2);
      CHECK(!unknown);
    }
}

TEST_CASE("a control run needs seeds", "[agents][run][control]") {
  CHECK_ERROR(make_run(3, 3), usage, "3:3");
}

TEST_CASE("the time to the threshold is that of the first evaluation that reached it, also once it was resumed",
          "[agents][run][control]") {
  constexpr ControlEvaluationOptions often{.evaluate_every = 60, .evaluation_episodes = 4, .final_episodes = 1};
  struct Result {
    std::vector<std::pair<std::int64_t, double>> evaluations;  ///< after so many steps
    std::optional<std::int64_t> steps;
    ControlTiming timing;
  };
  const auto play = [&](double threshold, bool pauses) {
    const auto task = test::countdown();
    OptionTable::of(*task).set("threshold", fmt::format("{}", threshold));
    const auto make = [&] {
      ControlAgentOptions options = earlier_options(Learner::a2c, PolicyPosterior::none, false);
      test::set(options, {{"slots", "2"}, {"steps_per_slot", "15"}, {"hidden", "4"}});
      return std::make_unique<ControlRepetition>(std::make_unique<ControlAgent>(options, *task, 3), *task, often);
    };
    auto repetition = make();
    runs::Records records(false);
    while (repetition->steps_done() < 600) {
      repetition->advance(repetition->steps_done() + 30, StopToken(), records);
      if (!pauses) continue;
      const Snapshot state = test::snapshot_of(*repetition);
      repetition = make();
      repetition->restore(state);
    }
    Result result{.evaluations = {},
                  .steps = repetition->outcome(StopToken()).steps_to_threshold,
                  .timing = repetition->timing()};
    for (const auto& number : records.numbers())
      if (number.tag == "evaluation_return") result.evaluations.emplace_back(number.step, number.value);
    return result;
  };
  const auto evaluations = play(1e9, false).evaluations;
  REQUIRE(evaluations.size() == 10);
  const auto lowest = std::ranges::min_element(evaluations, {}, &std::pair<std::int64_t, double>::second);
  const auto highest = std::ranges::max_element(evaluations, {}, &std::pair<std::int64_t, double>::second);
  for (const bool pauses : {false, true}) {
    CAPTURE(pauses);
    CHECK_FALSE(play(1e9, pauses).steps);
    CHECK(play(lowest->second, pauses).steps == evaluations.front().first);
    CHECK(play(highest->second, pauses).steps == highest->first);  // equal is enough
  }
  const ControlTiming timing = play(highest->second, false).timing;
  REQUIRE(timing.seconds_to_threshold);
  CHECK(*timing.seconds_to_threshold > 0);
  CHECK(*timing.seconds_to_threshold <= timing.training_seconds);
  CHECK_FALSE(play(1e9, false).timing.seconds_to_threshold);
}

TEST_CASE("time of other processes is added in the order of time, and a threshold that one reached stays reached",
          "[agents][run][control]") {
  ControlRepetition repetition(make_agent(4), cart_pole(), evaluation);
  repetition.add_timing({.training_seconds = 5});
  CHECK(repetition.timing().training_seconds == 5);
  CHECK_FALSE(repetition.timing().seconds_to_threshold);
  repetition.add_timing({.training_seconds = 10, .seconds_to_threshold = 7});
  CHECK(repetition.timing().training_seconds == 15);
  CHECK(repetition.timing().seconds_to_threshold == 12.0);  // reached in the later of two processes
  repetition.add_timing({.training_seconds = 3});
  CHECK(repetition.timing().training_seconds == 18);
  CHECK(repetition.timing().seconds_to_threshold == 12.0);
}

TEST_CASE("a threshold that this process reaches is counted from the first step of all", "[agents][run][control]") {
  constexpr ControlEvaluationOptions often{.evaluate_every = 60, .evaluation_episodes = 4, .final_episodes = 1};
  const auto task = test::countdown();
  OptionTable::of(*task).set("threshold", "-1e9");
  ControlAgentOptions options = earlier_options(Learner::a2c, PolicyPosterior::none, false);
  test::set(options, {{"slots", "2"}, {"steps_per_slot", "15"}, {"hidden", "4"}});
  ControlRepetition repetition(std::make_unique<ControlAgent>(options, *task, 3), *task, often);
  repetition.add_timing({.training_seconds = 100});
  runs::Records records(false);
  repetition.advance(120, StopToken(), records);
  const ControlTiming timing = repetition.timing();
  REQUIRE(timing.seconds_to_threshold);
  CHECK(*timing.seconds_to_threshold > 100);
  CHECK(*timing.seconds_to_threshold <= timing.training_seconds);
}
