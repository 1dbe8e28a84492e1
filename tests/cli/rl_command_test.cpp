#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// A run of a second or less.
std::vector<std::string> short_run(const std::string& environment, const std::string& agent,
                                   const std::string& posterior, const std::string& out) {
  std::vector<std::string> arguments{"rl",
                                     "--env",
                                     environment,
                                     "--agent",
                                     agent,
                                     "--posterior",
                                     posterior,
                                     "--quiet",
                                     "--out",
                                     out,
                                     "--set",
                                     "steps=2000",
                                     "final_episodes=4",
                                     "evaluation_episodes=2",
                                     "evaluate_every=1000"};
  if (posterior != "none") arguments.emplace_back("particles=3");
  if (agent == "reinforce") arguments.insert(arguments.end(), {"slots=2", "steps_per_slot=200"});
  return arguments;
}

}  // namespace

TEST_CASE("a control run prints one JSON object with the evaluation episodes", "[cli][rl]") {
  const TemporaryDirectory folder;
  const Outcome outcome =
      run(folder.path(), {"rl", "--env", "CartPole-v1", "--agent", "a2c", "--posterior", "svgd", "--seeds", "3:5",
                          "--set", "steps=6000", "particles=4", "final_episodes=20", "--out", "run", "--json"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out == content_of(folder / "run/summary.json"));
  const Json summary = outcome.json();
  CHECK(summary["env"] == "CartPole-v1");
  CHECK(summary["agent"] == "a2c");
  CHECK(summary["posterior"] == "svgd");
  CHECK(summary["seeds"] == Json({3, 4}));
  CHECK(summary["env_steps"].get<int>() >= 12000);
  CHECK(summary["env_steps"].get<int>() < 12000 + 2 * 4 * 8 * 16);  // the last iteration may go beyond
  CHECK(summary["steps_per_second"].get<double>() > 1000);
  for (const char* key : {"return", "return_sampled", "discounted_return"}) {
    CHECK(summary[key]["per_seed"].size() == 2);
    CHECK(summary[key]["mean"].get<double>() > 0);
    CHECK(summary[key]["sd"].is_number());
  }
  // A reward of one a step.
  CHECK(summary["episode_length"]["mean"].get<double>() == Approx(summary["return"]["mean"].get<double>()));
  CHECK(summary["threshold"] == 475);
  CHECK(summary["seconds_to_threshold"]["per_seed"].size() == 2);
  CHECK(summary["steps_to_threshold"]["per_seed"].size() == 2);
  const Json& particles = summary["particles"];
  CHECK(particles["max"]["mean"] >= particles["median"]["mean"]);
  CHECK(particles["max"]["mean"] >= particles["mean"]["mean"]);
  CHECK(particles["per_seed"][1].size() == 4);
  CHECK(summary["peak_memory_mb"].get<double>() > 1);
  const Json manifest = Json::parse(content_of(folder / "run/manifest.json"));
  CHECK(manifest["command"] == "rl");
  CHECK(manifest["protocol"]["env_version"] == 1);
}

TEST_CASE("every agent learns with every posterior, on choices and on numbers", "[cli][rl]") {
  const TemporaryDirectory folder;
  const std::string environment = GENERATE("CartPole-v1", "cartpole-swingup");
  const std::string agent = GENERATE("reinforce", "a2c", "ppo");
  const std::string posterior = GENERATE("none", "independent", "svgd", "s2vgd");
  auto arguments = short_run(environment, agent, posterior, "run");
  arguments.emplace_back("--json");
  const Outcome outcome = run(folder.path(), arguments);
  CAPTURE(environment, agent, posterior, outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = outcome.json();
  CHECK(summary["return"]["mean"].is_number());
  CHECK(summary["particles"]["count"] == (posterior == "none" ? 1 : 3));
  std::set<std::string> tags;
  std::istringstream lines(content_of(folder / "run/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) tags.insert(Json::parse(line)["tag"]);
  CHECK(tags.contains("entropy"));
  CHECK(tags.contains("evaluation_return"));
  CHECK(tags.contains("particle_distance") == (posterior != "none"));
  CHECK(tags.contains("collapse") == (posterior != "none"));
}

TEST_CASE("A2C solves CartPole-v1, and the summary says after how long", "[cli][rl]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"rl", "--seeds", "0:3", "--out", "run", "--json", "--quiet"});
  REQUIRE(outcome.code == 0);
  const Json summary = outcome.json();
  CHECK(summary["steps"] == 300000);
  int solved = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Json &steps = summary["steps_to_threshold"]["per_seed"][i],
               &seconds = summary["seconds_to_threshold"]["per_seed"][i];
    CHECK(steps.is_null() == seconds.is_null());
    if (steps.is_null()) continue;
    ++solved;
    CHECK(steps.get<int>() <= 300128);
    CHECK(seconds.get<double>() > 0);
    CHECK(seconds.get<double>() <= summary["training_seconds"].get<double>());
  }
  CHECK(solved >= 2);
}

TEST_CASE("without --json a person reads a short table of a control run", "[cli][rl]") {
  const TemporaryDirectory folder;
  const Outcome outcome =
      run(folder.path(), {"rl", "--posterior", "s2vgd", "--set", "steps=2000", "particles=2", "final_episodes=4"});
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Contains("a2c with posterior s2vgd on CartPole-v1") && Contains("return") &&
                              Contains("particles") && Contains("runs/CartPole-v1-a2c-s2vgd-1"));
  CHECK_THAT(outcome.err, Contains("steps"));
}

TEST_CASE("logs and checkpoints of a control run are the same bytes at one and two threads", "[cli][rl]") {
  const TemporaryDirectory folder;
  const std::string agent = GENERATE("reinforce", "ppo");
  for (const char* threads : {"1", "2"}) {
    auto arguments = short_run("cartpole", agent, "svgd", std::string("run") + threads);
    arguments.insert(arguments.end(), {"--seeds", "0:3", "--threads", threads});
    REQUIRE(run(folder.path(), arguments).code == 0);
  }
  CHECK(content_of(folder / "run1/metrics.jsonl") == content_of(folder / "run2/metrics.jsonl"));
  CHECK(files_of(folder / "run1/checkpoints") == files_of(folder / "run2/checkpoints"));
}

TEST_CASE("the configuration that a control run writes repeats it", "[cli][rl]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), short_run("Pendulum-v1", "ppo", "independent", "first")).code == 0);
  REQUIRE(run(folder.path(), {"rl", "--config", "first/config.toml", "--out", "again", "--quiet"}).code == 0);
  CHECK(content_of(folder / "first/config.toml") == content_of(folder / "again/config.toml"));
  CHECK(content_of(folder / "first/metrics.jsonl") == content_of(folder / "again/metrics.jsonl"));
}

TEST_CASE("the horizon is the task's unless another one is set, and 0 is none", "[cli][rl]") {
  const TemporaryDirectory folder;
  const auto run_with = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> arguments{"rl",      "--env", "Pendulum-v1", "--json",
                                       "--quiet", "--set", "steps=500",   "final_episodes=2"};
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    return run(folder.path(), arguments);
  };
  CHECK(run_with({}).json()["episode_length"]["mean"] == 200);
  CHECK(run_with({"horizon=30"}).json()["episode_length"]["mean"] == 30);
  const Outcome none = run_with({"horizon=0"});
  CHECK(none.code == 2);
  CHECK_THAT(none.err, Contains("'horizon'") && Contains("[1, 10000000]") && Contains("0"));
}

TEST_CASE("a control run that diverges exits with 4 and leaves its last finite state", "[cli][rl][numeric]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"rl", "--posterior", "svgd", "--set", "steps=20000", "particles=2",
                                              "step_size=1e30", "checkpoint_every=1000", "--out", "run", "--json"});
  CHECK(outcome.code == 4);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, Contains("seed 0, iteration") && Contains("steps, is saved in 'run/checkpoints'"));
  CHECK(std::filesystem::exists(folder / "run/diverged.txt"));
  const Outcome resumed = run(folder.path(), {"resume", "run", "--quiet"});
  CHECK(resumed.code == 4);
  CHECK_THAT(resumed.err, Contains("diverged and will again, as it repeats the same steps"));
}

