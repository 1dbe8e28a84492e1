#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "cli/browser.h"
#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

TEST_CASE("the report works offline: every plot has data and the console stays empty", "[cli][report][browser]") {
  const TemporaryDirectory folder;
  for (const char* policy : {"uniform", "lints", "svgd"}) {
    const Outcome outcome = run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", policy, "--seeds",
                                                "0:3", "--set", "steps=60", "updates=2", "--out", policy, "--quiet"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
  }
  const Outcome report = run(folder.path(), {"report", "uniform", "lints", "svgd", "--out", "page.html"});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  CHECK_THAT(report.out, Contains("page.html") && Contains("lints") && Contains("% of uniform"));
  CHECK(std::filesystem::file_size(folder / "page.html") < 7'000'000);

  const std::string dom = rendered(folder.path(), "page.html");
  check_page(
      folder.path(), dom,
      {"regret", "regret-per-seed", "propensity_entropy", "collapse", "posterior-edible", "posterior-poisonous"});
  CHECK_THAT(dom, Contains("stand-in"));
}

TEST_CASE("a page of one run lies with it, and runs of several bandits are told apart", "[cli][report]") {
  const TemporaryDirectory folder;
  for (const char* env : {"wheel", "linear"}) {
    REQUIRE(
        run(folder.path(), {"bandit", "--env", env, "--policy", "uniform", "--set", "steps=30", "--out", env}).code ==
        0);
  }
  REQUIRE(run(folder.path(), {"report", "wheel"}).code == 0);
  CHECK(std::filesystem::exists(folder / "wheel/report.html"));
  const Outcome both = run(folder.path(), {"report", "wheel", "linear"});
  REQUIRE(both.code == 0);
  CHECK_THAT(both.out, Contains("wheel (synthetic data)") && Contains("linear (synthetic data)"));
  CHECK(std::filesystem::exists(folder / "report.html"));
}

TEST_CASE("runs that have no result yet show what they recorded so far", "[cli][report][browser]") {
  const TemporaryDirectory folder;
  const auto play = [&](const std::string& policy, const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"bandit",    "--env", "wheel", "--policy", policy,  "--seeds", "0:3",
                                       "--threads", "1",     "--out", out,        "--set", "steps=60"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(folder.path(), arguments).code;
  };
  REQUIRE(play("lints", "whole", {}) == 0);
  REQUIRE(play("lints", "begun", {"--stop-after", "40"}) == 75);
  REQUIRE(play("uniform", "too", {"--stop-after", "30"}) == 75);
  std::ofstream(folder / "too/metrics.jsonl", std::ios::app) << "{\"tag\":\"regret\",\"se";  // is being written
  const Outcome report = run(folder.path(), {"report", "whole", "begun", "too", "--out", "page.html"});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  CHECK_THAT(report.out, Contains("\n  lints ") &&
                             Contains("After 40 interactions: the run in 'begun' is not finished") &&
                             Contains("After 30 interactions: the run in 'too' is not finished"));
  const std::string dom = rendered(folder.path(), "page.html");
  check_page(folder.path(), dom,
             {"wheel, 60 interactions/regret", "wheel, not finished/regret", "wheel, not finished/uniform_regret"});
  const std::string shown = shown_text(dom);
  CHECK_THAT(shown, Contains("`stein resume begun` goes on with it") &&
                        Contains("So far: begun 40 interactions, 3 seeds; too 30 interactions, 3 seeds."));
  const Outcome alone = run(folder.path(), {"report", "begun"});
  CHECK(alone.code == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "begun/summary.json"));
  REQUIRE(run(folder.path(), {"resume", "begun", "--quiet"}).code == 0);
  CHECK_THAT(run(folder.path(), {"report", "begun"}).out, Contains("\n  lints "));
}

TEST_CASE("bandits of one name with different options are different bandits", "[cli][report]") {
  const TemporaryDirectory folder;
  const auto play = [&](const std::string& delta, const std::string& policy) {
    const std::string out = policy + "-" + delta;
    REQUIRE(run(folder.path(),
                {"bandit", "--env", "wheel", "--policy", policy, "--set", "steps=30", "delta=" + delta, "--out", out})
                .code == 0);
    return out;
  };
  const std::string easy = play("0.5", "uniform"), hard = play("0.99", "uniform"), learned = play("0.5", "lints");
  const Outcome apart = run(folder.path(), {"report", easy, learned, hard});
  REQUIRE(apart.code == 0);
  CHECK_THAT(apart.out, Contains("wheel (delta=0.5) (synthetic data)") && Contains("wheel (delta=0.99)"));
  CHECK_THAT(apart.out, !Contains("uniform (uniform-0.5)"));  // one run of each policy in each bandit needs no folder
  const std::string page = content_of(folder / "report.html");
  CHECK_THAT(page, Contains(R"x("task":"wheel (delta=0.5)")x") && Contains(R"x("task":"wheel (delta=0.99)")x"));

  const Outcome alike = run(folder.path(), {"report", easy, learned});
  CHECK_THAT(alike.out, Contains("wheel (synthetic data)") && !Contains("delta"));
}

