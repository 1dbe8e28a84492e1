#include <stein/agents/bandits/bandit_run.h>

#include <stein/core/jsonl_recorder.h>
#include <stein/core/parallel.h>
#include <stein/core/read_file.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "agents/toy_bandit.h"
#include "core/error_matcher.h"
#include "core/temporary_directory.h"

using namespace stein;
using agents::BanditAgent;
using agents::BanditRun;

namespace {

std::unique_ptr<BanditAgent> make_toy_agent(std::uint64_t seed) {
  return std::make_unique<BanditAgent>(policies::BanditLearner::Options{.batch = 8, .updates = 2, .forced_pulls = 0},
                                       seed, std::make_unique<test::ToyBandit>(),
                                       std::make_unique<test::ToyPolicy>(seed));
}

std::unique_ptr<BanditRun> make_run(runs::SeedRange seeds) {
  return std::make_unique<BanditRun>(seeds, make_toy_agent,
                                     BanditRun::Facts{.environment = "toy", .log_decisions = true});
}

/// What a run leaves: both logs and the saved state.
struct Trace {
  std::string decisions, metrics;
  Snapshot state;
};

/// 300 interactions of five seeds on `threads` threads, saved and restored into a new run after each of `pauses`.
Trace trace(int threads, const std::vector<std::int64_t>& pauses) {
  set_thread_count(threads);
  const test::TemporaryDirectory folder;
  Trace result;
  {
    JsonlRecorder recorder(folder / "metrics.jsonl");
    SilentProgress progress;
    const RunDirectory directory = RunDirectory::create(folder / "run");
    auto run = make_run({10, 15});
    run->open_logs(directory);
    for (const std::int64_t pause : pauses) {
      run->advance(pause, StopToken(), {recorder, progress});
      Snapshot state;
      run->save(state);
      run = make_run({10, 15});
      run->restore(state);
      run->open_logs(directory);
    }
    run->advance(300, StopToken(), {recorder, progress});
    run->save(result.state);
    recorder.flush();
    run->record_rest({recorder, progress});
  }
  result.decisions = read_file(folder / "run/decisions.jsonl");
  result.metrics = read_file(folder / "metrics.jsonl");
  return result;
}

bool same_arrays(const Snapshot& a, const Snapshot& b) {
  return std::ranges::equal(a.arrays(), b.arrays(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.shape == y.second.shape && x.second.bytes == y.second.bytes;
  });
}

}  // namespace

TEST_CASE("logs and state are the same bytes at any thread count and wherever a run pauses", "[agents][run]") {
  const Trace reference = trace(1, {});
  const auto [threads, pauses] =
      GENERATE(table<int, std::vector<std::int64_t>>({{2, {}}, {4, {}}, {1, {100}}, {2, {1, 2, 37, 255}}, {3, {299}}}));
  const Trace other = trace(threads, pauses);
  CHECK(other.decisions == reference.decisions);
  CHECK(other.metrics == reference.metrics);
  CHECK(same_arrays(other.state, reference.state));
}

TEST_CASE("the decision log is ordered by step and then by seed, and adds up to the result", "[agents][run]") {
  const test::TemporaryDirectory folder;
  RecorderGroup recorder;
  SilentProgress progress;
  const auto made = make_run({0, 3});
  BanditRun& run = *made;
  run.open_logs(RunDirectory::create(folder / "run"));
  run.advance(50, StopToken(), {recorder, progress});
  run.record_rest({recorder, progress});

  std::istringstream lines(read_file(folder / "run/decisions.jsonl"));
  std::vector<double> regret(3), reward(3);
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(nlohmann::json::parse(line)["name"] == run.spec().name);
  std::size_t count = 0;
  for (; std::getline(lines, line); ++count) {
    const auto entry = nlohmann::json::parse(line);
    const auto seed = count % 3;
    REQUIRE(entry["seed"] == seed);
    REQUIRE(entry["step"] == count / 3);
    REQUIRE(entry["row"] == -1);
    REQUIRE(entry["deterministic"] == false);
    REQUIRE(entry["propensities"][0].get<double>() + entry["propensities"][1].get<double>() == Approx(1));
    const auto expected = entry["expected_rewards"].get<std::vector<double>>();
    regret[seed] += std::max(expected[0], expected[1]) - expected[entry["action"].get<std::size_t>()];
    reward[seed] += entry["reward"].get<double>();
  }
  CHECK(count == 150);
  const agents::BanditResult result = run.result();
  CHECK(run.steps_done() == 50);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(result.regret[i] == Approx(regret[i]).epsilon(1e-12));
    CHECK(result.reward[i] == Approx(reward[i]).epsilon(1e-12));
  }
  CHECK(run.timing().decisions_per_second() > 0);
  CHECK(run.timing().updates_per_second() > 0);
}

TEST_CASE("decisions a second are shown where at least 200 were timed, and where nobody knows how many",
          "[agents][run]") {
  using Json = nlohmann::ordered_json;
  CHECK(agents::decision_rate({{"decisions_per_second", 1234.4}, {"timed_decisions", 200}}) == "1234");
  CHECK(agents::decision_rate({{"decisions_per_second", 1234.4}, {"timed_decisions", 199}}) == "-");
  CHECK(agents::decision_rate({{"decisions_per_second", 1234.4}}) == "1234");  // of an earlier version
  CHECK(agents::decision_rate({{"decisions_per_second", 0}, {"timed_decisions", 0}}) == "-");
  CHECK(agents::decision_rate({{"decisions_per_second", Json(nullptr)}}) == "-");
}

