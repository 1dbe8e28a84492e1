#include <stein/core/read_file.h>
#include <stein/core/safetensors.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "cli/program.h"
#include "core/python.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// A run of a second with three policies, whose observations are normalised.
void train(const TemporaryDirectory& folder, const std::string& environment) {
  const Outcome outcome =
      run(folder.path(),
          {"rl", "--env", environment, "--agent", "a2c", "--posterior", "svgd", "--seeds", "3:5", "--set", "steps=3000",
           "particles=3", "hidden=8,8", "final_episodes=3", "normalize_observations=true", "--quiet", "--out", "run"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
}

const std::vector<std::vector<float>> cart_poles{{0, 0, 0, 0}, {.5, -1, .1, 2}, {-1, .3, -.15, -.4}, {100, 0, 0, -200}};
const std::vector<std::vector<float>> pendulums{{1, 0, 0}, {-.6F, .8F, 2}, {0, -1, -7.5}, {1, 0, 90}};

std::string lines_of(const std::vector<std::vector<float>>& observations) {
  std::string lines;
  for (const auto& observation : observations) lines += Json(observation).dump() + "\n";
  return lines;
}

/// The program of docs/control.md that acts by exported weights.
std::string program_of_the_guide() {
  const std::filesystem::path tests = std::filesystem::path(__FILE__).parent_path().parent_path();
  const std::string guide = stein::read_file(tests.parent_path() / "docs/control.md");
  const std::size_t begin = guide.find("```python\n") + 10;
  return guide.substr(begin, guide.find("```", begin) - begin);
}

}  // namespace

TEST_CASE("trained policies act over a pipe as the guide's program does by their exported weights",
          "[cli][rl][predict][python]") {
  const TemporaryDirectory folder;
  const auto python = python_with("numpy,safetensors");
  const bool choices = GENERATE(true, false);
  train(folder, choices ? "CartPole-v1" : "Pendulum-v1");
  const auto& observations = choices ? cart_poles : pendulums;
  const Outcome exported = run(folder.path(), {"export", "run", "--seed", "4", "--to", "policy.safetensors"});
  CAPTURE(exported.err);
  REQUIRE(exported.code == 0);
  CHECK_THAT(exported.out, Contains("3 policies of seed 4"));
  CHECK(stein::read_safetensors(folder / "policy.safetensors").contains("action.log_deviation") == !choices);
  Json all = Json::array();
  std::set<std::string> seen;
  for (int particle = 0; particle < 3; ++particle) {
    const auto answers = ask(folder, "run --seed 4 --particle " + std::to_string(particle), lines_of(observations));
    REQUIRE(answers.size() == observations.size());
    for (const Json& answer : answers) CHECK(answer["particle"] == particle);
    all.push_back(answers);
    Json actions = Json::array();
    for (const Json& answer : answers) actions.push_back(answer["action"]);
    seen.insert(actions.dump());
  }
  CHECK(seen.size() > 1);  // they are policies of their own
  CHECK(run_python(
      python, folder / "act.py",
      "import os\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n" + program_of_the_guide() +
          "\nfor particle, answers in enumerate(" + all.dump() + "):\n    for observation, answer in zip(" +
          Json(observations).dump() +
          ", answers):\n        found = act(observation, particle)\n"
          "        assert np.allclose(found, answer['action'], atol=1e-4), (particle, observation, found)\n"));
}

TEST_CASE("a policy is drawn for each episode, and actions where that is wanted", "[cli][rl][predict]") {
  const TemporaryDirectory folder;
  train(folder, "Pendulum-v1");
  std::string lines;
  for (int episode = 0; episode < 30; ++episode)
    lines += "{\"observation\":[1,0,0],\"reset\":true,\"id\":[" + std::to_string(episode) + "]}\n[1,0,0]\n";
  const auto answers = ask(folder, "run --sampled", lines);
  REQUIRE(answers.size() == 60);
  CHECK(ask(folder, "run --sampled", lines) == answers);
  CHECK(ask(folder, "run --sampled --draw-seed 1", lines) != answers);
  std::set<int> particles;
  std::set<double> actions;
  for (int episode = 0; episode < 30; ++episode) {
    const std::size_t place = 2 * static_cast<std::size_t>(episode);
    const Json &first = answers[place], &second = answers[place + 1];
    CHECK(first["id"] == Json({episode}));
    CHECK_FALSE(second.contains("id"));
    CHECK(first["particle"] == second["particle"]);
    particles.insert(first["particle"].get<int>());
    for (const Json& answer : {first, second}) {
      CHECK(answer["log_density"].is_number());
      actions.insert(answer["action"][0].get<double>());
    }
  }
  CHECK(particles == std::set<int>{0, 1, 2});
  CHECK(actions.size() > 30);  // some lie at the bounds
  CHECK_THAT(content_of(folder / "errors"), Contains("60 actions in 30 episodes, 0 lines not understood"));
  // Of the normal density in the task's units, [−2, 2]: twice those of the policy.
  REQUIRE(run(folder.path(), {"export", "run", "--to", "policy.safetensors"}).code == 0);
  const auto log_deviations =
      stein::read_safetensors(folder / "policy.safetensors").get_vector<float>("action.log_deviation");
  int compared = 0;
  for (std::size_t k = 0; k < answers.size(); ++k) {
    const double action = answers[k]["action"][0].get<double>();
    const auto particle = answers[k]["particle"].get<std::size_t>();
    if (std::abs(action) >= 2) continue;  // limited
    const auto mode = ask(folder, "run --particle " + std::to_string(particle), "[1,0,0]\n");
    if (std::abs(mode[0]["action"][0].get<double>()) >= 2) continue;
    const double log_deviation = double{log_deviations[particle]} + std::log(2.0);
    const double z = (action - mode[0]["action"][0].get<double>()) / std::exp(log_deviation);
    CHECK(answers[k]["log_density"].get<double>() ==
          Approx(-z * z / 2 - log_deviation - std::log(2 * std::acos(-1.0)) / 2).margin(1e-4));
    if (++compared == 8) break;
  }
  CHECK(compared > 2);
  const auto most_likely = ask(folder, "run --particle 0", "[1,0,0]\n[1,0,0]\n");
  CHECK(most_likely[0] == most_likely[1]);
  CHECK_FALSE(most_likely[0].contains("log_density"));
}

TEST_CASE("what is no observation is answered with what was expected", "[cli][rl][predict]") {
  const TemporaryDirectory folder;
  train(folder, "CartPole-v1");
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  const auto answers =
      ask(folder, "run",
          "[0,0,0,0]\n[0,0,0]\n{\"observation\":[0,0,0,null]}\nwhat\n{\"state\":[0,0,0,0]}\n"
          "{\"observation\":[0,0,0,0],\"reset\":1}\n{}\n[0,0,0,1e300]\n" +
              ("{\"observation\":[0,0,0,0],\"id\":" + nested + "}\n{\"observation\":" + nested + "}\n") +
              "{\"observation\":[0],\"id\":7}\n[0,0,0,0]\n");
  REQUIRE(answers.size() == 12);
  CHECK(answers[0].contains("action"));
  const std::vector<std::string> expected{"",
                                          "expected the 4 numbers of an observation (cart position, ",
                                          "expected a number of at most 1e+15 for 'pole angular velocity', got null",
                                          "expected [number, …]",
                                          "got 'state'",
                                          "got 'reset': 1",
                                          "expected the key 'observation'",
                                          "expected a number of at most 1e+15 for 'pole angular velocity', got 1e+300",
                                          "nested at most 16 deep",
                                          "nested at most 16 deep",
                                          "expected the 4 numbers"};
  CHECK(answers[10]["id"] == 7);
  CHECK(answers[11] == answers[0]);
  for (std::size_t k = 1; k < expected.size(); ++k)
    CHECK_THAT(answers[k]["error"].get<std::string>(), Contains(expected[k]));
  ask(folder, "run", "[0]\n", 3);
  CHECK_THAT(content_of(folder / "errors"), Contains("no line was understood"));
  CHECK(run(folder.path(), {"predict", "run", "--particle", "3"}).code == 2);
  const Outcome seed = run(folder.path(), {"predict", "run", "--seed", "7"});
  CHECK(seed.code == 2);
  CHECK_THAT(seed.err, Contains("3:5"));
  const Outcome file = run(folder.path(), {"export", "run", "--to", "policy.npz"});
  CHECK(file.code == 2);
  CHECK_THAT(file.err, Contains(".safetensors"));
}
