#include <catch2/catch.hpp>
#include <csignal>
#include <map>

#include "cli/program.h"
#include "core/python.h"

using namespace stein::test;
using Catch::Contains;

namespace {

/// A run that is long enough to be interrupted and short enough to wait for.
std::vector<std::string> command(const std::string& out, const std::string& threads,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"bandit",
                                     "--env",
                                     "mushroom-synthetic",
                                     "--policy",
                                     "lints",
                                     "--seeds",
                                     "0:2",
                                     "--log-decisions",
                                     "--set",
                                     "steps=2000",
                                     "--set",
                                     "checkpoint_every=100",
                                     "--quiet",
                                     "--threads",
                                     threads,
                                     "--out",
                                     out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void check_same_run(const TemporaryDirectory& folder, const std::string& a, const std::string& b) {
  CHECK(content_of(folder / (a + "/decisions.jsonl")) == content_of(folder / (b + "/decisions.jsonl")));
  CHECK(content_of(folder / (a + "/metrics.jsonl")) == content_of(folder / (b + "/metrics.jsonl")));
  CHECK(content_of(folder / (a + "/config.toml")) == content_of(folder / (b + "/config.toml")));
  CHECK(files_of(folder / (a + "/checkpoints")) == files_of(folder / (b + "/checkpoints")));
}

/// Does the run of `whole`, and stops that of `part`, which goes to "part", after 47 steps: resumed it is the same as
/// the other, which went to "whole".
void check_resumed(const TemporaryDirectory& folder, const std::vector<std::string>& whole,
                   std::vector<std::string> part) {
  REQUIRE(run(folder.path(), whole).code == 0);
  part.insert(part.end(), {"--stop-after", "47"});
  REQUIRE(run(folder.path(), part).code == 75);
  REQUIRE(run(folder.path(), {"resume", "part", "--threads", "2", "--quiet"}).code == 0);
  check_same_run(folder, "part", "whole");
}

bool has_checkpoint(const std::filesystem::path& run, int step) {
  return std::filesystem::exists(run / ("checkpoints/checkpoint-" + std::to_string(step) + ".safetensors"));
}

}  // namespace

TEST_CASE("a run resumed half-way equals the uninterrupted one byte for byte", "[cli][resume]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("whole", "1")).code == 0);
  const std::string threads = GENERATE("1", "2");
  SECTION("stopped on purpose, off the checkpoint interval") {
    const Outcome stopped = run(folder.path(), command("part", threads, {"--stop-after", "1037"}));
    CHECK(stopped.code == 75);
    CHECK(stopped.out.empty());
    CHECK(has_checkpoint(folder / "part", 1037));
    const Outcome resumed = run(folder.path(), {"resume", "part", "--threads", threads, "--json"});
    CAPTURE(resumed.err);
    REQUIRE(resumed.code == 0);
    CHECK(resumed.json()["steps"] == 2000);
    check_same_run(folder, "part", "whole");
  }
  SECTION("finished at 1,000 and then made longer") {
    REQUIRE(run(folder.path(), command("part", threads, {"--set", "steps=1000"})).code == 0);
    REQUIRE(run(folder.path(), {"resume", "part", "--set", "steps=2000", "--threads", threads}).code == 0);
    check_same_run(folder, "part", "whole");
  }
  SECTION("killed at a moment of nobody's choosing") {
    for (const int moment : {100, 700, 1500}) {
      std::filesystem::remove_all(folder / "part");
      Program program(folder.path(), command("part", threads));
      if (program.wait_until([&] { return has_checkpoint(folder / "part", moment); })) program.send(SIGKILL);
      program.wait();
      REQUIRE(run(folder.path(), {"resume", "part", "--threads", threads, "--quiet"}).code == 0);
      check_same_run(folder, "part", "whole");
    }
  }
}

TEST_CASE("particles, optimiser and window are resumed bit for bit too", "[cli][resume]") {
  const TemporaryDirectory folder;
  const std::string policy = GENERATE("svgd", "s2vgd", "vmg", "epsilon-greedy", "ensemble");
  const std::map<std::string, std::string> special{{"epsilon-greedy", "learn_noise_precision=true"},
                                                   {"vmg", "weight_samples=2"}};
  const auto arguments = [&](const std::string& out, const std::string& threads) {
    return std::vector<std::string>{"bandit",
                                    "--env",
                                    "mushroom-synthetic",
                                    "--policy",
                                    policy,
                                    "--seeds",
                                    "0:2",
                                    "--threads",
                                    threads,
                                    "--log-decisions",
                                    "--quiet",
                                    "--out",
                                    out,
                                    "--set",
                                    "steps=60",
                                    "checkpoint_every=10",
                                    "updates=2",
                                    "buffer=40",
                                    special.contains(policy) ? special.at(policy) : "prior_function_scale=0.5"};
  };
  check_resumed(folder, arguments("whole", "1"), arguments("part", "2"));
}

TEST_CASE("every policy is resumed bit for bit with its defaults", "[cli][resume]") {
  const TemporaryDirectory folder;
  const nlohmann::json listed = run(folder.path(), {"list", "policies", "--json"}).json();
  REQUIRE(listed.at("policies").size() > 20);
  for (const auto& policy : listed.at("policies")) {
    const auto name = policy.at("name").get<std::string>();
    CAPTURE(name);
    if (name == "fixed-propensities") continue;  // needs a table, and keeps nothing
    const auto arguments = [&](const std::string& out) {
      return std::vector<std::string>{"bandit",
                                      "--env",
                                      "logistic",
                                      "--policy",
                                      name,
                                      "--seeds",
                                      "0:2",
                                      "--quiet",
                                      "--overwrite",
                                      "--set",
                                      "steps=60",
                                      "--set",
                                      "forced_pulls=2",
                                      "--set",
                                      "checkpoint_every=10",
                                      "--log-decisions",
                                      "--threads",
                                      "1",
                                      "--out",
                                      out};
    };
    check_resumed(folder, arguments("whole"), arguments("part"));
  }
}

TEST_CASE("an interrupt saves a checkpoint and exits with 75", "[cli][resume]") {
  const TemporaryDirectory folder;
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  Program program(folder.path(), command("part", "2", {"--set", "steps=200000"}));
  REQUIRE(program.wait_until([&] { return has_checkpoint(folder / "part", 100); }));
  program.send(signal);
  const Outcome outcome = program.wait();
  CHECK(outcome.code == 75);
  CHECK_THAT(content_of(folder / "part/log.txt"), Contains("stein resume part"));
}

TEST_CASE("what a killed run wrote after its checkpoint is cut off", "[cli][resume]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("whole", "1")).code == 0);
  REQUIRE(run(folder.path(), command("part", "1", {"--stop-after", "1000"})).code == 75);
  std::ofstream(folder / "part/decisions.jsonl", std::ios::app) << R"({"seed":0,"step":1000,"ro)";
  std::ofstream(folder / "part/metrics.jsonl", std::ios::app) << "half a li";
  REQUIRE(run(folder.path(), {"resume", "part", "--quiet"}).code == 0);
  check_same_run(folder, "part", "whole");
}