TEST_CASE("the published settings are a preset, and what is set ranks above it", "[cli][rl]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"rl", "--env", "cartpole", "--agent", "reinforce", "--posterior", "s2vgd",
                                              "--preset", "paper", "--set", "steps=100", "slots=1", "steps_per_slot=50",
                                              "particles=2", "final_episodes=2", "--out", "run", "--quiet"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const std::string config = content_of(folder / "run/config.toml");
  for (const char* line : {"alpha = 10.0\n", "reflectors = 4\n", "kernel = 'rbf'\n", "initial_correlation = 0.0\n"})
    CHECK_THAT(config, Contains(line));
  CHECK_THAT(config, Contains("slots = 1\n"));
  const Outcome none = run(folder.path(), {"rl", "--preset", "shared-start"});
  CHECK(none.code == 2);
  CHECK_THAT(none.err,
             Contains("preset 'shared-start' needs posterior s2vgd or posterior svgd; CartPole-v1/a2c has none"));
}

TEST_CASE("what needs another choice or a sweep is refused with that choice, or with the sweep",
          "[cli][rl][bad-input]") {
  const TemporaryDirectory folder;
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "rl");
    const Outcome outcome = run(folder.path(), std::move(arguments));
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused({"--env", "deep-sea", "--agent", "ppo", "--preset", "explore"}),
             Contains("preset 'explore' needs posterior s2vgd or posterior svgd; deep-sea/ppo has none of that name"));
  CHECK_THAT(refused({"--env", "deep-sea", "--agent", "ppo", "--preset", "explroe"}),
             Contains("deep-sea/ppo has no preset 'explroe'"));
  CHECK_THAT(refused({"--agent", "ppo,a2c"}), Contains("option 'agent' expects one name, got 'ppo,a2c'") &&
                                                  Contains("`--sweep agent=ppo,a2c --out DIR`"));
  CHECK_THAT(refused({"--posterior", "none,svgd"}), Contains("`--sweep posterior=none,svgd --out DIR`"));
  CHECK_THAT(refused({"--env", "deep-sea,CartPole-v1"}), Contains("`--sweep env=deep-sea,CartPole-v1 --out DIR`"));
  CHECK_THAT(refused({"--set", "gamma=0.9"}), Contains("unknown option 'gamma'. Did you mean 'discount'?"));
  CHECK_THAT(refused({"--set", "ent_coef=0.9"}), Contains("unknown option 'ent_coef'. Did you mean 'entropy_weight'?"));
  CHECK_THAT(refused({"--sweep", "foo=1,2"}), Contains("unknown option 'foo'") && !Contains("--out"));
  CHECK_THAT(refused({"--sweep", "discount=0.9,0.99"}), Contains("--sweep needs --out"));
  CHECK_THAT(refused({"--device", "tpu"}), Contains("cpu, cuda or cuda:INDEX, got 'tpu'"));
  CHECK_THAT(refused({"--device", "cuda:4096"}),  // no machine has so many
             Contains("GPU") || Contains("without its library 'cuda'"));
}

