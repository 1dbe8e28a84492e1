#include <fmt/format.h>
#include <stein/core/data/manifest.h>
#include <stein/core/line_reader.h>
#include <stein/core/line_writer.h>
#include <stein/replay/synthetic_news.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>

#include "cli/browser.h"
#include "cli/program.h"
#include "skip.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// A log of made-up news in `folder`.
std::string make_log(const TemporaryDirectory& folder, const std::string& name, int events, int seed = 0) {
  const Outcome made =
      run(folder.path(), {"data", "make", "news-synthetic", "--events", std::to_string(events), "--seed",
                          std::to_string(seed), "--lifetime", "2000", "--out", name, "--quiet"});
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  return name;
}

Outcome replay(const TemporaryDirectory& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"replay", "--quiet"});
  return run(folder.path(), std::move(arguments));
}

const Json& policy(const Json& summary, const std::string& name) {
  for (const Json& entry : summary["policies"])
    if (entry["policy"] == name) return entry;
  FAIL("there is no policy " + name);
  return summary;
}

/// The log without the line `left_out`, followed by `lines`.
void write_lines(const std::filesystem::path& path, const std::vector<std::string>& lines) {
  stein::LineWriter writer(path);
  for (const std::string& line : lines) writer.write(line);
  writer.commit();
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  stein::LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  return lines;
}

/// A file of the sample of Open Bandit: of a policy, random or bts, and a campaign.
std::string open_bandit(const std::string& policy, const std::string& campaign) {
  for (const std::filesystem::path& folder : stein::data_folders())
    if (std::filesystem::is_directory(folder / "obd"))
      return std::filesystem::absolute(folder / "obd" / policy / campaign / (campaign + ".csv.gz")).string();
  skip("no data set obd");
}

}  // namespace

