#include <catch2/catch.hpp>
#include <csignal>
#include <string>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// A run that is long enough to be interrupted and short enough to wait for; iterations do not divide its intervals.
std::vector<std::string> command(const std::string& agent, const std::string& out, const std::string& threads,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"rl",
                                     "--env",
                                     "cartpole-swingup",
                                     "--agent",
                                     agent,
                                     "--posterior",
                                     "s2vgd",
                                     "--seeds",
                                     "0:2",
                                     "--quiet",
                                     "--out",
                                     out,
                                     "--threads",
                                     threads,
                                     "--set",
                                     "steps=9000",
                                     "particles=3",
                                     "slots=2",
                                     "checkpoint_every=1000",
                                     "evaluate_every=1500",
                                     "evaluation_episodes=2",
                                     "final_episodes=3",
                                     "decay_steps=9000",  // of a run that is made longer, too
                                     "normalize_observations=true",
                                     "normalize_rewards=true"};
  if (agent == "reinforce") arguments.insert(arguments.end(), {"steps_per_slot=40", "horizon=60"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void check_same_run(const TemporaryDirectory& folder, const std::string& a, const std::string& b) {
  for (const char* file : {"/metrics.jsonl", "/config.toml"})
    CHECK(content_of(folder / (a + file)) == content_of(folder / (b + file)));
  CHECK(files_of(folder / (a + "/checkpoints")) == files_of(folder / (b + "/checkpoints")));
  const Json first = Json::parse(content_of(folder / (a + "/summary.json"))),
             second = Json::parse(content_of(folder / (b + "/summary.json")));
  for (const char* key : {"return", "return_sampled", "particles", "steps_to_threshold", "env_steps"})
    CHECK(first[key] == second[key]);
}

bool has_checkpoint_beyond(const std::filesystem::path& run, int step) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(run / "checkpoints", none)) {
    const std::string name = entry.path().stem().string();
    if (name.starts_with("checkpoint-") && std::stoi(name.substr(11)) >= step) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a control run resumed half-way equals the uninterrupted one byte for byte", "[cli][resume][rl]") {
  const TemporaryDirectory folder;
  const std::string agent = GENERATE("reinforce", "a2c", "ppo");
  CAPTURE(agent);
  REQUIRE(run(folder.path(), command(agent, "whole", "1")).code == 0);
  const std::string threads = GENERATE("1", "2");
  SECTION("stopped on purpose, off the checkpoint interval") {
    CHECK(run(folder.path(), command(agent, "part", threads, {"--stop-after", "5537"})).code == 75);
    const Outcome resumed = run(folder.path(), {"resume", "part", "--threads", threads, "--json"});
    CAPTURE(resumed.err);
    REQUIRE(resumed.code == 0);
    CHECK(resumed.json()["steps"] == 9000);
  }
  SECTION("finished and then made longer") {
    REQUIRE(run(folder.path(), command(agent, "part", threads, {"--set", "steps=4000"})).code == 0);
    REQUIRE(run(folder.path(), {"resume", "part", "--set", "steps=9000", "--threads", threads}).code == 0);
  }
  SECTION("killed at a moment of nobody's choosing") {
    Program program(folder.path(), command(agent, "part", threads));
    if (program.wait_until([&] { return has_checkpoint_beyond(folder / "part", 3000); })) program.send(SIGKILL);
    program.wait();
    REQUIRE(run(folder.path(), {"resume", "part", "--threads", threads, "--quiet"}).code == 0);
  }
  SECTION("interrupted by a signal") {
    Program program(folder.path(), command(agent, "part", threads));
    if (program.wait_until([&] { return has_checkpoint_beyond(folder / "part", 3000); })) program.send(SIGINT);
    const int code = program.wait().code;
    CHECK((code == 75 || code == 0));
    REQUIRE(run(folder.path(), {"resume", "part", "--threads", threads, "--quiet"}).code == 0);
  }
  check_same_run(folder, "part", "whole");
}

TEST_CASE("a control run that is made longer may let its step sizes fall over the new length, and is told so",
          "[cli][resume][rl]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> begin{"rl",    "--env",      "CartPole-v1", "--agent", "a2c",
                                       "--set", "steps=2000", "--out",       "part"};
  REQUIRE(run(folder.path(), begin).code == 0);
  const Outcome alone = run(folder.path(), {"resume", "part", "--set", "decay_steps=4000"});
  CHECK(alone.code == 2);
  CHECK_THAT(alone.err, Contains("decay_steps changes where a run is made longer: expected steps too"));
  const Outcome kept = run(folder.path(), {"resume", "part", "--set", "steps=4000"});
  CHECK(kept.code == 0);
  CHECK_THAT(kept.err, Contains("step sizes fall to a hundredth over 2000 steps (decay_steps) and stay there") &&
                           Contains("takes decay_steps=4000 with its steps"));
  const Outcome anew = run(folder.path(), {"resume", "part", "--set", "steps=6000", "--set", "decay_steps=6000"});
  CHECK(anew.code == 0);
  CHECK_THAT(anew.err, !Contains("stay there"));
  CHECK_THAT(content_of(folder / "part/config.toml"), Contains("decay_steps = 6000"));
  const Outcome seeds = run(folder.path(), {"resume", "part", "--set", "steps=7000", "--set", "seeds=0:2"});
  CHECK(seeds.code == 2);
  CHECK_THAT(seeds.err, Contains("may change its steps, with them decay_steps and nothing else, got 'seeds=0:2'"));
}