TEST_CASE("a damaged checkpoint is passed over for the one before it", "[cli][resume]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("whole", "1")).code == 0);
  REQUIRE(run(folder.path(), command("part", "1", {"--stop-after", "1000"})).code == 75);
  const auto newest = folder / "part/checkpoints/checkpoint-1000.safetensors";
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) / 2);
  const Outcome resumed = run(folder.path(), {"resume", "part"});
  CHECK_THAT(resumed.err, Contains("checkpoint-1000"));
  REQUIRE(resumed.code == 0);
  check_same_run(folder, "part", "whole");
}

TEST_CASE("a finished run stays as it is, and only its length may change", "[cli][resume]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("part", "1", {"--set", "steps=100"})).code == 0);
  const auto before = content_of(folder / "part/decisions.jsonl");
  CHECK(run(folder.path(), {"resume", "part", "--quiet"}).code == 0);
  CHECK(content_of(folder / "part/decisions.jsonl") == before);

  const Outcome shorter = run(folder.path(), {"resume", "part", "--set", "steps=50"});
  CHECK(shorter.code == 2);
  CHECK_THAT(shorter.err, Contains("100") && Contains("50"));
  const Outcome other = run(folder.path(), {"resume", "part", "--set", "updates=3"});
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Contains("updates=3"));
  const Outcome elsewhere = run(folder.path(), {"resume", "part", "--device", "cuda"});
  CHECK(elsewhere.code == 2);
  CHECK_THAT(elsewhere.err, Contains("policy 'lints' is on the processor only, got device=cuda"));
  CHECK(run(folder.path(), {"resume", "part", "--device", "cpu", "--quiet"}).code == 0);
  CHECK(run(folder.path(), {"resume", "nowhere"}).code == 3);

  REQUIRE(std::filesystem::exists(folder / "part/summary.json"));
  REQUIRE(run(folder.path(), {"resume", "part", "--set", "steps=300", "--stop-after", "200", "--quiet"}).code == 75);
  CHECK_FALSE(std::filesystem::exists(folder / "part/summary.json"));
}