TEST_CASE("a run begins with the earlier defaults, or with settings that were tuned for its task, and says so",
          "[cli][rl]") {
  const TemporaryDirectory folder;
  const auto start = [&](const std::string& preset, const std::string& posterior) {
    const Outcome outcome =
        run(folder.path(), {"rl", "--env", "Acrobot-v1", "--agent", "ppo", "--posterior", posterior, "--preset", preset,
                            "--set", "steps=100", "final_episodes=1", "--out", preset, "--quiet", "--json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.json()["preset"] == preset);
    return content_of(folder / (preset + "/config.toml"));
  };
  const std::string paper = start("paper", "none"), zoo = start("zoo", "none");
  for (const char* line : {"hidden = [25,10]\n", "normalize_observations = false\n", "decay_steps = 0\n"})
    CHECK_THAT(paper, Contains(line));
  for (const char* line : {"slots = 16\n", "steps_per_slot = 256\n", "gae_lambda = 0.94\n", "minibatches = 64\n"})
    CHECK_THAT(zoo, Contains(line));
  CHECK_THAT(start("shared-start", "svgd"), Contains("initial_correlation = 0.999\n"));
  CHECK_THAT(start("explore", "s2vgd"), Contains("output_spread = 10.0\n"));
  const auto refused = [&](const std::string& environment, const std::string& agent, const std::string& posterior) {
    const Outcome outcome =
        run(folder.path(), {"rl", "--env", environment, "--agent", agent, "--posterior", posterior, "--preset", "zoo"});
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  // The zoo has single policies, of some tasks and agents.
  CHECK_THAT(refused("Acrobot-v1", "ppo", "svgd"), Contains("preset 'zoo' needs posterior none; "));
  CHECK_THAT(refused("CartPole-v1", "reinforce", "none"), Contains("preset 'zoo' needs agent a2c or agent ppo; "));
  CHECK_THAT(refused("cartpole", "a2c", "none"),
             Contains("preset 'zoo' needs environment Acrobot-v1 or environment CartPole-v1; "));
}

TEST_CASE("a threshold that nobody looked for while a run learned is not counted as missed", "[cli][rl]") {
  const TemporaryDirectory folder;
  const auto start = [&](const std::string& name, const std::string& evaluate_every) {
    const Outcome outcome = run(folder.path(), {"rl", "--seeds", "0:2", "--out", name, "--quiet", "--set", "steps=2000",
                                                "final_episodes=2", "evaluate_every=" + evaluate_every});
    REQUIRE(outcome.code == 0);
    return outcome.out;
  };
  for (const char* none : {"0", "1000000"}) {
    const std::string text = start("none-" + std::string(none), none);
    CHECK_THAT(text, Contains("475, not looked for: no evaluation while it learned (evaluate_every)") &&
                         !Contains("in 0 of 2"));
  }
  CHECK_THAT(start("some", "500"), Contains("475 in 0 of 2 seeds"));
  REQUIRE(run(folder.path(), {"report", "none-0"}).code == 0);
  CHECK_THAT(run(folder.path(), {"report", "none-0"}).out, Contains("not evaluated") && !Contains("0 of 2"));
  CHECK_THAT(run(folder.path(), {"report", "some"}).out, Contains("0 of 2") && !Contains("not evaluated"));
}

TEST_CASE("a run of a Stein posterior says what moves its particles and how much they differ", "[cli][rl]") {
  const TemporaryDirectory folder;
  const auto summary = [&](const std::string& posterior) {
    const Outcome outcome = run(folder.path(), {"rl", "--posterior", posterior, "--set", "steps=4000",
                                                "final_episodes=2", "--out", posterior, "--quiet", "--json"});
    REQUIRE(outcome.code == 0);
    return outcome.json();
  };
  const Json stein = summary("svgd"), none = summary("none");
  double sum = 0;
  for (const char* part : {"prior", "repulsion", "drive"}) {
    const double share = stein["posterior_share"][part]["mean"].get<double>();
    CHECK(share > 0);
    sum += share;
  }
  CHECK(sum == Approx(1));
  CHECK(stein["collapse"]["per_seed"][0].get<double>() > 0.01);
  CHECK(stein["effective_share"]["per_seed"][0].get<double>() > 0);
  CHECK(stein["preset"].is_null());
  CHECK(!none.contains("posterior_share"));
  CHECK(!none.contains("collapse"));
  CHECK(!none.contains("effective_share"));
}
