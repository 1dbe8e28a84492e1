#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "cli/program.h"
#include "core/written_file.h"

using namespace stein::test;
using Catch::Contains;
using nlohmann::json;

namespace {

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

}  // namespace

TEST_CASE("every listed environment describes itself, for people and for programs", "[cli][env]") {
  const TemporaryDirectory folder;
  const json lists = run(folder.path(), {"list", "--json"}).json();
  REQUIRE(lists["control environments"].size() >= 6);
  for (const auto& entry : lists["control environments"]) {
    const std::string name = entry["name"];
    CAPTURE(name);
    const Outcome text = run(folder.path(), {"env", name});
    CHECK(text.code == 0);
    CHECK_THAT(text.out, Contains(name) && Contains("horizon") && Contains("action") && Contains("clip_actions"));
    const json task = run(folder.path(), {"env", name, "--json"}).json();
    CHECK(task["name"] == name);
    CHECK(task["kind"] == "control");
    CHECK(task["version"] >= 1);
    CHECK(task["horizon"] >= 1);
    CHECK(task["step_seconds"] > 0);
    CHECK(task["timed"] == (name != "deep-sea"));
    const bool endless = name.starts_with("Pendulum") || name.starts_with("double") || name.ends_with("-dm");
    CHECK(task["ends"].is_null() == endless);
    CHECK(task["state"].size() >= 1);
    CHECK(task["observation"].size() >= 1);
    CHECK(task["action"].size() >= 1);
    CHECK(task["options"].size() >= 3);
  }
  for (const auto& entry : lists["environments"]) {
    const std::string name = entry["name"];
    CAPTURE(name);
    const json bandit = run(folder.path(), {"env", name, "--json"}).json();
    CHECK(bandit["name"] == name);
    CHECK(bandit["kind"] == "bandit");
    CHECK((bandit["arms"].is_number() || bandit["missing"].is_string()));
    CHECK(run(folder.path(), {"env", name}).code == 0);
  }
}

TEST_CASE("a description has the numbers of the task", "[cli][env]") {
  const TemporaryDirectory folder;
  const json task = run(folder.path(), {"env", "CartPole-v1", "--json", "--set", "horizon=77"}).json();
  CHECK(task["choices"] == 2);
  CHECK(task["horizon"] == 77);
  CHECK(task["threshold"] == 475);
  CHECK(task["state"][2] == json{{"name", "pole angle"}, {"low", nullptr}, {"high", nullptr}, {"unit", "rad"}});
  CHECK(task["options"].back()["value"] == "77");
  const json pendulum = run(folder.path(), {"env", "Pendulum-v1", "--json"}).json();
  CHECK(pendulum["choices"].is_null());
  CHECK(pendulum["threshold"].is_null());
  CHECK(pendulum["action"][0]["low"] == -2);
  const json wheel = run(folder.path(), {"env", "wheel", "--json"}).json();
  CHECK(wheel["arms"] == 5);
  CHECK(wheel["missing"].is_null());
  CHECK_THAT(run(folder.path(), {"env", "mushroom"}).out, Contains("absent") && Contains("stein data fetch mushroom"));
}

