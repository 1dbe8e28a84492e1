#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

void train_cart_pole(const TemporaryDirectory& folder, const std::string& posterior,
                     const std::vector<std::string>& more = {}) {
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
  train_cart_pole(folder, "svgd");
  const auto before = files_of(folder / "run");
  const Json first = evaluate(folder, {"--episodes", "10"}), again = evaluate(folder, {"--episodes", "10"});
  CHECK(first == again);
  CHECK(files_of(folder / "run") == before);
  CHECK(first["seeds"] == Json({2, 3}));
  const Json& returns = first["return"];
  const Json& episodes = first["episode_return"];
  CHECK(returns["per_seed"].size() == 2);
  CHECK(returns["mean"].get<double>() == Approx(episodes["mean"].get<double>()));
  CHECK(episodes["min"].get<double>() <= episodes["mean"].get<double>());
  CHECK(episodes["max"].get<double>() >= episodes["mean"].get<double>());
  CHECK(episodes["sd"].get<double>() > 0);
  CHECK(first["episode_length"]["per_seed"] == returns["per_seed"]);  // a reward of one a step
  CHECK(first["particles"]["mean"]["per_seed"].size() == 2);
  CHECK(first["particles"]["per_seed"][0].size() == 4);
  CHECK(evaluate(folder, {"--episodes", "10", "--seed", "5"})["return"] != returns);
  CHECK(evaluate(folder, {"--episodes", "10", "--sampled"})["return"] != returns);
}

TEST_CASE("one particle can be evaluated alone", "[cli][rl]") {
  const TemporaryDirectory folder;
  train_cart_pole(folder, "independent");
  const Json third = evaluate(folder, {"--episodes", "6", "--particle", "3"});
  CHECK_FALSE(third.contains("particles"));
  CHECK(third["return"] != evaluate(folder, {"--episodes", "6", "--particle", "0"})["return"]);
  const Outcome refused = run(folder.path(), {"eval", "run", "--particle", "4"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("particles 0 to 3"));
}

TEST_CASE("a person reads a table of evaluated episodes, also of an unfinished run", "[cli][rl]") {
  const TemporaryDirectory folder;
  train_cart_pole(folder, "s2vgd", {"--stop-after", "1000"});
  const Outcome outcome = run(folder.path(), {"eval", "run", "--episodes", "4"});
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out,
             Contains("CartPole-v1/a2c-s2vgd after 1024 steps") && Contains("seed 3, mean return of every"));
  CHECK_THAT(outcome.err, Contains("16 of 16 episodes"));  // four drawn particles and four particles, of two seeds
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
  train_cart_pole(folder, "none", {"--stop-after", "1000"});
  std::filesystem::remove_all(folder / "run/checkpoints");
  refused("eval", "no checkpoint");
  std::filesystem::remove_all(folder / "run");
  REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", "uniform", "--set", "steps=20", "--out", "run"})
              .code == 0);
  refused("render", "a run of `stein bandit`");
}

TEST_CASE("bandit policies choose in new contexts without learning, the same again with the same seed",
          "[cli][bandit]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", "lints", "--seeds", "1:3", "--set",
                              "steps=3000", "--out", "run", "--quiet"})
              .code == 0);
  const auto before = files_of(folder / "run"), checkpoints = files_of(folder / "run/checkpoints");
  const Json first = evaluate(folder, {"--interactions", "500"}), again = evaluate(folder, {"--interactions", "500"});
  CHECK(first == again);
  CHECK(files_of(folder / "run") == before);
  CHECK(files_of(folder / "run/checkpoints") == checkpoints);
  CHECK(first["kind"] == "bandit");
  CHECK(first["seeds"] == Json({1, 2}));
  for (const char* key : {"regret", "uniform_regret", "regret_percent_of_uniform", "reward"})
    CHECK(first[key]["per_seed"].size() == 2);
  const Json &regret = first["regret"]["per_seed"], &uniform = first["uniform_regret"]["per_seed"];
  CHECK(uniform[0] == uniform[1]);  // of the same contexts
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(first["regret_percent_of_uniform"]["per_seed"][i].get<double>() ==
          Approx(100 * regret[i].get<double>() / uniform[i].get<double>()));
  CHECK(first["regret_percent_of_uniform"]["mean"].get<double>() < 30);  // what was learned is there
  CHECK(evaluate(folder, {"--interactions", "500", "--seed", "4"})["regret"] != first["regret"]);
  const Outcome person = run(folder.path(), {"eval", "run", "--interactions", "50"});
  CHECK_THAT(person.out,
             Contains("after 3000 interactions, choosing in 50 rows drawn anew from the data that it learned from, "
                      "without learning"));
}

TEST_CASE("options of an evaluation are those of the run's kind, and help names them all", "[cli][rl][bad-input]") {
  const TemporaryDirectory folder;
  train_cart_pole(folder, "none");
  const Outcome wrong = run(folder.path(), {"eval", "run", "--interactions", "5"});
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.err, Contains("'--interactions'. It is for runs of `stein bandit`."));
  const Outcome near = run(folder.path(), {"eval", "run", "--episode", "5"});
  CHECK(near.code == 2);
  CHECK_THAT(near.err, Contains("Did you mean '--episodes'?"));
  const Outcome range = run(folder.path(), {"eval", "run", "--episodes", "0"});
  CHECK(range.code == 2);
  CHECK_THAT(range.err, Contains("episodes") && Contains("1") && Contains("got 0"));
  const Outcome help = run(folder.path(), {"eval", "--help"});
  CHECK_THAT(help.out, Contains("runs of `stein bandit`") && Contains("interactions") &&
                           Contains("runs of `stein rl`") && Contains("episodes"));
  CHECK_THAT(run(folder.path(), {"eval", "run", "--help"}).out, Contains("--episodes") && Contains("--sampled"));
}
