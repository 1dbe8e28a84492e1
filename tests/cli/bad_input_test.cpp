#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;

namespace {

/// Exit code and sentence of a command that cannot work; nothing may reach standard output.
void check_refused(const TemporaryDirectory& folder, const std::vector<std::string>& arguments, int code,
                   const std::vector<std::string>& parts, const std::filesystem::path& data = {}) {
  const Outcome outcome = run(folder.path(), arguments, data);
  CAPTURE(arguments, outcome.err);
  CHECK(outcome.code == code);
  CHECK(outcome.out.empty());
  for (const std::string& part : parts) CHECK_THAT(outcome.err, Contains(part));
}

void write_below_folders(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

TEST_CASE("unknown names are answered with the nearest known one", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  check_refused(folder, {"bandti"}, 2, {"unknown subcommand 'bandti'", "'bandit'"});
  check_refused(folder, {}, 2, {"stein help"});
  check_refused(folder, {"bandit", "--env", "whel", "--policy", "uniform"}, 2, {"'whel'", "'wheel'"});
  check_refused(folder, {"bandit", "--set", "env=whel"}, 2, {"'whel'", "'wheel'"});
  check_refused(folder, {"bandit", "--env", "linear", "--policy", "lintz"}, 2, {"'lintz'", "'lints'"});
  check_refused(folder, {"bandit", "--env", "wheel", "--policy", "uniform", "--set", "dleta=0.5"}, 2,
                {"'dleta'", "'delta'"});
  check_refused(folder, {"bandit", "--env", "wheel", "--polcy", "uniform"}, 2, {"--polcy", "'--policy'"});
  check_refused(folder, {"bandit", "--env", "linear", "--policy", "S2VGD"}, 2, {"'S2VGD'", "mean 's2vgd'"});
  check_refused(folder, {"bandit", "--env", "linear", "--policy", "uniform", "--set", "STEPS=10"}, 2,
                {"'STEPS'", "mean 'steps'"});
  check_refused(folder, {"bandit", "--steps", "5"}, 2, {"--steps", "--set steps"});
  check_refused(folder, {"data", "fetsh", "mushroom"}, 2, {"fetsh", "'fetch'"});
  check_refused(folder, {"data", "path", "mushrom"}, 2, {"'mushrom'", "'mushroom'"});
  check_refused(folder, {"bench", "rgn"}, 2, {"'rgn'", "'rng'"});
}

TEST_CASE("values that cannot be are named with what is allowed", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::string& setting, const std::vector<std::string>& parts) {
    check_refused(folder, {"bandit", "--env", "wheel", "--policy", "uniform", "--out", "run", "--set", setting}, 2,
                  parts);
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
  };
  refused("steps=0", {"'steps'", "got 0"});
  refused("steps=-5", {"'steps'", "got -5"});
  refused("steps=1e30", {"'steps'", "1e30"});
  refused("steps=many", {"'steps'", "'many'", "whole number"});
  refused("batch=0", {"'batch'", "got 0"});
  refused("batch=1e9", {"'batch'", "1e9"});
  refused("buffer=-1", {"'buffer'"});
  refused("updates=0", {"'updates'"});
  refused("learn_every=0", {"'learn_every'"});
  refused("delta=2", {"'delta'", "got 2"});
  refused("delta", {"key=value"});
}

TEST_CASE("particles, reflections and minibatches of a network policy have sane numbers", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  const std::string policy = GENERATE("svgd", "s2vgd", "ensemble", "epsilon-greedy");
  const auto refused = [&](const std::string& setting, const std::string& key, const std::string& found) {
    check_refused(folder, {"bandit", "--env", "wheel", "--policy", policy, "--out", "run", "--set", setting}, 2,
                  {"'" + key + "'", found});
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
  };
  for (const char* key : {"batch", "buffer", "steps", "updates"}) {
    for (const std::string value : {"0", "-1", "1e15"})
      if (key != std::string("buffer") || value != "0") refused(std::string(key) + "=" + value, key, value);  // 0: all
  }
  if (policy != "epsilon-greedy") {
    for (const char* value : {"0", "-1", "1e9", "2.5"}) refused(std::string("particles=") + value, "particles", value);
  }
  if (policy == "s2vgd") {
    for (const char* value : {"-1", "1e9", "many"}) refused(std::string("reflectors=") + value, "reflectors", value);
  }
  for (const char* value : {"0", "inf", "nan"}) refused(std::string("step_size=") + value, "step_size", value);
}

TEST_CASE("seeds are a range of a sane length", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  for (const char* seeds : {"5", "3:3", "5:2", "a:b", "0:5x", "0:1000000000", "-1:3", ":"}) {
    check_refused(folder, {"bandit", "--env", "wheel", "--policy", "uniform", std::string("--seeds=") + seeds}, 2,
                  {"seeds"});
  }
}

TEST_CASE("control runs of unknown or unfitting parts are refused with what would do", "[cli][bad-input][rl]") {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::vector<std::string>& more, const std::vector<std::string>& parts) {
    std::vector<std::string> arguments{"rl", "--out", "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    check_refused(folder, arguments, 2, parts);
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
  };
  refused({"--env", "CartPole-v2"}, {"'CartPole-v2'", "mean 'CartPole-v1'"});
  refused({"--env", "cartpole-swing-up"}, {"'cartpole-swing-up'", "'cartpole-swingup'"});
  refused({"--agent", "a3c"}, {"unknown agent 'a3c'", "'a2c'"});
  refused({"--posterior", "svgdd"}, {"unknown posterior 'svgdd'", "'svgd'"});
  refused({"--set", "posterior=s2vg"}, {"unknown posterior 's2vg'", "'s2vgd'"});
  // An option that something else has is not unknown.
  refused({"--set", "alpha=1"}, {"option 'alpha' needs posterior s2vgd or posterior svgd", "CartPole-v1/a2c has none"});
  refused({"--agent", "reinforce", "--set", "gae_lambda=1"}, {"'gae_lambda' needs agent a2c or agent ppo"});
  refused({"--set", "reward=rllab"}, {"'reward' needs environment double-pendulum"});
  refused({"--env", "wheel"}, {"'wheel' is a bandit", "stein bandit --env wheel"});
  check_refused(folder, {"bandit", "--env", "CartPole-v1"}, 2, {"'CartPole-v1'", "stein rl --env CartPole-v1"});
  refused({"--set", "horizon=-1"}, {"'horizon'", "-1"});
  refused({"--set", "horizon=0"}, {"'horizon'", "0"});
  refused({"--set", "steps=0"}, {"'steps'", "got 0"});
  refused({"--set", "discount=1.5"}, {"'discount'", "1.5"});
  refused({"--set", "particles=4"}, {"'particles'"});  // without a posterior there is one
  refused({"--posterior", "svgd", "--set", "particles=0"}, {"'particles'", "got 0"});
  refused({"--set", "normalize_actions=true"}, {"'normalize_actions'", "CartPole-v1 are choices"});
  refused({"--set", "initial_deviation=1"}, {"'initial_deviation'"});
  refused({"--agnet", "a2c"}, {"--agnet", "'--agent'"});
}

TEST_CASE("a bad configuration file is named with the line", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  write_below_folders(folder / "broken.toml", "env = \"wheel\"\npolicy = \n");
  check_refused(folder, {"bandit", "--config", "broken.toml"}, 2, {"broken.toml", "line 2"});
  write_below_folders(folder / "unknown.toml", "env = \"wheel\"\npolicy = \"uniform\"\n\nspeed = 3\n");
  check_refused(folder, {"bandit", "--config", "unknown.toml"}, 2, {"unknown.toml", "line 4", "'speed'"});
  check_refused(folder, {"bandit", "--config", "absent.toml"}, 3, {"absent.toml"});
  check_refused(folder, {"bandit", "--config", "."}, 3, {"'.' is a folder"});
  write_below_folders(folder / "list.toml", "env = \"wheel\"\nseeds = [0, 1]\n");
  check_refused(folder, {"bandit", "--config", "list.toml"}, 2, {"list.toml", "line 2", "'seeds'"});
}

TEST_CASE("what is missing or out of place on the line is said in words", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  check_refused(folder, {"eval"}, 2, {"`stein eval` expects RUN", "stein eval --help"});
  check_refused(folder, {"bandit", "--seeds"}, 2, {"--seeds expects a value", "stein bandit --help"});
  check_refused(folder, {"bandit", "--policy", "svgd", "--policy", "svgd"}, 2, {"--policy is given more than once"});
  check_refused(folder, {"lm", "train", "--epochs", "5", "--epochs", "6"}, 2, {"--epochs is given more than once"});
  check_refused(folder, {"bandit", "--step-size", "0.1"}, 2, {"unknown option '--step-size'", "`--set step_size=…`"});
  check_refused(folder, {"bandit", "--polcy", "svgd"}, 2, {"Did you mean '--policy'?"});
  check_refused(folder, {"rl", "--policy", "svgd"}, 2, {"unknown option '--policy'."});
  check_refused(folder, {"rl", "--episodes", "5"}, 2,
                {"unknown option '--episodes'. It is an option of `stein eval`."});
  check_refused(folder, {"bandit", "--log_decisions"}, 2, {"Did you mean '--log-decisions'?"});
  for (const char* word : {"--foo", "-x", "-", "--", "--quiet"})
    check_refused(folder, {word}, 2, {"a subcommand is expected", "`stein help`"});
  check_refused(folder, {"resume", "run", "--seeds", "0:1"}, 2, {"unknown option '--seeds'."});
  const Outcome help = run(folder.path(), {"eval", "nowhere", "--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Contains("interactions") && Contains("episodes"));
}

TEST_CASE("an option that is given as two things is refused", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  check_refused(folder, {"bandit", "--env", "wheel", "--policy", "uniform", "--set", "env=linear"}, 2,
                {"option 'env' is given twice", "its argument as wheel", "--set as linear"});
  check_refused(folder, {"bandit", "--env", "wheel", "--policy", "uniform", "--set", "seeds=0:3", "--seeds", "0:2"}, 2,
                {"option 'seeds' is given twice"});
  CHECK(run(folder.path(), {"bandit", "--env", "wheel", "--policy", "uniform", "--set", "env=wheel", "steps=5", "--set",
                            "steps=20", "--out", "run"})
            .code == 0);
}

TEST_CASE("options of the program are checked too", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  check_refused(folder, {"bandit", "--env", "wheel", "--policy", "uniform", "--threads", "0"}, 2, {"--threads"});
  check_refused(folder, {"bandit", "--env", "wheel", "--policy", "uniform", "--device", "tpu"}, 2, {"'tpu'", "cpu"});
  check_refused(folder, {"bandit", "--env", "wheel", "--policy", "uniform", "--stop-after", "0"}, 2, {"--stop-after"});
}

TEST_CASE("missing data are answered with where to get them, and with the stand-in", "[cli][bad-input][data]") {
  const TemporaryDirectory folder;
  check_refused(folder, {"bandit", "--env", "mushroom", "--policy", "uniform", "--out", "run"}, 3,
                {"stein data fetch mushroom", "mushroom-synthetic"});
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
  check_refused(folder, {"bandit", "--env", "mushroom", "--policy", "uniform", "--data", "nowhere"}, 3, {"'nowhere'"});
  check_refused(folder, {"data", "path", "mushroom"}, 3, {"stein data fetch mushroom"});
  check_refused(folder, {"data", "check", "mushroom"}, 3, {"stein data fetch mushroom"});
}

TEST_CASE("truncated and altered data files are told from the real one", "[cli][bad-input][data]") {
  const TemporaryDirectory folder;
  constexpr std::size_t bytes = 373'704;  // of the UCI file
  write_below_folders(folder / "truncated/mushroom/agaricus-lepiota.data", std::string(bytes / 2, 'p'));
  write_below_folders(folder / "altered/mushroom/agaricus-lepiota.data", std::string(bytes, 'p'));
  check_refused(folder, {"bandit", "--env", "mushroom", "--policy", "uniform"}, 3,
                {"agaricus-lepiota.data", "expected 373704 bytes", "found 186852"}, folder / "truncated");
  check_refused(folder, {"bandit", "--env", "mushroom", "--policy", "uniform", "--data", "altered"}, 3,
                {"agaricus-lepiota.data", "SHA-256"});
  check_refused(folder, {"data", "check", "mushroom"}, 3, {"SHA-256", "stein data fetch mushroom --data '"},
                folder / "altered");
}

TEST_CASE("a run directory that cannot be made or is taken is refused", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  write_below_folders(folder / "file", "not a folder");
  const auto start = [](const std::string& out) {
    return std::vector<std::string>{"bandit", "--env",   "wheel",   "--policy", "uniform",
                                    "--set",  "steps=5", "--quiet", "--out",    out};
  };
  check_refused(folder, start("file/run"), 1, {"file/run"});
  check_refused(folder, start("file"), 2, {"'file'", "no directory"});

  REQUIRE(run(folder.path(), start("run")).code == 0);
  check_refused(folder, start("run"), 2, {"--overwrite", "stein resume run"});
  auto overwriting = start("run");
  overwriting.emplace_back("--overwrite");
  CHECK(run(folder.path(), overwriting).code == 0);

  write_below_folders(folder / "mine/letter.txt", "keep me");
  auto careless = start("mine");
  careless.emplace_back("--overwrite");
  check_refused(folder, careless, 2, {"no run"});
  CHECK(content_of(folder / "mine/letter.txt") == "keep me");
}

TEST_CASE("a run that a process is at work on is left to it", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> start{"bandit", "--env",         "linear",  "--policy", "lints",
                                       "--set",  "steps=1000000", "--quiet", "--out",    "run"};
  Program first(folder.path(), start);
  REQUIRE(first.wait_until([&] { return std::filesystem::exists(folder / "run/checkpoints"); }));
  auto overwriting = start;
  overwriting.emplace_back("--overwrite");
  check_refused(folder, overwriting, 2, {"another process is at work", "'run'"});
  check_refused(folder, {"resume", "run"}, 2, {"another process is at work", "'run'"});
  first.send(SIGTERM);
  CHECK(first.wait().code == 75);
  CHECK(run(folder.path(), {"resume", "run", "--stop-after", "1"}).code == 75);
}

TEST_CASE("a report needs runs", "[cli][bad-input][report]") {
  const TemporaryDirectory folder;
  check_refused(folder, {"report", "nowhere"}, 3, {"'nowhere'"});
}

TEST_CASE("a report replaces an earlier one, and no other file", "[cli][bad-input][report]") {
  const TemporaryDirectory folder;
  REQUIRE(
      run(folder.path(), {"bandit", "--env", "wheel", "--policy", "lints", "--set", "steps=50", "--out", "run"}).code ==
      0);
  check_refused(folder, {"report", "run", "--out", "run/summary.json"}, 2, {"run/summary.json", "no report"});
  check_refused(folder, {"report", "run", "--out", "run"}, 2, {"--out run", "expected a file"});
  for (int k = 0; k < 2; ++k) CHECK(run(folder.path(), {"report", "run", "--out", "page.html"}).code == 0);
}

TEST_CASE("a value that is written in two ways is swept once", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  check_refused(folder, {"bandit", "--env", "wheel", "--policy", "lints", "--sweep", "delta=0.5,0.50", "--out", "runs"},
                2, {"'delta=0.5'", "'delta=0.50'", "all their options are the same"});
}

TEST_CASE("output that has nowhere to go is an error", "[cli]") {
  for (const char* command : {"list", "--help", "--version"}) {
    const TemporaryDirectory folder;
    const std::string line = std::string(STEIN_PROGRAM) + " " + command + " > /dev/full";
    const Outcome outcome = Program(folder.path(), {"-c", line}, {}, "/bin/sh").wait();
    CAPTURE(command);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Contains("standard output cannot be written"));
  }
}