TEST_CASE("a description says what ends an episode before the horizon, which steps show", "[cli][env]") {
  const TemporaryDirectory folder;
  CHECK_THAT(run(folder.path(), {"env", "CartPole-v1"}).out,
             Contains("|cart position| > 2.4 m or |pole angle| > 0.2094 rad") && Contains("500 steps of 0.02 s"));
  CHECK_THAT(run(folder.path(), {"env", "Pendulum-v1"}).out, !Contains("ends earlier"));
  write(folder / "push.txt", "1\n");
  // Euler's step moves by the velocity before it, and at rest not at all.
  const auto ends = [&](const std::string& task, const std::string& state) {
    const Outcome outcome = run(folder.path(), {"env", task, "--state", state, "--actions", "push.txt", "--json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    return lines_of(outcome.out).back()["terminated"].get<bool>();
  };
  for (const char* sign : {"", "-"}) {
    CHECK_FALSE(ends("CartPole-v1", fmt::format("{}2.3999,0,0,0", sign)));
    CHECK(ends("CartPole-v1", fmt::format("{}2.4001,0,0,0", sign)));
    CHECK_FALSE(ends("CartPole-v1", fmt::format("0,0,{}0.2094,0", sign)));
    CHECK(ends("CartPole-v1", fmt::format("0,0,{}0.2095,0", sign)));
  }

  const std::string sea = run(folder.path(), {"env", "deep-sea", "--set", "size=7"}).out;
  CHECK_THAT(sea, Contains("at the ground, after 7 steps") && Contains("10000 steps\n") && !Contains("0.1 s"));
  write(folder / "dive.txt", "1\n1\n1\n1\n1\n1\n1\n");
  const std::vector<json> dive =
      lines_of(run(folder.path(), {"env", "deep-sea", "--set", "size=7", "--actions", "dive.txt", "--json"}).out);
  REQUIRE(dive.size() == 7);
  for (std::size_t k = 0; k < 7; ++k) CHECK(dive[k]["terminated"] == (k == 6));
}

TEST_CASE("actions from a state print one transition a line, in double precision", "[cli][env]") {
  const TemporaryDirectory folder;
  write(folder / "actions.txt", "# pushes\n1\n\n0   # left\n");
  const Outcome outcome = run(
      folder.path(), {"env", "CartPole-v1", "--state", "-0.01,0.02,0.03,-0.04", "--actions", "actions.txt", "--json"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.err.empty());
  const auto lines = lines_of(outcome.out);
  REQUIRE(lines.size() == 2);
  // The first step by the equations of Barto, Sutton & Anderson.
  const double x = -0.01, v = 0.02, angle = 0.03, spin = -0.04, sine = std::sin(angle), cosine = std::cos(angle);
  const double drive = (10 + 0.05 * spin * spin * sine) / 1.1;
  const double turn = (9.8 * sine - cosine * drive) / (0.5 * (4.0 / 3 - 0.1 * cosine * cosine / 1.1));
  const double expected[4] = {x + 0.02 * v, v + 0.02 * (drive - 0.05 * turn * cosine / 1.1), angle + 0.02 * spin,
                              spin + 0.02 * turn};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(std::abs(lines[0]["state"][k].get<double>() - expected[k]) < 1e-15);
    CHECK(lines[0]["observation"][k] == lines[0]["state"][k]);
  }
  CHECK(lines[0]["action"] == json{1});
  CHECK(lines[1]["action"] == json{0});
  CHECK(lines[0]["reward"] == 1);
  CHECK(lines[0]["terminated"] == false);
  CHECK(lines[1]["truncated"] == false);
  CHECK_THAT(run(folder.path(), {"env", "CartPole-v1", "--actions", "actions.txt"}).out, Contains("reward 1  state"));
}

TEST_CASE("a trace without a state starts at the reset of a seed", "[cli][env]") {
  const TemporaryDirectory folder;
  write(folder / "actions", "0.5, \n");
  const auto trace = [&](const std::string& seed) {
    return run(folder.path(), {"env", "Pendulum-v1", "--seed", seed, "--actions", "actions", "--json"}).out;
  };
  CHECK(lines_of(trace("3")).size() == 1);
  CHECK(trace("3") == trace("3"));
  CHECK(trace("3") != trace("4"));
}

TEST_CASE("options of the environment are at work in a trace", "[cli][env]") {
  const TemporaryDirectory folder;
  write(folder / "half", "0.5\n0.5\n");
  const auto trace = [&](std::vector<std::string> settings) {
    std::vector<std::string> arguments{"env",  "double-pendulum", "--state", "0.1 0.2 0.3 0.4", "--actions",
                                       "half", "--json"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    return lines_of(run(folder.path(), arguments).out);
  };
  const auto plain = trace({}), rllab = trace({"reward=rllab"}), mapped = trace({"normalize_actions=true"});
  REQUIRE(plain.size() == 2);
  CHECK(rllab[0]["state"] == plain[0]["state"]);
  CHECK(rllab[0]["reward"] != plain[0]["reward"]);
  CHECK(mapped[0]["state"] != plain[0]["state"]);
  CHECK(plain[1]["truncated"] == false);
  CHECK(trace({"horizon=2"})[1]["truncated"] == true);
}

TEST_CASE("where an episode ends before the actions do, the rest is refused", "[cli][env]") {
  const TemporaryDirectory folder;
  write(folder / "actions", "1\n1\n1\n1\n");
  const Outcome outcome =
      run(folder.path(), {"env", "CartPole-v1", "--state", "2.37,1,0,0", "--actions", "actions", "--json"});
  CHECK(outcome.code == 2);
  const auto lines = lines_of(outcome.out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["terminated"] == false);
  CHECK(lines[1]["terminated"] == true);
  CHECK(lines[1]["state"][0].get<double>() > 2.4);
  CHECK_THAT(outcome.err, Contains("terminated by the action of line 2, and 2 actions are left"));
}

TEST_CASE("what stein env cannot do is said", "[cli][env][bad-input]") {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::vector<std::string>& arguments, int code, const std::vector<std::string>& parts) {
    const Outcome outcome = run(folder.path(), arguments);
    CAPTURE(arguments, outcome.err);
    CHECK(outcome.code == code);
    CHECK(outcome.out.empty());
    for (const std::string& part : parts) CHECK_THAT(outcome.err, Contains(part));
  };
  write(folder / "one", "1\n");
  write(folder / "bad", "1\n# fine\n1 left\n");
  write(folder / "wide", "\n1 0\n");
  write(folder / "nan", "nan\n");
  write(folder / "far", "11\n");
  write(folder / "third", "0.5\n");
  write(folder / "empty", "# nothing\n");
  refused({"env"}, 2, {"name of an environment", "stein list"});
  refused({"env", "CartPol-v1"}, 2, {"unknown environment 'CartPol-v1'", "'CartPole-v1'"});
  refused({"env", "mushrom"}, 2, {"'mushrom'", "'mushroom'"});
  refused({"env", "wheel", "--actions", "one"}, 2, {"'wheel' is a bandit", "stein bandit --env wheel"});
  refused({"env", "CartPole-v1", "--set", "horzon=3"}, 2, {"'horzon'", "'horizon'"});
  refused({"env", "CartPole-v1", "--set", "horizon=-3"}, 2, {"'horizon'", "-3"});
  refused({"env", "CartPole-v1", "--state", "0,0,0,0"}, 2, {"--actions"});
  refused({"env", "CartPole-v1", "--seed", "-1", "--actions", "one"}, 2, {"--seed"});
  refused({"env", "CartPole-v1", "--state", "0,0,0", "--actions", "one"}, 2,
          {"a state of 4 numbers, got 3", "cart position [m]", "pole angular velocity [rad/s]"});
  refused({"env", "CartPole-v1", "--state", "0,zero,0,0", "--actions", "one"}, 2, {"--state", "'zero'"});
  refused({"env", "CartPole-v1", "--state", "0,inf,0,0", "--actions", "one"}, 2, {"'cart velocity'", "inf"});
  refused({"env", "CartPole-v1", "--actions", "nowhere"}, 3, {"nowhere"});
  refused({"env", "CartPole-v1", "--actions", "empty"}, 3, {"empty", "found none"});
  refused({"env", "CartPole-v1", "--actions", "wide"}, 3, {"wide, line 2", "expected 1 number", "got 2"});
  refused({"env", "CartPole-v1", "--actions", "third"}, 2, {"third, line 1", "a choice from 0 to 1, got 0.5"});
  refused({"env", "CartPole-v1", "--actions", "nan"}, 3, {"nan, line 1", "'push' of slot 0 is nan at step 0"});
  refused({"env", "CartPole-v1", "--actions", "bad"}, 3, {"bad, line 3", "'left'"});
  refused({"env", "cartpole", "--actions", "far", "--set", "clip_actions=false"}, 2,
          {"far, line 1", "'force' in [-10, 10]", "got 11"});
}