TEST_CASE("policies are compared on one log, with what their propensities say of them", "[cli][replay]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.gz", 20'000);
  const Outcome outcome = replay(folder, {"--log", "news.gz", "--policy", "linucb,uniform,logged", "--estimators",
                                          "ips,snips,dm,dr", "--set", "window=5000", "--json", "--out", "out"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = outcome.json();
  CHECK(summary["log"]["events"] == 20'000);
  CHECK(summary["log"]["bad_lines"] == 0);
  CHECK(summary["log"]["uniformly_logged"] == true);
  REQUIRE(summary["policies"].size() == 3);
  for (const Json& entry : summary["policies"]) {
    CAPTURE(entry.dump(2));
    CHECK(entry["events"] == 20'000);
    CHECK(entry["acceptance_rate"] == Approx(entry["accepted"].get<double>() / 20'000));
    CHECK(entry["ctr"] == Approx(entry["clicks"].get<double>() / entry["accepted"].get<double>()));
    CHECK(entry["interval"][0] <= entry["ctr"]);
    CHECK(entry["interval"][1] >= entry["ctr"]);
    CHECK(entry["relative"] == Approx(entry["ctr"].get<double>() / summary["log"]["uniform"]["value"].get<double>()));
    CHECK(entry["relative_interval"][0] <= entry["relative"]);
    CHECK(entry["relative_interval"][1] >= entry["relative"]);
    CHECK(entry["events_per_second"] > 0);
    for (const char* name : {"ips", "snips", "dm", "dr"}) {
      const Json& estimate = entry["estimates"][name];
      CHECK(estimate["interval"][0] <= estimate["value"]);
      CHECK(estimate["interval"][1] >= estimate["value"]);
      CHECK(estimate["effective_sample_size"] > 100);
    }
  }
  const Json &logged = policy(summary, "logged"), &uniform = policy(summary, "uniform");
  CHECK(logged["accepted"] == 20'000);
  CHECK(logged["ctr"] == summary["log"]["reward"]);
  CHECK(logged["estimates"]["ips"]["value"] == Approx(summary["log"]["reward"].get<double>()));
  CHECK(uniform["estimates"]["snips"]["value"] == Approx(summary["log"]["reward"].get<double>()));
  CHECK(uniform["weights"]["largest"] == Approx(1));
  CHECK(summary["differences"].size() == 3 * 5);  // pairs, and replay with four estimators
  const Json facts = Json::parse(content_of(folder / "out/log.json"));
  CHECK(facts["arms"].size() == summary["log"]["arms"]);
  CHECK(facts["propensities"]["counts"].back() == 0);  // all are 1/20
  const Outcome readable = run(folder.path(), {"report", "out"});
  CHECK_THAT(readable.out, Contains("linucb") && Contains("÷ uniform"));
}

TEST_CASE("devices that a replay cannot take are refused", "[cli][replay]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.gz", 100);
  const auto with_device = [&](const std::string& policies, const std::string& device) {
    return replay(folder, {"--log", "news.gz", "--policy", policies, "--device", device, "--out", "out"});
  };
  const Outcome far = with_device("svgd,linucb", "cuda:4096");  // no machine has so many
  CHECK(far.code == 2);
  CHECK_THAT(far.err, Contains("GPU") || Contains("without its library 'cuda'"));
  const Outcome none = with_device("linucb,uniform", "cuda");
  CHECK(none.code == 2);
  CHECK_THAT(none.err, Contains("policy 'linucb' is on the processor only, got device=cuda"));
  const Outcome unknown = with_device("svgd", "tpu");
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Contains("cpu, cuda or cuda:INDEX, got 'tpu'"));
  CHECK(with_device("uniform", "cpu").code == 0);
}

TEST_CASE("whoever makes a log is told what is true of it", "[cli][replay]") {
  const TemporaryDirectory folder;
  const Outcome made = run(folder.path(), {"data", "make", "news-synthetic", "--events", "5000", "--seed", "3",
                                           "--lifetime", "2000", "--out", "news.gz", "--quiet"});
  REQUIRE(made.code == 0);
  stein::replay::SyntheticNews news({.seed = 3, .lifetime = 2000});
  double uniform = 0, best = 0;
  for (int i = 0; i < 5000; ++i) {
    news.event(i);
    for (const double chance : news.click_probabilities()) uniform += chance / (20 * 5000.0);
    best += std::ranges::max(news.click_probabilities()) / 5000;
  }
  CHECK_THAT(made.err,
             Contains(fmt::format("{:.6f} of an article drawn uniformly, {:.6f} of the best article", uniform, best)));
}

TEST_CASE("files of a log are read in order, and what they are cut into does not matter", "[cli][replay]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> lines = lines_of(folder / make_log(folder, "whole.txt", 3000));
  write_lines(folder / "one.gz", {lines.begin(), lines.begin() + 1234});
  write_lines(folder / "two.txt", {lines.begin() + 1234, lines.end()});
  const std::vector<std::string> rest{"--policy", "linucb", "lints", "--set", "window=1000", "--json"};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return arguments;
  };
  REQUIRE(replay(folder, with({"--log", "whole.txt", "--out", "a"})).code == 0);
  REQUIRE(replay(folder, with({"--log", "one.gz", "two.txt", "--out", "b"})).code == 0);
  REQUIRE(replay(folder, with({"--log", "one.gz,two.txt", "--out", "c", "--threads", "1"})).code == 0);
  CHECK(content_of(folder / "a/metrics.jsonl") == content_of(folder / "b/metrics.jsonl"));
  CHECK(content_of(folder / "a/metrics.jsonl") == content_of(folder / "c/metrics.jsonl"));
}

TEST_CASE("a replay that is killed goes on with no event twice", "[cli][replay][resume]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.gz", 40'000);
  const auto arguments = [](const std::string& out) {
    return std::vector<std::string>{
        "replay",    "--log",        "news.gz", "--policy", "lints,uniform,logged", "--seeds",
        "0:2",       "--estimators", "ips,dr",  "--set",    "window=3000",          "checkpoint_every=2000",
        "delay=100", "--quiet",      "--out",   out};
  };
  REQUIRE(run(folder.path(), arguments("whole")).code == 0);
  const int checkpoint = GENERATE(2000, 16'000, 36'000);
  Program program(folder.path(), arguments("part"));
  REQUIRE(program.wait_until([&] {
    return std::filesystem::exists(folder /
                                   ("part/checkpoints/checkpoint-" + std::to_string(checkpoint) + ".safetensors"));
  }));
  program.send(SIGKILL);
  program.wait();
  const Outcome resumed = run(folder.path(), {"resume", "part", "--quiet", "--json"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(content_of(folder / "part/metrics.jsonl") == content_of(folder / "whole/metrics.jsonl"));
  CHECK(content_of(folder / "part/log.json") == content_of(folder / "whole/log.json"));
  CHECK(files_of(folder / "part/checkpoints") == files_of(folder / "whole/checkpoints"));
  CHECK(resumed.json()["log"]["events"] == 40'000);
  CHECK(resumed.json()["steps_done"]["per_seed"] == Json({40'000, 40'000}));
}

TEST_CASE("options are a policy's own, or those of all that have them", "[cli][replay]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.txt", 400);
  REQUIRE(replay(folder, {"--log", "news.txt", "--policy", "svgd,ensemble,linucb", "--set", "particles=3", "hidden=4",
                          "svgd.hidden=6", "arms=100", "--out", "out"})
              .code == 0);
  const std::string config = content_of(folder / "out/config.toml");
  CHECK_THAT(config, Contains("svgd.particles = 3\n") && Contains("ensemble.particles = 3\n") &&
                         Contains("svgd.hidden = [6]\n") && Contains("ensemble.hidden = [4]\n") &&
                         !Contains("\nparticles"));
  const Outcome swept = replay(
      folder, {"--log", "news.txt", "--policy", "svgd,ensemble", "--set", "hidden=4", "arms=100", "forced_pulls=0",
               "smallest_sample=1", "--sweep", "particles=1,2", "--estimators", "ips", "--out", "sweep"});
  CAPTURE(swept.err);
  REQUIRE(swept.code == 0);
  CHECK_THAT(content_of(folder / "sweep/particles=2/config.toml"),
             Contains("svgd.particles = 2\n") && Contains("ensemble.particles = 2\n"));
  const Json found = Json::parse(content_of(folder / "sweep/particles=2/summary.json"));
  const Json& ips = policy(found, "ensemble")["estimates"]["ips"];
  CHECK(policy(found, "svgd")["accepted"].is_number_integer());
  CHECK_THAT(swept.out, Contains("estimates") &&
                            Contains(fmt::format("ips {:.4g} [{:.4g}, {:.4g}]", ips["value"].get<double>(),
                                                 ips["interval"][0].get<double>(), ips["interval"][1].get<double>())));
}

TEST_CASE("what makes no sense of a log or of its policies is said", "[cli][replay]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.txt", 300);
  write_lines(folder / "empty.txt", {});
  write_lines(folder / "other.csv", std::vector<std::string>(200, "1,2,3"));
  std::vector<std::string> lines = lines_of(folder / "news.txt");
  lines[17].resize(90);
  write_lines(folder / "cut.gz", lines);
  const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& sentence) {
    const Outcome outcome = replay(folder, std::move(arguments));
    CAPTURE(outcome.err);
    CHECK(outcome.code == code);
    CHECK_THAT(outcome.err, Contains(sentence));
  };
  refused({}, 2, "pass --log");
  refused({"--log", "none.gz"}, 3, "none.gz' does not exist");
  refused({"--log", "/dev/null"}, 2, "'/dev/null' is not a file");
  refused({"--log", "news.txt", "--policy", "linucbb"}, 2, "Did you mean 'linucb'?");
  refused({"--log", "news.txt", "--policy", "lints,lints"}, 2, "names 'lints' twice");
  refused({"--log", "news.txt", "--estimators", "ipss"}, 2, "Did you mean 'ips'?");
  refused({"--log", "news.txt", "--estimators", "ips,ips"}, 2, "names 'ips' twice");
  refused({"--log", "news.txt", "--format", "r6"}, 2, "Did you mean 'r6a'?");
  refused({"--log", "news.txt", "--format", "r6b"}, 3, "looks like r6a");
  refused({"--log", "other.csv"}, 3, "looks like none of");
  refused({"--log", "empty.txt", "--policy", "uniform"}, 3, "no event");
  write_lines(folder / "bare.csv", {"arm,reward,propensity", "a,1,0.5", "b,0,0.5"});
  refused({"--log", "bare.csv", "--format", "csv", "--policy", "svgd"}, 2, "a network has nothing to look at");
  write_lines(folder / "head.csv", {"x,arm,reward,propensity"});
  refused({"--log", "head.csv", "--format", "csv", "--policy", "uniform"}, 3, "there is no event in");
  refused({"--log", "news.txt", "--set", "arms=30", "--policy", "uniform", "lifetime=3"}, 2, "");
  refused({"--log", "news.txt", "--policy", "linucb", "--set", "epsilon=0.1"}, 2, "needs policy epsilon-greedy");
  refused({"--log", "cut.gz", "--strict", "--policy", "uniform"}, 3, "cut.gz', line 18");
  const Outcome counted = replay(folder, {"--log", "cut.gz", "--policy", "uniform", "--json", "--out", "cut"});
  REQUIRE(counted.code == 0);
  CHECK(counted.json()["log"]["events"] == 299);
  CHECK(counted.json()["log"]["bad_lines"] == 1);
}

TEST_CASE("a seed beside others is what it is alone, and intervals share what may be missed", "[cli][replay]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.txt", 6000);
  const auto found = [&](const std::string& seeds, const std::string& level) {
    const Outcome outcome =
        replay(folder, {"--log", "news.txt", "--policy", "uniform,epsilon-greedy", "--set", "hidden=4", "arms=100",
                        "forced_pulls=0", "level=" + level, "--seeds", seeds, "--json", "--out", "seeds" + seeds});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.json();
  };
  const Json both = found("5:7", "0.95"), first = found("5:6", "0.975"), second = found("6:7", "0.975");
  for (const char* name : {"uniform", "epsilon-greedy"}) {
    CAPTURE(name);
    const Json &together = policy(both, name), &one = policy(first, name), &other = policy(second, name);
    CHECK(one["accepted"] != other["accepted"]);
    CHECK(together["ctr_over_seeds"]["per_seed"] == Json{one["ctr"], other["ctr"]});
    CHECK(both["differences"][0]["difference"] == Approx((first["differences"][0]["difference"].get<double>() +
                                                          second["differences"][0]["difference"].get<double>()) /
                                                         2));
    CHECK(together["accepted"] == Approx((one["accepted"].get<double>() + other["accepted"].get<double>()) / 2));
    for (const int end : {0, 1})
      CHECK(together["interval"][end] ==
            Approx((one["interval"][end].get<double>() + other["interval"][end].get<double>()) / 2));
  }
}

TEST_CASE("the numbers of a window are of its own events", "[cli][replay]") {
  const TemporaryDirectory folder;
  std::vector<std::string> lines{"x,arm,reward,propensity"};
  for (int i = 0; i < 250; ++i)  // windows of 100: the first pays 1 in 2, the second 1 in 4, the rest nothing
    lines.push_back("1," + std::string(i % 3 == 0 ? "a" : "b") +
                    (i < 100                 ? (i % 2 == 0 ? ",1" : ",0")
                     : i < 200 && i % 4 == 0 ? ",1"
                                             : ",0") +
                    ",0.5");
  write_lines(folder / "log.csv", lines);
  REQUIRE(
      replay(folder, {"--log", "log.csv", "--format", "csv", "--policy", "logged", "--window", "100", "--out", "out"})
          .code == 0);
  std::map<std::pair<int, std::string>, double> found;
  for (const std::string& line : lines_of(folder / "out/metrics.jsonl")) {
    const Json number = Json::parse(line);
    found[{number["step"], number["tag"]}] = number["value"];
  }
  CHECK(found.at({100, "reward/logged"}) == Approx(0.5));
  CHECK(found.at({200, "reward/logged"}) == Approx(0.25));
  CHECK(found.at({250, "reward/logged"}) == 0);
  for (const int step : {100, 200, 250}) CHECK(found.at({step, "acceptance/logged"}) == 1);
  CHECK(found.at({200, "relative/logged"}) == Approx(1));  // all weights are equal, in every window
  CHECK(found.at({200, "mean_reward/logged"}) == Approx(0.375));
  CHECK(found.at({250, "mean_reward/logged"}) == Approx(0.3));
}

TEST_CASE("nothing is divided by what arms drawn uniformly earn where too little was accepted", "[cli][replay]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.txt", 400);  // of which some 20 are accepted
  const Outcome outcome = replay(folder, {"--log", "news.txt", "--policy", "uniform,logged", "--json"});
  REQUIRE(outcome.code == 0);
  const Json summary = outcome.json();
  CHECK(policy(summary, "uniform")["relative"].is_null());
  CHECK(policy(summary, "uniform")["relative_interval"].is_null());
  CHECK(policy(summary, "logged")["relative"] == Approx(1));  // the log is uniform, and the two are the same numbers
  CHECK(policy(summary, "logged")["relative_interval"][0] == Approx(1));
}

TEST_CASE("a log that has changed is no log to go on with", "[cli][replay][resume]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.txt", 3000);
  REQUIRE(replay(folder, {"--log", "news.txt", "--policy", "uniform", "--set", "checkpoint_every=1000", "--stop-after",
                          "1000", "--out", "part"})
              .code != 0);
  std::vector<std::string> lines = lines_of(folder / "news.txt");
  std::swap(lines[10], lines[11]);
  write_lines(folder / "news.txt", lines);
  const Outcome resumed = run(folder.path(), {"resume", "part", "--quiet"});
  CHECK(resumed.code == 3);
  CHECK_THAT(resumed.err, Contains("'news.txt' is not the file that the run began with"));
}

TEST_CASE("what makes numbers doubtful is said", "[cli][replay]") {
  const TemporaryDirectory folder;
  std::vector<std::string> lines{"x,arm,reward,propensity"};
  // Arm a is chosen half of the time, logged are nine tenths; a tenth of the rewards is out of range.
  for (int i = 0; i < 2000; ++i)
    lines.push_back(std::to_string(i % 7) + (i % 2 == 0 ? ",a," : ",b,") + (i % 10 == 3 ? "3," : "1,") +
                    (i % 2 == 0 ? "0.9" : "0.1"));
  write_lines(folder / "log.csv", lines);
  const Outcome outcome = replay(folder, {"--log", "log.csv", "--format", "csv", "--policy", "uniform,logged",
                                          "--estimators", "ips", "--out", "out"});
  CAPTURE(outcome.out, outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out,
             Contains("1800 events of 2 arms, 200 bad lines (200 × a reward that is not between `reward_low` and "
                      "`reward_high`)") &&
                 Contains("The log was not uniform") && Contains("Believe the estimates below it."));
  const Outcome without =
      replay(folder, {"--log", "log.csv", "--format", "csv", "--policy", "uniform,logged", "--out", "without"});
  CHECK_THAT(without.out, Contains("Estimates from its propensities were not asked for: --estimators snips"));
  CHECK_THAT(outcome.err, Contains("10 % of the lines are bad") &&
                              Contains("the weights of arms drawn uniformly have the mean 2.531") &&
                              Contains("are not those that its arms were drawn with"));
  const Json summary = Json::parse(content_of(folder / "out/summary.json"));
  CHECK(summary["warnings"].size() == 2);
  const Outcome few = replay(folder, {"--log", "log.csv", "--format", "csv", "--policy", "uniform", "--estimators",
                                      "ips", "--set", "smallest_sample=5000", "--out", "few"});
  CHECK_THAT(few.err, Contains("is not known, and nothing is divided by it") && !Contains("the weights of"));
  for (std::string& line : lines) line = line.substr(0, line.rfind(',')) + ",0.5";
  lines[0] = "x,arm,reward,propensity";
  std::erase_if(lines, [](const std::string& line) { return line.find(",3,") != std::string::npos; });
  write_lines(folder / "log.csv", lines);
  const Outcome right = replay(folder, {"--log", "log.csv", "--format", "csv", "--policy", "uniform,logged",
                                        "--estimators", "ips", "--out", "right", "--json"});
  CAPTURE(right.err);
  REQUIRE(right.code == 0);
  CHECK(right.json()["warnings"].empty());
}

TEST_CASE("what the log's own policy earns is not weighed, though arms were not logged uniformly", "[cli][replay]") {
  const TemporaryDirectory folder;
  std::vector<std::string> lines{"x,arm,reward,propensity"};
  for (int i = 0; i < 1000; ++i)  // a pays, and is logged four times of five
    lines.push_back(std::to_string(i % 7) + (i % 5 != 0 ? ",a,1,0.8" : ",b,0,0.2"));
  write_lines(folder / "log.csv", lines);
  const Outcome outcome =
      replay(folder, {"--log", "log.csv", "--format", "csv", "--policy", "uniform,logged", "--json", "--out", "out"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = outcome.json(), logged = policy(summary, "logged");
  CHECK(logged["ctr"] == 0.8);
  CHECK(summary["log"]["uniform"]["value"].get<double>() == Approx(0.5).margin(0.01));
  CHECK(logged["relative"].get<double>() == Approx(0.8 / summary["log"]["uniform"]["value"].get<double>()));
  CHECK(policy(summary, "uniform")["relative"].get<double>() == Approx(1).margin(0.1));
  CHECK(summary["differences"][0]["difference"].get<double>() == Approx(0.5 - 0.8).margin(0.05));
}

TEST_CASE("outcomes that come late leave the policy its choice", "[cli][replay]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.txt", 12'000);
  const auto accepted = [&](const std::string& forced, const std::string& out) {
    const Outcome outcome = replay(folder, {"--log", "news.txt", "--policy", "linucb", "--set", "delay=300",
                                            "forced_pulls=" + forced, "--json", "--out", out});
    REQUIRE(outcome.code == 0);
    return outcome.json()["policies"][0]["clicks"];
  };
  CHECK(accepted("1", "one") != accepted("10", "ten"));  // pulls count when they are made
}

TEST_CASE("intervals of estimates have the level that was asked for", "[cli][replay]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.txt", 3000);
  const auto width = [&](const std::string& level, const std::string& out) {
    const Outcome outcome = replay(folder, {"--log", "news.txt", "--policy", "uniform", "--estimators", "snips,dm",
                                            "--set", "level=" + level, "--json", "--out", out});
    REQUIRE(outcome.code == 0);
    const Json summary = outcome.json();
    const Json snips = summary["policies"][0]["estimates"]["snips"]["interval"], uniform = summary["log"]["uniform"];
    CHECK(snips[1].get<double>() - snips[0].get<double>() ==
          Approx(uniform["interval"][1].get<double>() - uniform["interval"][0].get<double>()));
    return snips[1].get<double>() - snips[0].get<double>();
  };
  const double half = width("0.5", "half");
  CHECK(width("0.95", "usual") / half == Approx(1.959964 / 0.6744898).epsilon(1e-6));
  CHECK(width("0.999", "wide") / half == Approx(3.290527 / 0.6744898).epsilon(1e-6));
}

TEST_CASE("weights of 1 / propensity are those of the log, whatever is estimated", "[cli][replay]") {
  const TemporaryDirectory folder;
  std::vector<std::string> lines{"x,arm,reward,propensity"};
  for (int i = 0; i < 3000; ++i) {
    const bool a = i * 7919 % 10 < 8;
    lines.push_back(std::to_string(i % 7) + (a ? ",a," : ",b,") + std::to_string(i % 3 % 2) + (a ? ",0.8" : ",0.2"));
  }
  write_lines(folder / "log.csv", lines);
  const auto clicks = [&](const std::string& weigh, const std::string& estimators, const std::string& out) {
    const Outcome outcome =
        replay(folder, {"--log", "log.csv", "--format", "csv", "--policy", "svgd", "--estimators", estimators, "--set",
                        "hidden=8", "particles=3", "importance_weights=" + weigh, "--json", "--out", out});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.json()["policies"][0]["clicks"];
  };
  const Json weighed = clicks("true", "ips", "weighed");
  CHECK(weighed == clicks("true", "ips,snips", "more"));
  CHECK(weighed != clicks("false", "ips", "plain"));
}

TEST_CASE("rewards that are no clicks are shown as they are", "[cli][replay]") {
  const TemporaryDirectory folder;
  std::vector<std::string> lines{"x,arm,reward,propensity"};
  for (int i = 0; i < 400; ++i) lines.push_back(std::to_string(i % 7) + (i % 2 == 0 ? ",a,40,0.5" : ",b,60,0.5"));
  write_lines(folder / "prices.csv", lines);
  const Outcome outcome = replay(folder, {"--log", "prices.csv", "--format", "csv", "--policy", "logged", "--set",
                                          "reward_high=250", "--out", "out"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Contains("reward  interval") && Contains(" 50.000  [") && !Contains("CTR"));
}

TEST_CASE("windows grow with the log, and there is room for its arms, unless they are named", "[cli][replay]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.txt", 1100);
  const Outcome outcome = replay(folder, {"--log", "news.txt", "--policy", "uniform", "--out", "out", "--json"});
  REQUIRE(outcome.code == 0);
  const auto room = [&](const std::string& run) {
    return Json::parse(content_of(folder / run / "manifest.json"))["protocol"]["bandit"]["arms"];
  };
  CHECK(room("out") == outcome.json()["log"]["arms"].get<int>() + 1000);  // new articles are known by their features
  REQUIRE(replay(folder, {"--log", "news.txt", "--policy", "uniform", "--set", "arms=300", "--out", "named"}).code ==
          0);
  CHECK(room("named") == 300);
  std::vector<int> steps;
  for (const std::string& line : lines_of(folder / "out/metrics.jsonl"))
    if (const Json record = Json::parse(line); record["tag"] == "acceptance/uniform") steps.push_back(record["step"]);
  CHECK(steps == std::vector<int>{200, 400, 600, 800, 1000, 1100});
}

TEST_CASE("the report of a replay works offline and shows every plot", "[cli][replay][browser]") {
  const TemporaryDirectory folder;
  make_log(folder, "news.gz", 20'000);
  const Outcome outcome = replay(folder, {"--log", "news.gz", "--policy", "linucb,lints,uniform", "--seeds", "0:2",
                                          "--estimators", "ips,dr", "--set", "window=1000", "--out", "out"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  REQUIRE(run(folder.path(), {"report", "out"}).code == 0);
  std::filesystem::copy_file(folder / "out/report.html", folder / "page.html");
  const std::string dom = rendered(folder.path(), "page.html");
  check_page(folder.path(), dom,
             {"relative-so-far", "relative", "acceptance", "differences", "lifetimes", "propensities"});
  CHECK_THAT(shown_text(dom), Contains("linucb") && Contains("Estimates from propensities"));
}

TEST_CASE("a run that Stein logged makes the same decisions when Stein replays it", "[cli][replay]") {
  const TemporaryDirectory folder;
  const std::string policy_name = GENERATE("lints", "linucb", "svgd", "s2vgd", "vmg", "epsilon-greedy");
  const std::vector<std::string> settings{"--set", "buffer=200", "updates=2", "forced_pulls=3", "arms=5"};
  std::vector<std::string> play{"bandit",  "--env", "mushroom-synthetic", "--policy", policy_name,
                                "--seeds", "4:6",   "--log-decisions",    "--quiet",  "--out",
                                "run",     "--set", "steps=400"};
  play.insert(play.end(), settings.begin(), settings.end() - 1);
  REQUIRE(run(folder.path(), play).code == 0);
  std::vector<std::string> again{
      "--log", "run/decisions.jsonl", "--format", "decisions", "--policy", policy_name, "--seeds",
      "5:6",   "--estimators",        "ips",      "--json",    "--out",    "again"};
  again.insert(again.end(), settings.begin(), settings.end());
  again.insert(again.end(), {"logged_seed=5", "network=heads"});
  if (policy_name.starts_with("lin")) again.pop_back();
  const Outcome outcome = replay(folder, again);
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json own = outcome.json()["policies"][0];
  CHECK(own["events"] == 400);
  CHECK(own["acceptance_rate"] == 1);
  const Json result = Json::parse(content_of(folder / "run/summary.json"));
  CHECK(own["clicks"] == result["reward"]["per_seed"][1]);
  const Json& ips = own["estimates"]["ips"];
  CHECK(ips["value"] == Approx(own["ctr"].get<double>()));  // every weight is 1
  CHECK(ips["effective_sample_size"] == Approx(400));
}

TEST_CASE("a log of a bandit of classes is replayed, with rewards between 0 and 1", "[cli][replay]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"bandit", "--env", "classification-synthetic", "--policy", "uniform", "--seeds", "0:1",
                              "--log-decisions", "--quiet", "--out", "run", "--set", "steps=4000", "rows=1000"})
              .code == 0);
  const Outcome outcome =
      replay(folder, {"--log", "run/decisions.jsonl", "--format", "decisions", "--policy", "uniform", "--estimators",
                      "ips", "--seeds", "0:1", "--json", "--out", "again"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = outcome.json();
  CHECK(summary["log"]["arms"] == 7);
  CHECK(summary["log"]["reward_bounds"] == Json{0., 1.});
  // An arm drawn uniformly is right once in seven times, whatever the shares of the classes.
  const double share = 1.0 / 7, error = std::sqrt(share * (1 - share) / 4000);
  CHECK(std::abs(summary["policies"][0]["estimates"]["ips"]["value"].get<double>() - share) < 6.1 * error);
}

TEST_CASE("a table of one's own is a log, and its header's mistakes are named", "[cli][replay]") {
  const TemporaryDirectory folder;
  std::vector<std::string> lines{"day,who,shown,clicked,p"}, uniform{"arm,reward"};
  for (int i = 0; i < 600; ++i) {
    const bool is_tea = i % 4 == 0, clicked = is_tea ? i % 8 == 0 : i % 16 == 3;
    lines.push_back(std::to_string(i % 7) + (i % 3 == 0 ? ",\"Oslo, N\"," : ",Roma,") +
                    (is_tea ? "tea," : "\"coffee, black\",") + (clicked ? "1," : "0,") + (is_tea ? "0.25" : "0.75"));
    uniform.push_back(std::string(i % 2 == 0 ? "a," : "b,") + (clicked ? "1" : "0"));
  }
  write_lines(folder / "log.csv.gz", lines);
  write_lines(folder / "uniform.csv", uniform);
  const std::vector<std::string> columns{"arm=shown", "reward=clicked", "propensity=p", "categories=who", "arms=2"};
  std::vector<std::string> arguments{"--log",        "log.csv.gz", "--format", "csv",   "--policy", "linucb,uniform",
                                     "--estimators", "snips",      "--json",   "--out", "out",      "--set"};
  arguments.insert(arguments.end(), columns.begin(), columns.end());
  const Outcome outcome = replay(folder, arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json summary = outcome.json();
  CHECK(summary["log"]["events"] == 600);
  CHECK(summary["log"]["arms"] == 2);
  CHECK(summary["log"]["bad_lines"] == 0);
  // Tea pays 1/2 and coffee 1/12: (1/2 + 1/12)/2; the first event alone had one arm to choose from.
  CHECK(policy(summary, "uniform")["estimates"]["snips"]["value"] == Approx(7.0 / 24).margin(0.01));
  const auto refused = [&](std::vector<std::string> with, const std::string& sentence) {
    const Outcome wrong = replay(folder, std::move(with));
    CAPTURE(wrong.err);
    CHECK(wrong.code == 3);
    CHECK_THAT(wrong.err, Contains(sentence));
  };
  refused({"--log", "log.csv.gz", "--format", "csv"}, "no column 'arm' (option `arm`)");
  refused({"--log", "log.csv.gz"}, "looks like csv");
  write_lines(folder / "german.csv", {"arm;reward;propensity", "a;1;0.5"});
  refused({"--log", "german.csv", "--format", "csv"}, "separated by semicolons, commas are expected");
  refused({"--log", "uniform.csv", "--format", "csv"}, "name all of them by the option `arm_names`");
  const Outcome named = replay(folder, {"--log", "uniform.csv", "--format", "csv", "--policy", "uniform,logged",
                                        "--json", "--out", "named", "--set", "arm_names=a,b"});
  CAPTURE(named.err);
  REQUIRE(named.code == 0);
  CHECK(named.json()["log"]["uniformly_logged"] == true);
  CHECK(policy(named.json(), "logged")["clicks"] == 75 + 38);  // every 8th, and every 16th from the fourth on
}

TEST_CASE("on Open Bandit's samples one log says what the other's policy earns, or that it cannot",
          "[cli][replay][data-set]") {
  const TemporaryDirectory folder;
  const auto summary = [&](const std::string& log, const std::string& campaign, const std::string& out) {
    const Outcome outcome =
        replay(folder, {"--log", open_bandit(log, campaign), "--format", "open-bandit", "--policy", "uniform,logged",
                        "--estimators", "ips,snips,dm,dr,switch", "--json", "--out", out});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.json();
  };
  const Json men = summary("bts", "men", "men"), random = summary("random", "men", "random");
  CHECK(policy(random, "logged")["ctr"] == 0.0046);  // 46 clicks of 10,000
  CHECK(random["log"]["uniformly_logged"] == true);
  const Json& own = policy(random, "logged")["estimates"]["ips"]["interval"];
  for (const char* estimator : {"ips", "snips", "dr", "switch"}) {
    CAPTURE(estimator);
    const Json& interval = policy(men, "uniform")["estimates"][estimator]["interval"];
    CHECK(interval[0] < own[1]);
    CHECK(own[0] < interval[1]);
  }
  const Json women = summary("bts", "women", "women");
  const Json& uniform = policy(women, "uniform");
  CHECK(uniform["weights"]["largest"] == Approx(1 / (46 * 1e-6)));  // the least logged propensity is 10⁻⁶
  for (const char* estimator : {"ips", "snips", "dr"}) {
    const Json& estimate = uniform["estimates"][estimator];
    CHECK(estimate["value"].is_null());
    CHECK(estimate["effective_sample_size"] == Approx(2.078).margin(0.001));
    CHECK(estimate["refused"] ==
          "the log's 10000 events say as much of this policy as 2.08 events of its own would (effective sample size), "
          "fewer than smallest_sample = 50: a few of them have most of the weight");
  }
  CHECK(uniform["relative"].is_null());                       // it would be divided by what was refused
  CHECK(uniform["estimates"]["switch"].contains("refused"));  // what the model is worth nobody can say
}
