// `stein bandit --policy a,b`: policies on the same contexts, side by side.
#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>

#include "cli/browser.h"
#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

using Arguments = std::vector<std::string>;

Arguments compare(const std::string& policies, const Arguments& more = {}) {
  Arguments arguments{"bandit",  "--env", "wheel",   "--policy", policies,
                      "--seeds", "0:3",   "--quiet", "--set",    "steps=60"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Arguments into(const std::string& out, Arguments more = {}) {
  more.insert(more.end(), {"--out", out});
  return more;
}

}  // namespace

TEST_CASE("policies with commas between are compared as by a sweep, in a folder with the names of all",
          "[cli][compare]") {
  const TemporaryDirectory folder;
  const Outcome compared = run(folder.path(), compare("linucb,lints,uniform"));
  CAPTURE(compared.err);
  REQUIRE(compared.code == 0);
  CHECK_THAT(compared.out, Contains("wheel-linucb+lints+uniform-1, 3 of 3 runs, over policy") &&
                               Contains("\n  linucb ") && Contains("\n  uniform ") &&
                               Contains("runs/wheel-linucb+lints+uniform-1/report.html"));
  CHECK_THAT(compared.out, Contains("Differences, paired by seed") && Contains("linucb − lints ") &&
                               Contains("linucb − uniform ") && Contains("lints − uniform "));
  CHECK_THAT(run(folder.path(), {"report", "runs/wheel-linucb+lints+uniform-1"}).out,
             Contains("Differences, paired by seed"));
  CHECK(std::filesystem::exists(folder / "runs/wheel-linucb+lints+uniform-1/report.html"));
  REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--set", "policy=linucb,lints", "steps=5", "--quiet"}).code ==
          0);
  CHECK(std::filesystem::exists(folder / "runs/wheel-linucb+lints-1/policy=lints/summary.json"));

  Arguments swept{"bandit",  "--env", "wheel",   "--sweep", "policy=linucb,lints,uniform",
                  "--seeds", "0:3",   "--quiet", "--set",   "steps=60"};
  REQUIRE(run(folder.path(), into("swept", swept)).code == 0);
  for (const char* policy : {"linucb", "lints", "uniform"}) {
    const std::string file = std::string("policy=") + policy + "/metrics.jsonl";
    CHECK(content_of(folder / "swept" / file) == content_of(folder / "runs/wheel-linucb+lints+uniform-1" / file));
  }
  std::filesystem::remove_all(folder / "swept/policy=lints");
  const Outcome report = run(folder.path(), {"report", "swept"});
  CHECK(report.code == 0);
  CHECK_THAT(report.err, Contains("1 of 3 runs have not begun, or were removed: policy=lints"));
}

TEST_CASE("a setting with a compared policy's name before it is that policy's alone", "[cli][compare]") {
  const TemporaryDirectory folder;
  const Arguments set{"--set", "alpha=0.5", "--set", "linucb.alpha=2"};
  REQUIRE(run(folder.path(), compare("linucb,uniform,epsilon-greedy", into("out", set))).code == 0);
  CHECK_THAT(content_of(folder / "out/policy=linucb/config.toml"), Contains("alpha = 2"));
  const Outcome wrong = run(folder.path(), compare("linucb,uniform", {"--set", "linucb.alpa=2"}));
  CHECK(wrong.code != 0);
  CHECK_THAT(wrong.err, Contains("alpa") && Contains("alpha"));
  const Outcome other = run(folder.path(), compare("linucb,uniform", {"--set", "linucd.alpha=2"}));
  CHECK(other.code != 0);
}

TEST_CASE("differences are those of the runs' own summaries, pair by pair, with Student's interval", "[cli][compare]") {
  const TemporaryDirectory folder;
  const Outcome compared = run(folder.path(), compare("linucb,lints,uniform", into("out", {"--json"})));
  REQUIRE(compared.code == 0);
  const Json summary = compared.json();
  REQUIRE(summary["runs"].size() == 3);
  CHECK(summary["sweep"]["policy"] == Json({"linucb", "lints", "uniform"}));
  // The contexts are the same: what uniform play expects on them is, too.
  CHECK(summary["runs"][0]["uniform_regret"] == summary["runs"][2]["uniform_regret"]);
  const Json differences = summary["differences"];
  REQUIRE(differences.size() == 6);
  std::size_t place = 0;
  for (std::size_t first = 0; first < 3; ++first)
    for (std::size_t second = first + 1; second < 3; ++second)
      for (const char* field : {"regret", "reward"}) {
        const Json difference = differences[place++];
        CAPTURE(difference.dump());
        CHECK(difference["field"] == field);
        CHECK(difference["first"] == summary["runs"][first]["policy"]);
        CHECK(difference["second"] == summary["runs"][second]["policy"]);
        CHECK(difference["seeds"] == Json({0, 1, 2}));
        std::vector<double> values;
        for (std::size_t seed = 0; seed < 3; ++seed)
          values.push_back(summary["runs"][first][field]["per_seed"][seed].get<double>() -
                           summary["runs"][second][field]["per_seed"][seed].get<double>());
        const double mean = (values[0] + values[1] + values[2]) / 3;
        const double sd = std::sqrt(
            (std::pow(values[0] - mean, 2) + std::pow(values[1] - mean, 2) + std::pow(values[2] - mean, 2)) / 2);
        const double half = 4.302653 * sd / std::sqrt(3.0);  // t of 2 degrees of freedom
        CHECK(difference["difference"].get<double>() == Approx(mean));
        CHECK(difference["sd"].get<double>() == Approx(sd));
        CHECK(difference["interval"][0].get<double>() == Approx(mean - half));
        CHECK(difference["interval"][1].get<double>() == Approx(mean + half));
      }
}