TEST_CASE("runs of different length or seeds are not mixed, and only what stands out of the noise is called best",
          "[cli][report][browser]") {
  const TemporaryDirectory folder;
  const auto play = [&](const char* policy, const char* seeds, const char* steps, const char* out) {
    REQUIRE(run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", policy, "--seeds", seeds, "--set",
                                std::string("steps=") + steps, "--out", out, "--quiet"})
                .code == 0);
  };
  play("uniform", "0:3", "1200", "uniform");
  play("lints", "0:3", "1200", "long");
  play("lints", "2:4", "1200", "other-seeds");
  play("uniform", "0:1", "20", "short");
  play("lints", "0:1", "20", "short-lints");
  REQUIRE(run(folder.path(), {"report", "uniform", "long", "other-seeds", "short", "short-lints"}).code == 0);
  const std::string dom = rendered(folder.path(), "report.html");
  CHECK(attribute(dom, "data-errors") == "0");
  const Json plots = Json::parse(attribute(dom, "data-plots"));
  CHECK(plots.contains("mushroom-synthetic, 1,200 interactions/regret"));
  CHECK(plots.contains("mushroom-synthetic, 20 interactions/regret"));
  const Json outside = Json::parse(attribute(dom, "data-outside"));
  CHECK(outside["mushroom-synthetic, 1,200 interactions/regret"] == 0);
  const std::string text = shown_text(dom);
  CHECK_THAT(text, Contains("3 runs, 2 to 3 seeds (not the same in all runs) × 1,200 interactions each") &&
                       Contains("3 (0–2)") && Contains("2 (2–3)") && Contains("1 (0)"));
  CHECK_THAT(text, Contains("No run is told apart from the least mean regret, that of lints (") &&
                       Contains("; runs on other seeds are not paired with it.") &&
                       Contains("± is the standard deviation over seeds"));
  CHECK_THAT(text, Contains("2 runs, 1 seed × 20 interactions each. Of a single seed the noise is unknown"));
  CHECK_THAT(text, !Contains("locked in") && Contains("reward units"));
  REQUIRE(run(folder.path(), {"report", "uniform", "long", "--out", "same-seeds.html"}).code == 0);
  CHECK_THAT(shown_text(rendered(folder.path(), "same-seeds.html")), Contains("Least regret: lints, "));
}

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t place = text.find(part); place != std::string::npos; place = text.find(part, place + 1)) ++count;
  return count;
}

/// Replaces the regrets in the summary of a finished run of three seeds.
void give_regrets(const std::filesystem::path& run, const std::array<double, 3>& regrets) {
  Json summary = Json::parse(content_of(run / "summary.json"));
  const double mean = (regrets[0] + regrets[1] + regrets[2]) / 3;
  double squares = 0;
  for (const double regret : regrets) squares += (regret - mean) * (regret - mean);
  summary["regret"] = {{"mean", mean}, {"sd", std::sqrt(squares / 2)}, {"per_seed", regrets}};
  std::ofstream(run / "summary.json") << summary.dump(2);
}

}  // namespace