TEST_CASE("resuming a finished run prints its result again and touches no file", "[cli][resume]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("part", "1", {"--set", "steps=100"})).code == 0);
  const auto before = files_of(folder / "part"), checkpoints = files_of(folder / "part/checkpoints"),
             events = files_of(folder / "part/events");
  const Outcome resumed = run(folder.path(), {"resume", "part", "--json", "--quiet"});
  CHECK(resumed.code == 0);
  CHECK(resumed.out == before.at("summary.json"));
  CHECK(files_of(folder / "part") == before);
  CHECK(files_of(folder / "part/checkpoints") == checkpoints);
  CHECK(files_of(folder / "part/events") == events);
}

TEST_CASE("time and rates of a run are those of all its processes", "[cli][resume]") {
  const TemporaryDirectory folder;
  const auto cost = [&] { return nlohmann::json::parse(content_of(folder / "part/cost.json")); };
  REQUIRE(run(folder.path(), command("part", "1", {"--stop-after", "1000"})).code == 75);
  const auto half = cost();
  CHECK(half["decisions"] == 2 * (1000 - 20));  // two seeds; ten forced pulls of each of two arms
  CHECK(half["wall_seconds"].get<double>() > 0);
  const auto resumed = run(folder.path(), {"resume", "part", "--json", "--quiet"}).json();
  CHECK(cost()["decisions"] == 2 * (2000 - 20));
  CHECK(resumed["wall_seconds"].get<double>() > half["wall_seconds"].get<double>());

  // Killed between its last checkpoint and its result.
  std::filesystem::remove(folder / "part/summary.json");
  const auto finished = run(folder.path(), {"resume", "part", "--json", "--quiet"}).json();
  CHECK(finished["decisions_per_second"].get<double>() == Approx(resumed["decisions_per_second"].get<double>()));
  CHECK(finished["wall_seconds"].get<double>() >= cost()["wall_seconds"].get<double>());
  CHECK(finished["regret"] == resumed["regret"]);
}

TEST_CASE("TensorBoard shows every metric of a resumed run once", "[cli][resume][python]") {
  const auto python = python_with("tensorboard.backend.event_processing.event_accumulator");
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("part", "1", {"--set", "steps=60", "--stop-after", "40"})).code == 75);
  REQUIRE(run(folder.path(), {"resume", "part", "--quiet"}).code == 0);
  CHECK(run_python(python, folder / "check.py", R"(
import json, os
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
run = os.path.dirname(__file__) + '/part'
events = EventAccumulator(run + '/events/seed_1', size_guidance={'scalars': 0})
events.Reload()
lines = [json.loads(line) for line in open(run + '/metrics.jsonl')]
steps = [line['step'] for line in lines if line['tag'] == 'regret' and line['seed'] == 1]
assert steps == list(range(1, 61)), steps
assert [e.step for e in events.Scalars('regret')] == steps
)"));
}