TEST_CASE("runs that cannot be compared have no difference, and one seed has no interval", "[cli][compare]") {
  const TemporaryDirectory folder;
  const auto differences = [&](const Arguments& more) {
    Arguments arguments{"bandit", "--policy", "lints,uniform", "--quiet", "--json", "--set", "steps=5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(folder.path(), arguments);
    REQUIRE(outcome.code == 0);
    return outcome.json()["differences"];
  };
  const Json one = differences({"--env", "wheel", "--seeds", "4:5"});
  REQUIRE(one.size() == 2);
  CHECK(one[0]["interval"].is_null());
  CHECK(one[0]["sd"].is_null());
  CHECK(one[0]["difference"].is_number());
  const Json wheels = differences(into("wheels", {"--env", "wheel", "--sweep", "delta=0.5,0.9"}));
  REQUIRE(wheels.size() == 4);  // within each wheel
  for (const Json& pair : wheels)
    CHECK(pair["first"].get<std::string>().substr(6) == pair["second"].get<std::string>().substr(8));  // ", delta=…"
  CHECK(differences(into("seeds", {"--env", "wheel", "--sweep", "seeds=0:2,2:4"})).size() == 4);
}

TEST_CASE("an option that only some of the policies have is for them; one that none has is refused",
          "[cli][compare][bad-input]") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "mine.toml") << "particles = 3\nupdates = 1\n";
  const Outcome compared = run(
      folder.path(), compare("svgd,epsilon-greedy,uniform", into("out", {"epsilon=0.25", "--config", "mine.toml"})));
  CAPTURE(compared.err);
  REQUIRE(compared.code == 0);
  CHECK_THAT(content_of(folder / "out/policy=svgd/config.toml"), Contains("particles = 3") && !Contains("\nepsilon ="));
  CHECK_THAT(content_of(folder / "out/policy=epsilon-greedy/config.toml"), Contains("epsilon = 0.25"));
  CHECK_THAT(content_of(folder / "out/policy=uniform/config.toml"),
             !Contains("\nepsilon =") && !Contains("\nparticles ="));

  const auto refused = [&](const Arguments& arguments) {
    const Outcome outcome = run(folder.path(), arguments);
    CHECK(outcome.code == 2);
    CHECK_FALSE(std::filesystem::exists(folder / "none"));
    return outcome.err;
  };
  CHECK_THAT(refused(compare("svgd,lints", into("none", {"epsilon=0.25"}))),
             Contains("option 'epsilon' needs policy epsilon-greedy; wheel/svgd has none of that name"));
  CHECK_THAT(refused(compare("lints,epsilon-greedy", into("none", {"epsilom=0.25"}))),
             Contains("unknown option 'epsilom'"));
  CHECK_THAT(refused(compare("lints,epsilon-greedy", into("none", {"epsilon=25"}))), Contains("epsilon"));
  CHECK_THAT(refused(compare("lints,lints", into("none"))), Contains("option 'policy' names 'lints' twice"));
  CHECK_THAT(refused(compare("lints,linucd", into("none"))),
             Contains("'linucd'") && Contains("Did you mean 'linucb'?"));
  CHECK_THAT(refused(compare("lints,", into("none"))), Contains("names between commas"));
  CHECK_THAT(refused(compare("lints,linucd")), Contains("Did you mean 'linucb'?"));
  CHECK_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST_CASE("a policy that cannot play the bandit is refused before another one plays", "[cli][compare][bad-input]") {
  const TemporaryDirectory folder;
  for (const Arguments& more : {Arguments{}, into("out"), into("out", {"--sweep", "delta=0.5,0.9"})}) {
    const Outcome refused = run(folder.path(), compare("lints,beta-ts", more));
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK_THAT(refused.err, Contains("policy=beta-ts") && Contains("'beta-ts' needs rewards in [0, 1]"));
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
    CHECK_FALSE(std::filesystem::exists(folder / "runs"));
  }
}