TEST_CASE("not told apart from the least mean regret are all whose difference, paired by seed, has 0 in its interval",
          "[cli][report][browser]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"bandit", "--env", "linear", "--policy", "linucb,lints,uniform", "--seeds", "0:3",
                              "--set", "steps=5", "--out", "out", "--quiet"})
              .code == 0);
  const auto page = [&] {
    REQUIRE(run(folder.path(), {"report", "out"}).code == 0);
    const std::string dom = rendered(folder.path(), "out/report.html");
    CHECK(attribute(dom, "data-errors") == "0");
    return dom;
  };
  // t of 2 degrees of freedom is 4.303. linucb − lints: 90, 0, 10, which is 33.3 ± 122.5. uniform − lints: 1, 1, 1.5,
  // which is 1.17 ± 0.72, told apart although the means differ by far less than their standard errors of 58.
  give_regrets(folder / "out/policy=lints", {10, 110, 210});
  give_regrets(folder / "out/policy=linucb", {100, 110, 220});
  give_regrets(folder / "out/policy=uniform", {11, 111, 211.5});
  std::string dom = page();
  CHECK_THAT(shown_text(dom), Contains("Least regret: lints; not told apart from it: linucb.") &&
                                  Contains("the 95 % interval of the difference, paired by seed, contains 0."));
  CHECK(count_of(dom, "<td class=\"best") == 2);
  CHECK_THAT(shown_text(dom), Contains("lints: all 5 interactions were forced pulls"));

  // linucb − lints: 1, 2, 3, which is 2 ± 2.48; now the least is uniform's, and both are above it: 9, 10, 11 and more.
  give_regrets(folder / "out/policy=linucb", {11, 112, 213});
  give_regrets(folder / "out/policy=uniform", {1, 100, 199});
  dom = page();
  CHECK_THAT(shown_text(dom), Contains("Least regret: uniform, 100"));
  CHECK(count_of(dom, "<td class=\"best") == 1);

  // uniform − lints: 10, −5, 30, which is 11.7 ± 43.6.
  give_regrets(folder / "out/policy=uniform", {20, 105, 240});
  dom = page();
  CHECK_THAT(shown_text(dom), Contains("No run is told apart from the least mean regret, that of lints."));
  CHECK(count_of(dom, "<td class=\"best") == 0);
}

TEST_CASE("a figure of differences shows thirty pairs and says how many there are besides", "[cli][report][browser]") {
  const TemporaryDirectory folder;
  std::string values;
  for (int k = 0; k < 9; ++k) values += (k > 0 ? "," : "") + std::to_string(0.1 * (k + 1));
  REQUIRE(run(folder.path(), {"bandit", "--env", "linear", "--policy", "epsilon-greedy", "--sweep", "epsilon=" + values,
                              "--seeds", "0:2", "--set", "steps=5", "--out", "out", "--quiet"})
              .code == 0);
  const std::string dom = rendered(folder.path(), "out/report.html");
  CHECK(Json::parse(attribute(dom, "data-plots"))["differences"] == 30);  // of 9·8/2
  CHECK_THAT(shown_text(dom), Contains("6 more pairs of runs not shown."));
}

TEST_CASE("posteriors are those of the first seed, and truth is drawn only where it is known",
          "[cli][report][browser]") {
  const TemporaryDirectory folder;
  for (const char* env : {"mushroom-synthetic", "wheel"})
    for (const char* policy : {"svgd", "epsilon-greedy"})
      REQUIRE(run(folder.path(), {"bandit", "--env", env, "--policy", policy, "--seeds", "0:2", "--set", "steps=40",
                                  "updates=2", "--out", std::string(env) + "-" + policy, "--quiet"})
                  .code == 0);
  const auto page_of = [&](const std::string& env) {
    const std::string page = env + ".html";
    REQUIRE(run(folder.path(), {"report", env + "-svgd", env + "-epsilon-greedy", "--out", page}).code == 0);
    return rendered(folder.path(), page);
  };
  const std::string mushroom = page_of("mushroom-synthetic"), wheel = page_of("wheel");
  CHECK(Json::parse(attribute(mushroom, "data-plots"))["posterior-edible"] == 2 * (20 + 1));  // arms × networks
  CHECK_THAT(shown_text(mushroom),
             Contains("seed 0 only") && Contains("Dot: a single network") && Contains("Dashed: the true expectation"));
  CHECK_THAT(shown_text(wheel), Contains("Posterior reward: centre") && !Contains("true expectation"));
}

TEST_CASE("a page of a bandit over a table shows the posterior of one row for each of its classes",
          "[cli][report][browser]") {
  const TemporaryDirectory folder;
  for (const char* env : {"classification-synthetic", "jester-synthetic"}) {
    CAPTURE(env);
    REQUIRE(run(folder.path(), {"bandit", "--env", env, "--policy", "svgd", "--seeds", "0:1", "--set", "steps=20",
                                "updates=2", "--out", env, "--quiet"})
                .code == 0);
    REQUIRE(run(folder.path(), {"report", env}).code == 0);
    const std::string dom = rendered(folder.path(), std::string(env) + "/report.html");
    CHECK(attribute(dom, "data-errors") == "0");
    const Json plots = Json::parse(attribute(dom, "data-plots"));
    const bool jokes = env == std::string("jester-synthetic");
    for (int arm = 0; arm < (jokes ? 8 : 7); ++arm) {
      const std::string name = jokes ? "joke " + std::to_string(33 + arm) : "ring " + std::to_string(arm);
      CHECK(plots.at("posterior-" + name) == (jokes ? 8 : 7) * 20);  // arms × networks
    }
  }
}

