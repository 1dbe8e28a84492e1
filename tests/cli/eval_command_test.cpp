#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

void train(const TemporaryDirectory& folder, const std::string& posterior, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"rl",      "--env",      "CartPole-v1",     "--posterior", posterior,
                                     "--seeds", "2:4",        "--out",           "run",         "--quiet",
                                     "--set",   "steps=3000", "final_episodes=8"};
  if (posterior != "none") arguments.emplace_back("particles=4");
  arguments.insert(arguments.end(), more.begin(), more.end());
  REQUIRE(run(folder.path(), arguments).code <= 75);
}

Json evaluate(const TemporaryDirectory& folder, std::vector<std::string> more) {
  more.insert(more.begin(), {"eval", "run", "--json", "--quiet"});
  const Outcome outcome = run(folder.path(), more);
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  return outcome.json();
}

}  // namespace

TEST_CASE("evaluation plays the policies of the newest checkpoint, and the same seed the same episodes", "[cli][rl]") {
  const TemporaryDirectory folder;
  train(folder, "svgd");
  const auto before = files_of(folder / "run");
  const Json first = evaluate(folder, {"--episodes", "10"}), again = evaluate(folder, {"--episodes", "10"});
  CHECK(first == again);
  CHECK(files_of(folder / "run") == before);
  CHECK(first["seeds"] == Json({2, 3}));
  const Json& returns = first["return"];
  CHECK(returns["per_seed"].size() == 2);
  CHECK(returns["min"].get<double>() <= returns["mean"].get<double>());
  CHECK(returns["max"].get<double>() >= returns["mean"].get<double>());
  CHECK(returns["sd"].get<double>() > 0);
  CHECK(first["episode_length"].get<double>() == Approx(returns["mean"].get<double>()));  // a reward of one a step
  CHECK(first["particles"]["per_seed"][0].size() == 4);
  CHECK(evaluate(folder, {"--episodes", "10", "--seed", "5"})["return"] != returns);
  CHECK(evaluate(folder, {"--episodes", "10", "--sampled"})["return"] != returns);
}

TEST_CASE("one particle can be evaluated alone", "[cli][rl]") {
  const TemporaryDirectory folder;
  train(folder, "independent");
  const Json third = evaluate(folder, {"--episodes", "6", "--particle", "3"});
  CHECK_FALSE(third.contains("particles"));
  CHECK(third["return"] != evaluate(folder, {"--episodes", "6", "--particle", "0"})["return"]);
  const Outcome refused = run(folder.path(), {"eval", "run", "--particle", "4"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("particles 0 to 3"));
}

TEST_CASE("a person reads a table of evaluated episodes, also of an unfinished run", "[cli][rl]") {
  const TemporaryDirectory folder;
  train(folder, "s2vgd", {"--stop-after", "1000"});
  const Outcome outcome = run(folder.path(), {"eval", "run", "--episodes", "4"});
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out,
             Contains("CartPole-v1/a2c-s2vgd after 1024 steps") && Contains("seed 3, mean return of every"));
}

TEST_CASE("what has no policies to play is refused", "[cli][rl][bad-input]") {
  const TemporaryDirectory folder;
  const auto refused = [&](const char* command, const char* part) {
    const Outcome outcome = run(folder.path(), {command, "run"});
    CHECK(outcome.code == 3);
    CHECK_THAT(outcome.err, Contains(part));
  };
  refused("eval", "'run'");
  refused("render", "'run'");
  train(folder, "none", {"--stop-after", "1000"});
  std::filesystem::remove_all(folder / "run/checkpoints");
  refused("eval", "no checkpoint");
  std::filesystem::remove_all(folder / "run");
  REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", "uniform", "--set", "steps=20", "--out", "run"})
              .code == 0);
  refused("eval", "a run of `stein bandit`");
  refused("render", "a run of `stein bandit`");
}