TEST_CASE("a run whose configuration was changed by hand is not resumed", "[cli][resume]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("part", "1", {"--stop-after", "100"})).code == 75);
  const std::string config = content_of(folder / "part/config.toml");
  const auto change = [&](const std::string& from, const std::string& to) {
    std::string changed = config;
    REQUIRE(changed.find(from) != std::string::npos);
    std::ofstream(folder / "part/config.toml") << changed.replace(changed.find(from), from.size(), to);
  };
  const auto before = files_of(folder / "part/checkpoints");
  change("checkpoint_every = 100", "checkpoint_every = 50");
  const Outcome refused = run(folder.path(), {"resume", "part"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("part/config.toml' was changed since the run began: ") &&
                              Contains("checkpoint_every = 100") && Contains("checkpoint_every = 50") &&
                              !Contains("another run's"));
  CHECK(files_of(folder / "part/checkpoints") == before);
  change("steps = 2000", "steps = 200");
  CHECK(run(folder.path(), {"resume", "part", "--quiet"}).code == 0);
}

TEST_CASE("a checkpoint of another run is named as what is wrong, by all that reads it", "[cli][resume][bad-input]") {
  const TemporaryDirectory folder;
  const auto start = [&](const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--out", name, "--quiet"});
    REQUIRE(run(folder.path(), arguments).code == 0);
  };
  const std::vector<std::string> lints{"bandit", "--env", "wheel", "--policy", "lints", "--set", "steps=20"};
  start("own", lints);
  std::vector<std::string> wide = lints;
  wide.emplace_back("prior_shape=3");
  start("wide", wide);
  start("control", {"rl", "--set", "steps=600", "final_episodes=2"});
  const std::string own = content_of(folder / "own/config.toml");
  for (const std::string other : {"wide", "control"}) {
    std::filesystem::remove_all(folder / "own/checkpoints");
    std::filesystem::copy(folder / (other + "/checkpoints"), folder / "own/checkpoints");
    for (const char* verb : {"resume", "eval", "predict"}) {
      CAPTURE(other, verb);
      const Outcome refused = run(folder.path(), {verb, "own"});
      CHECK(refused.code == 3);
      CHECK_THAT(refused.err, Contains("the checkpoint in 'own/checkpoints'") && Contains("another run's") &&
                                  !Contains("config.toml"));
    }
  }
  CHECK(content_of(folder / "own/config.toml") == own);
}

TEST_CASE("a run whose checkpoints were removed is not begun again over its logs", "[cli][resume]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("part", "1", {"--stop-after", "100"})).code == 75);
  std::filesystem::remove_all(folder / "part/checkpoints");
  const auto before = files_of(folder / "part");
  const Outcome refused = run(folder.path(), {"resume", "part"});
  CHECK(refused.code == 3);
  CHECK_THAT(refused.err, Contains("no checkpoint in 'part/checkpoints'") && Contains("cannot go on"));
  CHECK(files_of(folder / "part") == before);

  for (const char* name : {"metrics.jsonl", "decisions.jsonl", "cost.json"})  // killed before its first checkpoint
    std::filesystem::remove(folder / "part" / name);
  CHECK(run(folder.path(), {"resume", "part", "--stop-after", "10", "--quiet"}).code == 75);
}

TEST_CASE("a run that another build goes on with says so and names both", "[cli][resume]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), command("part", "1", {"--stop-after", "100"})).code == 75);
  auto manifest = nlohmann::json::parse(content_of(folder / "part/manifest.json"));
  const std::string commit = manifest["commit"];
  manifest["commit"] = "another";
  std::ofstream(folder / "part/manifest.json") << manifest.dump();
  const Outcome resumed = run(folder.path(), {"resume", "part", "--json", "--quiet"});
  REQUIRE(resumed.code == 0);
  CHECK_THAT(resumed.err, Contains("began with commit another and goes on with " + commit));
  CHECK(resumed.json()["commits"] == std::vector<std::string>{"another", commit});
}

TEST_CASE("what is counted per seed and what over all seeds is told apart", "[cli][resume]") {
  const TemporaryDirectory folder;
  const Outcome stopped = run(folder.path(), {"bandit", "--env", "linear", "--policy", "lints", "--seeds", "0:2",
                                              "--set", "steps=300", "--stop-after", "20", "--out", "part"});
  CHECK_THAT(stopped.err, Contains("stopped after 20 of 300 interactions per seed") &&
                              Contains("40 of 600 interactions of 2 seeds"));
}