TEST_CASE("a run that is asked to stop stops soon, with all seeds in step", "[agents][run]") {
  RecorderGroup recorder;
  SilentProgress progress;
  BanditRun run({0, 3}, make_toy_agent, {});
  StopToken stop;
  stop.request_stop();
  run.advance(1000, stop, {recorder, progress});
  CHECK(run.steps_done() == 0);
  Snapshot state;
  run.save(state);
  BanditRun restored({0, 3}, make_toy_agent, {});
  CHECK_NOTHROW(restored.restore(state));
}

TEST_CASE("regret is compared with that of uniform play on the same contexts", "[agents][run]") {
  const agents::BanditResult result{.regret = {10, 50, 90, 70, 70.00000001, 70.01},
                                    .uniform_regret = {60, 60, 80, 70, 70, 70},
                                    .reward = {0, 0, 0, 0, 0, 0}};
  CHECK(result.percent_of_uniform()[1] == Approx(100 * 50.0 / 60));
  CHECK(result.lock_in() == std::vector<double>{0, 0, 1, 0, 0, 1});  // equal but for rounding is not worse
}

TEST_CASE("posterior rewards of every seed are kept, with what they should be", "[agents][run]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  make_run({3, 5})->write_results(directory);
  using Json = nlohmann::json;
  const Json posteriors = Json::parse(read_file(directory.file("posteriors.json")));
  REQUIRE(posteriors.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(posteriors[i]["seed"] == 3 + i);
    CHECK(posteriors[i]["probe"] == "c = ½");
    CHECK(posteriors[i]["expected_rewards"] == Json{0.0, 0.5});
    CHECK(posteriors[i]["samples"] == Json{{3.0 + static_cast<double>(i), 0.5}, {0.5, 0.0}});
  }
}

TEST_CASE("a summary has every measured number in one shape", "[agents][run]") {
  RecorderGroup recorder;
  SilentProgress progress;
  BanditRun run({0, 3}, make_toy_agent, {.environment = "toy", .policy = "toy"});
  run.advance(20, StopToken(), {recorder, progress});
  const auto summary = run.summarize(StopToken());
  for (const char* key : {"regret", "uniform_regret", "regret_percent_of_uniform", "lock_in_share", "reward"}) {
    CAPTURE(key);
    CHECK(summary[key]["per_seed"].size() == 3);
    CHECK(summary[key]["mean"].is_number());
    CHECK(summary[key]["sd"].is_number());
  }
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(summary["regret_percent_of_uniform"]["per_seed"][i].get<double>() ==
          Approx(100 * summary["regret"]["per_seed"][i].get<double>() /
                 summary["uniform_regret"]["per_seed"][i].get<double>()));
}

TEST_CASE("the entropy of propensities is the mean over the interactions since it was last recorded", "[agents][run]") {
  const test::TemporaryDirectory folder;
  {
    JsonlRecorder recorder(folder / "metrics.jsonl");
    SilentProgress progress;
    BanditRun run({10, 11}, make_toy_agent, {});
    run.advance(300, StopToken(), {recorder, progress});
    run.record_rest({recorder, progress});
    recorder.flush();
  }
  const auto agent = make_toy_agent(10);
  double sum = 0, count = 0;
  int compared = 0;
  std::istringstream lines(read_file(folder / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto entry = nlohmann::json::parse(line);
    if (entry["tag"] != "propensity_entropy") continue;
    while (agent->steps_done() < entry["step"].get<std::int64_t>())
      for (const double p : agent->step().propensities) sum -= p * std::log(p), count += 0.5;
    CHECK(entry["value"].get<double>() == Approx(sum / count).epsilon(1e-9));
    sum = count = 0, ++compared;
  }
  CHECK(compared > 5);
}

TEST_CASE("what a resumed run cost is added to what it cost before", "[agents][run]") {
  RecorderGroup recorder;
  SilentProgress progress;
  const auto first = make_run({0, 2}), second = make_run({0, 2});
  first->advance(100, StopToken(), {recorder, progress});
  second->advance(60, StopToken(), {recorder, progress});
  const auto before = first->cost(), now = second->cost();
  second->add_cost(before);
  const auto both = second->cost();
  CHECK(both["decisions"] == 320);
  for (const char* key : {"deciding_seconds", "learning_seconds", "timed_decisions", "decisions", "updates"}) {
    CAPTURE(key);
    CHECK(before[key].get<double>() > 0);
    CHECK(both[key].get<double>() == Approx(before[key].get<double>() + now[key].get<double>()));
  }
}

TEST_CASE("a run all of whose interactions were forced warns of it, and one with a single decision does not",
          "[agents][run]") {
  const auto warnings = [](std::int64_t steps) {
    RecorderGroup recorder;
    SilentProgress progress;
    const auto forced = [](std::uint64_t seed) {
      return std::make_unique<BanditAgent>(
          policies::BanditLearner::Options{.batch = 8, .updates = 2, .forced_pulls = 3}, seed,
          std::make_unique<test::ToyBandit>(), std::make_unique<test::ToyPolicy>(seed));
    };
    BanditRun run({0, 2}, forced, {});
    run.advance(steps, StopToken(), {recorder, progress});
    return run.warnings();
  };
  REQUIRE(warnings(6).size() == 1);
  CHECK_THAT(warnings(6)[0], Catch::Contains("all 6 interactions were forced pulls") && Catch::Contains("2 arms"));
  CHECK(warnings(7).empty());
}
