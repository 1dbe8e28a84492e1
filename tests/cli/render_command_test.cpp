#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

Outcome train_to_render(const TemporaryDirectory& folder, const std::string& environment,
                        const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"rl",     "--env", environment, "--posterior", "independent",      "--out",
                                     "run",    "--set", "steps=600", "particles=2", "final_episodes=2", "horizon=80",
                                     "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(folder.path(), arguments);
}

/// How often `part` occurs in `text`.
int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t place = text.find(part); place != std::string::npos; place = text.find(part, place + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("an episode of every task becomes an animated SVG with as many frames as it is long", "[cli][rl]") {
  const TemporaryDirectory folder;
  const std::string environment =
      GENERATE("CartPole-v1", "cartpole", "cartpole-swingup", "double-pendulum", "Pendulum-v1", "Acrobot-v1",
               "InvertedPendulum", "InvertedDoublePendulum", "cartpole-swingup-dm", "cartpole-mujoco",
               "cartpole-swingup-mujoco", "double-pendulum-mujoco");
  CAPTURE(environment);
  REQUIRE(train_to_render(folder, environment).code == 0);
  const Outcome outcome = run(folder.path(), {"render", "run", "--out", "picture.svg", "--particle", "1"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const std::string svg = content_of(folder / "picture.svg");
  CHECK_THAT(svg, Contains(environment + ", particle 1: return") && Contains("<animate attributeName=\"points\"") &&
                      !Contains("nan") && !Contains("inf,"));
  CHECK(svg.size() < 100'000);
  // Values of a list are separated by semicolons; the list of a link is as long as that of its tip.
  const std::size_t begin = svg.find("attributeName=\"cx\""), end = svg.find("/>", begin);
  const std::size_t links = svg.find("attributeName=\"points\""), links_end = svg.find("/>", links);
  CHECK(count(svg.substr(begin, end - begin), ";") == count(svg.substr(links, links_end - links), ";"));
  CHECK(content_of(folder / "run/episode.svg").starts_with("<svg"));

  const Json visits = Json::parse(content_of(folder / "run/visits.json"));
  CHECK(visits["particles"].size() == 2);
  for (const Json& particle : visits["particles"]) {
    CHECK(particle["x"].size() == particle["y"].size());
    CHECK(particle["x"].size() > 4);
    CHECK(particle["x"].size() <= 600);
  }
}

TEST_CASE("the same episode is drawn again, another seed or particle is another one", "[cli][rl]") {
  const TemporaryDirectory folder;
  REQUIRE(train_to_render(folder, "Pendulum-v1").code == 0);
  const auto picture = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"render", "run", "--out", "picture.svg"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    REQUIRE(run(folder.path(), arguments).code == 0);
    return content_of(folder / "picture.svg");
  };
  const std::string first = picture({});
  CHECK(first == picture({}));
  CHECK(first == content_of(folder / "run/episode.svg"));
  CHECK(first != picture({"--episode-seed", "3"}));
  CHECK(picture({"--particle", "0"}) != picture({"--particle", "1"}));
  CHECK(run(folder.path(), {"render", "run", "--particle", "2"}).code == 2);
  CHECK(run(folder.path(), {"render", "run", "--seed", "9"}).code == 2);
}

TEST_CASE("a trained policy can be watched in the terminal, and --json stays alone on standard output", "[cli][rl]") {
  const TemporaryDirectory folder;
  const Outcome outcome = train_to_render(folder, "CartPole-v1", {"--render", "--json"});
  REQUIRE(outcome.code == 0);
  CHECK(outcome.json()["env"] == "CartPole-v1");
  CHECK_THAT(outcome.err, Contains("\xE2\xA1") && Contains("0.00 s") && Contains("CartPole-v1, particle"));
  const Outcome again = run(folder.path(), {"render", "run", "--terminal"});
  CHECK(again.code == 0);
  CHECK_THAT(again.out, Contains("\xE2\xA1") && Contains("CartPole-v1, particle"));
}
