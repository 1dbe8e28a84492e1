#include <stein/core/read_file.h>
#include <stein/core/safetensors.h>

#include <catch2/catch.hpp>
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
      run(folder.path(), {"rl", "--env", environment, "--agent", "a2c", "--posterior", "svgd", "--seeds", "3:5", "--set",
                          "steps=3000", "particles=3", "hidden=8,8", "final_episodes=3", "normalize_observations=true",
                          "--quiet", "--out", "run"});
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
    seen.insert(all.back().dump());
  }
  CHECK(seen.size() == 3);
  CHECK(run_python(python, folder / "act.py",
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
    const Json &first = answers[static_cast<std::size_t>(2 * episode)], &second = answers[static_cast<std::size_t>(2 * episode + 1)];
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
  const auto most_likely = ask(folder, "run --particle 0", "[1,0,0]\n[1,0,0]\n");
  CHECK(most_likely[0] == most_likely[1]);
  CHECK_FALSE(most_likely[0].contains("log_density"));
}

TEST_CASE("what is no observation is answered with what was expected", "[cli][rl][predict]") {
  const TemporaryDirectory folder;
  train(folder, "CartPole-v1");
  const auto answers = ask(folder, "run",
                           "[0,0,0,0]\n[0,0,0]\n{\"observation\":[0,0,0,null]}\nwhat\n{\"state\":[0,0,0,0]}\n"
                           "{\"observation\":[0,0,0,0],\"reset\":1}\n{}\n[0,0,0,1e300]\n");
  REQUIRE(answers.size() == 8);
  CHECK(answers[0].contains("action"));
  const std::vector<std::string> expected{"",
                                          "expected the 4 numbers of an observation (cart position, ",
                                          "expected a finite number for 'pole angular velocity', got null",
                                          "expected [number, …]",
                                          "got 'state'",
                                          "got 'reset': 1",
                                          "expected the key 'observation'",
                                          "expected a finite number for 'pole angular velocity', got 1e+300"};
  for (std::size_t k = 1; k < answers.size(); ++k)
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