TEST_CASE("a page of uniform play alone does not say that it did worse than itself", "[cli][report][browser]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", "uniform", "--seeds", "0:3", "--set", "steps=30",
                              "--out", "uniform", "--quiet"})
              .code == 0);
  REQUIRE(run(folder.path(), {"report", "uniform"}).code == 0);
  const std::string dom = rendered(folder.path(), "uniform/report.html");
  CHECK(attribute(dom, "data-errors") == "0");
  CHECK_THAT(shown_text(dom), Contains("3 seeds × 30 interactions") && !Contains("did worse than uniform play"));
}

TEST_CASE("a report of control runs shows curves, particles, visited states and an episode",
          "[cli][report][rl][browser]") {
  const TemporaryDirectory folder;
  for (const char* posterior : {"none", "svgd"}) {
    std::vector<std::string> arguments{"rl",      "--env",      "CartPole-v1", "--posterior",     posterior,
                                       "--seeds", "0:2",        "--out",       posterior,         "--quiet",
                                       "--set",   "steps=6000", "slots=4",     "final_episodes=4"};
    if (std::string(posterior) != "none") arguments.emplace_back("particles=3");
    REQUIRE(run(folder.path(), arguments).code == 0);
  }
  const Outcome report = run(folder.path(), {"report", "none", "svgd"});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  CHECK_THAT(report.out, Contains("CartPole-v1, 6000 steps, 2 seeds") && Contains("a2c-svgd") &&
                             Contains("reached threshold") && Contains("0 of 2") && !Contains("solved"));
  const std::string dom = rendered(folder.path(), "report.html");
  check_page(folder.path(), dom,
             {"evaluation_return", "return", "particles", "entropy", "particle_distance", "collapse", "visits-a2c",
              "visits-a2c-svgd"});
  CHECK(attribute(dom, "data-scrolled") == "0");  // all columns of the table fit into 1,280 pixels
  CHECK_THAT(shown_text(dom), Contains("Control report: CartPole-v1") && Contains("2 runs, 2 seeds") &&
                                  Contains("Dotted: 475") && Contains("An episode: a2c-svgd"));
  CHECK_THAT(dom, Contains("class=\"episode\""));
}

TEST_CASE("a table with every column and long numbers fits into 1,280 pixels", "[cli][report][rl][browser]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"rl", "--env", "CartPole-v1", "--posterior", "svgd", "--seeds", "0:2", "--out", "out",
                              "--quiet", "--set", "steps=1000", "slots=4", "final_episodes=2", "particles=3"})
              .code == 0);
  Json summary = Json::parse(content_of(folder / "out/summary.json"));
  for (Json* value : {&summary["return"], &summary["return_sampled"], &summary["particles"]["mean"],
                      &summary["particles"]["median"], &summary["particles"]["max"]})
    (*value)["mean"] = -1234.5, (*value)["sd"] = 1234.5;
  summary["steps"] = 3'000'000, summary["steps_per_second"] = 1'234'567, summary["wall_seconds"] = 12'345;
  summary["steps_to_threshold"]["per_seed"] = {1'234'567, nullptr};
  std::ofstream(folder / "out/summary.json") << summary.dump(2);
  REQUIRE(run(folder.path(), {"report", "out"}).code == 0);
  const std::string dom = rendered(folder.path(), "out/report.html");
  CHECK_THAT(shown_text(dom), Contains("-1,235 ± 1,235") && Contains("1,234,567") && Contains("12,345 s"));
  CHECK(attribute(dom, "data-scrolled") == "0");
}

TEST_CASE("bandits and control tasks stand on one page", "[cli][report][rl][browser]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", "lints", "--set", "steps=40", "--out", "bandit"})
              .code == 0);
  REQUIRE(run(folder.path(), {"rl", "--env", "Pendulum-v1", "--set", "steps=2000", "final_episodes=2", "--out", "rl"})
              .code == 0);
  const Outcome report = run(folder.path(), {"report", "bandit", "rl"});
  REQUIRE(report.code == 0);
  CHECK_THAT(report.out, Contains("wheel (synthetic data)") && Contains("Pendulum-v1, 2000 steps, 1 seed"));
  const std::string dom = rendered(folder.path(), "report.html");
  CHECK(attribute(dom, "data-errors") == "0");
  const Json plots = Json::parse(attribute(dom, "data-plots"));
  CHECK(plots.contains("wheel/regret"));
  CHECK(plots.contains("Pendulum-v1/evaluation_return"));
  CHECK_THAT(shown_text(dom), Contains("Report") && !Contains("Bandit report") && !Contains("counts as solved"));
}