TEST_CASE("the state of MuJoCo is resumed bit for bit too", "[cli][resume][rl]") {
  const TemporaryDirectory folder;
  const auto arguments = [](const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{
        "rl",         "--env",   "InvertedPendulum",      "--quiet",         "--out", out, "--set",
        "steps=3000", "slots=4", "checkpoint_every=1000", "final_episodes=2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  REQUIRE(run(folder.path(), arguments("whole")).code == 0);
  REQUIRE(run(folder.path(), arguments("part", {"--stop-after", "1000"})).code == 75);
  REQUIRE(run(folder.path(), {"resume", "part", "--quiet"}).code == 0);
  check_same_run(folder, "part", "whole");
}

TEST_CASE("a finished control run stays as it is, and only its length may change", "[cli][resume][rl]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("a2c", "part", "1")).code == 0);
  const auto before = files_of(folder / "part"), checkpoints = files_of(folder / "part/checkpoints");
  const Outcome again = run(folder.path(), {"resume", "part", "--json", "--quiet"});
  CHECK(again.code == 0);
  CHECK(again.out == before.at("summary.json"));
  CHECK(files_of(folder / "part") == before);
  CHECK(files_of(folder / "part/checkpoints") == checkpoints);

  const Outcome shorter = run(folder.path(), {"resume", "part", "--set", "steps=5000"});
  CHECK(shorter.code == 2);
  CHECK_THAT(shorter.err, Contains("9024") && Contains("5000"));  // 47 iterations of 3 x 2 x 32 steps
  const Outcome other = run(folder.path(), {"resume", "part", "--set", "particles=5"});
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Contains("particles=5"));
}

TEST_CASE("a control run goes on with the configuration and the task that it began with", "[cli][resume][rl]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("a2c", "part", "1", {"--stop-after", "2000"})).code == 75);
  const auto rewrite = [&](const char* file, const std::string& from, const std::string& to) {
    std::string text = content_of(folder / file);
    REQUIRE(text.find(from) != std::string::npos);
    std::ofstream(folder / file) << text.replace(text.find(from), from.size(), to);
  };
  rewrite("part/config.toml", "gae_lambda = 0.95", "gae_lambda = 0.9");
  const Outcome changed = run(folder.path(), {"resume", "part"});
  CHECK(changed.code == 2);
  CHECK_THAT(changed.err,
             Contains("gae_lambda = 0.95") && Contains("gae_lambda = 0.9`") && Contains("stein rl --config"));
  rewrite("part/config.toml", "gae_lambda = 0.9", "gae_lambda = 0.95");

  rewrite("part/manifest.json", "\"env_version\": 1", "\"env_version\": 7");
  const Outcome version = run(folder.path(), {"resume", "part"});
  CHECK(version.code == 3);
  CHECK_THAT(version.err, Contains("version 7 of 'cartpole-swingup'") && Contains("has version 1"));
  rewrite("part/manifest.json", "\"env_version\": 7", "\"env_version\": 1");
  CHECK(run(folder.path(), {"resume", "part", "--quiet"}).code == 0);
}

TEST_CASE("a signal during the final evaluation ends a run without a result, and a sweep with it",
          "[cli][resume][rl]") {
  const TemporaryDirectory folder;
  // Nothing to learn, and 300,000 episodes to be played at the end.
  Program program(folder.path(), {"rl", "--env", "CartPole-v1", "--agent", "a2c", "--sweep", "seeds=0:1,1:2", "--out",
                                  "sweep", "--set", "steps=1", "evaluate_every=0", "final_episodes=100000"});
  const std::filesystem::path first = folder / "sweep/seeds=0:1";
  REQUIRE(program.wait_until([&] { return has_checkpoint_beyond(first, 1); }));
  program.send(SIGTERM);
  const Outcome outcome = program.wait();
  CHECK(outcome.code == 75);
  CHECK_THAT(outcome.err, Contains("stein resume sweep"));
  CHECK_FALSE(std::filesystem::exists(first / "summary.json"));
  CHECK_FALSE(std::filesystem::exists(folder / "sweep/seeds=1:2"));
}

TEST_CASE("a run that went beyond its planned steps cannot be made shorter than it is", "[cli][resume][rl]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"rl", "--env", "CartPole-v1", "--agent", "reinforce", "--quiet", "--out", "run", "--set",
                              "slots=2", "steps_per_slot=50", "final_episodes=5", "evaluate_every=0", "steps=2000"})
              .code == 0);
  const Outcome shorter = run(folder.path(), {"resume", "run", "--set", "steps=1200"});
  CHECK(shorter.code == 2);
  CHECK_THAT(shorter.err, Contains("steps = 1200 asks for fewer"));
  CHECK(std::filesystem::exists(folder / "run/summary.json"));
}