TEST_CASE("a single run does not take the folder of a comparison, which keeps its files", "[cli][compare][bad-input]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), compare("lints,uniform", into("out"))).code == 0);
  const std::string report = content_of(folder / "out/report.html");
  for (const Arguments& more : {Arguments{}, Arguments{"--overwrite"}}) {
    const Outcome single = run(folder.path(), compare("lints", into("out", more)));
    CHECK(single.code == 2);
    CHECK_THAT(single.err,
               Contains("'out' holds a comparison or sweep of 2 runs: nothing was overwritten, choose another "
                        "--out; there --overwrite replaces its runs by those of another comparison"));
  }
  CHECK(content_of(folder / "out/report.html") == report);
  CHECK(std::filesystem::exists(folder / "out/policy=lints/summary.json"));
  // A run stays one, whatever a person puts into its folder.
  REQUIRE(run(folder.path(), compare("lints", into("alone"))).code == 0);
  std::ofstream(folder / "alone/sweep.json") << "{}";
  CHECK(run(folder.path(), compare("lints", into("alone", {"--overwrite"}))).code == 0);
}

TEST_CASE("a comparison that was killed goes on to the same bytes", "[cli][compare][resume]") {
  const TemporaryDirectory folder;
  const Arguments settings{"checkpoint_every=10", "updates=2", "steps=200", "particles=3"};
  const auto arguments = [&](const std::string& out) { return compare("lints,svgd,uniform", into(out, settings)); };
  REQUIRE(run(folder.path(), arguments("whole")).code == 0);
  Program program(folder.path(), arguments("part"));
  REQUIRE(program.wait_until(
      [&] { return std::filesystem::exists(folder / "part/policy=svgd/checkpoints/checkpoint-50.safetensors"); }));
  program.send(SIGKILL);
  program.wait();
  CHECK_FALSE(std::filesystem::exists(folder / "part/policy=uniform"));
  CHECK_THAT(run(folder.path(), {"report", "part"}).out,
             Contains("part, 1 of 3 runs, over policy") && Contains("the run in 'part/policy=svgd' is not finished"));
  const Outcome resumed = run(folder.path(), {"resume", "part", "--quiet", "--json"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  for (const char* policy : {"lints", "svgd", "uniform"}) {
    const std::string file = std::string("policy=") + policy + "/metrics.jsonl";
    CHECK(content_of(folder / "part" / file) == content_of(folder / "whole" / file));
  }
  CHECK(resumed.json()["differences"].size() == 6);
  CHECK(run(folder.path(), arguments("part")).code == 0);  // the same command once more has nothing left to do
}

TEST_CASE("the page of a comparison shows the differences of all pairs", "[cli][compare][report][browser]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), compare("linucb,lints,uniform", into("out"))).code == 0);
  const std::string dom = rendered(folder.path(), "out/report.html");
  check_page(folder.path(), dom, {"regret", "regret-per-seed", "differences"});
  CHECK(Json::parse(attribute(dom, "data-plots"))["differences"] == 3);
  const std::string text = shown_text(dom);
  CHECK_THAT(text, Contains("Differences of policies") && Contains("Seeds are paired") &&
                       Contains("95 % interval of Student's t"));
  REQUIRE(run(folder.path(), compare("lints", into("alone"))).code == 0);
  REQUIRE(run(folder.path(), {"report", "alone"}).code == 0);
  CHECK_THAT(shown_text(rendered(folder.path(), "alone/report.html")), !Contains("Differences of policies"));
}

TEST_CASE("help on several policies has the options of all", "[cli][compare][help]") {
  const TemporaryDirectory folder;
  const Outcome help =
      run(folder.path(), {"bandit", "--policy", "lints,epsilon-greedy", "--set", "epsilon=0.1", "--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Contains("Policy lints") && Contains("Policy epsilon-greedy") && Contains("several to compare"));
}

TEST_CASE("a sweep of control runs has the differences of their returns", "[cli][compare][rl]") {
  const TemporaryDirectory folder;
  const Outcome swept =
      run(folder.path(), into("out", {"rl", "--env", "CartPole-v1", "--sweep", "posterior=none,svgd", "--seeds", "0:2",
                                      "--quiet", "--json", "--set", "steps=2000", "final_episodes=2", "particles=3"}));
  CAPTURE(swept.err);
  REQUIRE(swept.code == 0);  // `particles` is an option of svgd alone
  const Json differences = swept.json()["differences"];
  REQUIRE(differences.size() == 1);
  CHECK(differences[0]["field"] == "return");
  CHECK(differences[0]["first"] == "posterior=none");
  CHECK(differences[0]["interval"].size() == 2);
}
