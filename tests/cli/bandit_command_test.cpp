#include <stein/core/data/manifest.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "cli/program.h"
#include "skip.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// They refuse other rewards.
const std::set<std::string> policies_for_clicks{"beta-ts", "kl-ucb", "logistic-ts"};

}  // namespace

TEST_CASE("a run prints one JSON object on standard output, the content of summary.json", "[cli][bandit]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", "lints", "--set",
                                              "steps=200", "--seeds", "3:6", "--out", "run", "--json"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out == content_of(folder / "run/summary.json"));
  const Json summary = outcome.json();
  CHECK(summary["env"] == "mushroom-synthetic");
  CHECK(summary["policy"] == "lints");
  CHECK(summary["data"] == "synthetic");
  CHECK(summary["steps"] == 200);
  CHECK(summary["seeds"] == Json({3, 4, 5}));
  for (const char* key : {"regret", "reward", "uniform_regret"}) {
    CHECK(summary[key]["per_seed"].size() == 3);
    CHECK(summary[key]["mean"].is_number());
    CHECK(summary[key]["sd"].get<double>() > 0);
  }
  CHECK(summary["regret_percent_of_uniform"]["per_seed"][2].get<double>() ==
        Approx(100 * summary["regret"]["per_seed"][2].get<double>() /
               summary["uniform_regret"]["per_seed"][2].get<double>()));
  CHECK(summary["lock_in_share"]["mean"].get<double>() >= 0);
  CHECK(summary["decisions_per_second"].get<double>() > 1);
  CHECK(summary["updates_per_second"].is_number());
  CHECK(summary["peak_memory_mb"].get<double>() > 1);
  CHECK(summary["wall_seconds"].get<double>() > 0);
  CHECK_THAT(outcome.err, Contains("stand-in"));
  CHECK_THAT(content_of(folder / "run/log.txt"), Contains("stand-in"));
  CHECK_THAT(summary["name"].get<std::string>(), Contains("mushroom-synthetic"));
}

TEST_CASE("without --json a person reads a short table, and the run gets a name of its own", "[cli][bandit]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> arguments{"bandit", "--env", "linear", "--policy", "uniform", "--set", "steps=20"};
  const Outcome first = run(folder.path(), arguments);
  REQUIRE(first.code == 0);
  CHECK_THAT(first.out, Contains("uniform on linear") && Contains("regret") && Contains("runs/linear-uniform-1"));
  CHECK_THAT(run(folder.path(), arguments).out, Contains("runs/linear-uniform-2"));
  CHECK(std::filesystem::exists(folder / "runs/linear-uniform-2/summary.json"));
}

TEST_CASE("the decision log and the checkpoints are the same bytes at one and two threads", "[cli][bandit]") {
  const TemporaryDirectory folder;
  for (const char* threads : {"1", "2"}) {
    const Outcome outcome =
        run(folder.path(), {"bandit", "--env", "wheel", "--policy", "lints", "--set", "steps=300", "--seeds", "0:3",
                            "--log-decisions", "--threads", threads, "--out", std::string("run") + threads, "--quiet"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
  }
  CHECK(content_of(folder / "run1/decisions.jsonl") == content_of(folder / "run2/decisions.jsonl"));
  CHECK(content_of(folder / "run1/metrics.jsonl") == content_of(folder / "run2/metrics.jsonl"));
  CHECK(files_of(folder / "run1/checkpoints") == files_of(folder / "run2/checkpoints"));
}

TEST_CASE("a run that ends within its forced pulls says that its policy decided nothing, once for all seeds",
          "[cli][bandit]") {
  const TemporaryDirectory folder;
  const auto play = [&](const std::string& steps, const std::string& policy) {
    return run(folder.path(), {"bandit", "--env", "wheel", "--policy", policy, "--seeds", "0:2", "--set",
                               "steps=" + steps, "--out", policy + steps});
  };
  const Outcome forced = play("50", "lints");  // ten pulls of each of five arms
  REQUIRE(forced.code == 0);
  CHECK_THAT(forced.err,
             Contains("all 50 interactions were forced pulls") && Contains("nothing was decided by the policy"));
  CHECK_THAT(forced.out, !Contains("decisions a second"));
  const Json summary = Json::parse(content_of(folder / "lints50/summary.json"));
  CHECK(summary["warnings"].size() == 1);
  CHECK(summary["timed_decisions"] == 0);
  CHECK_THAT(run(folder.path(), {"report", "lints50"}).out, Contains(" -\n"));
  CHECK_THAT(play("51", "lints").err, !Contains("forced pulls"));
  CHECK_THAT(play("50", "uniform").err, !Contains("forced pulls"));  // it has none
}

TEST_CASE("every decision is logged with the keys that a replay needs", "[cli][bandit]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", "lints", "--set", "steps=50",
                              "--set", "forced_pulls=2", "--seeds", "0:2", "--log-decisions", "--out", "run"})
              .code == 0);
  std::istringstream lines(content_of(folder / "run/decisions.jsonl"));
  std::string line;
  REQUIRE(std::getline(lines, line));
  const Json head = Json::parse(line);
  CHECK(head["name"] == "mushroom-synthetic");
  CHECK(head["arm_names"].size() == 2);
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    const Json entry = Json::parse(line);
    REQUIRE(entry["active"].size() == head["active_columns"]);
    REQUIRE(entry["arm"] == head["arm_names"][entry["action"].get<std::size_t>()]);
    REQUIRE(entry["seed"] == count % 2);
    REQUIRE(entry["step"] == count / 2);
    REQUIRE(entry["row"].get<int>() >= 0);
    REQUIRE(entry["deterministic"] == (count / 2 < 4));  // two forced pulls of each of two arms
    const auto propensities = entry["propensities"].get<std::vector<double>>();
    REQUIRE(propensities.size() == 2);
    REQUIRE(propensities[0] + propensities[1] == Approx(1).epsilon(1e-7));
    REQUIRE(propensities[entry["action"].get<std::size_t>()] > 0);
    REQUIRE(entry["expected_rewards"][0] == 0);
    REQUIRE(entry["reward"].is_number());
  }
  CHECK(count == 100);
}

TEST_CASE("the configuration that a run writes repeats it", "[cli][bandit]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", "uniform", "--set", "delta=.9", "--set",
                              "steps=1e2", "--seeds", "4:6", "--out", "first"})
              .code == 0);
  const std::string config = content_of(folder / "first/config.toml");
  CHECK_THAT(config, Contains("env = 'wheel'") && Contains("delta = 0.9") && Contains("steps = 100") &&
                         Contains("seeds = '4:6'"));
  REQUIRE(run(folder.path(), {"bandit", "--config", "first/config.toml", "--out", "second"}).code == 0);
  CHECK(content_of(folder / "second/config.toml") == config);
  CHECK(content_of(folder / "second/metrics.jsonl") == content_of(folder / "first/metrics.jsonl"));
  // What stands on the line wins over the file.
  REQUIRE(run(folder.path(),
              {"bandit", "--config", "first/config.toml", "--seeds", "0:1", "--set", "steps=7", "--out", "third"})
              .code == 0);
  CHECK_THAT(content_of(folder / "third/config.toml"), Contains("steps = 7") && Contains("seeds = '0:1'"));
}

TEST_CASE("every bandit runs with every policy, and no two of their options share a name", "[cli][bandit][slow]") {
  const TemporaryDirectory folder;
  std::map<std::string, std::set<std::string>> keys;  // of summaries, by bandit
  const Json lists = run(folder.path(), {"list", "--json"}).json();
  REQUIRE(lists["environments"].size() >= 6);
  REQUIRE(lists["policies"].size() >= 3);
  const std::set<std::string> need_files{"adult",     "census", "covertype", "covertype-15120",
                                         "financial", "jester", "mushroom",  "shuttle"};
  for (const Json& environment : lists["environments"]) {
    for (const Json& policy : lists["policies"]) {
      const auto env = environment["name"].get<std::string>(), chosen = policy["name"].get<std::string>();
      CAPTURE(env, chosen);
      // Bandits of data sets need their files; the policy needs a table.
      if (need_files.contains(env) || chosen == "fixed-propensities") continue;
      std::vector<std::string> arguments{
          "bandit",           "--env",  env,     "--policy", chosen,      "--out",
          env + "-" + chosen, "--json", "--set", "steps=60", "updates=2", "forced_pulls=1"};
      if (env == "table") {  // of one's own
        std::ofstream(folder / "rows.csv") << "x,y,kind\n.5,1,a\n-1,2,b\n2,3,c\n.1,4,b\n";
        arguments.insert(arguments.end(), {"file=rows.csv", "target=kind"});
      }
      const Outcome outcome = run(folder.path(), arguments);
      CAPTURE(outcome.err);
      if (policies_for_clicks.contains(chosen) && outcome.code == 2) {
        REQUIRE_THAT(outcome.err, Contains("'" + chosen + "' needs rewards in [0, 1]"));
        continue;
      }
      REQUIRE(outcome.code == 0);
      const Json summary = outcome.json();
      REQUIRE(summary["steps"] == 60);
      REQUIRE(summary["decisions_per_second"].get<double>() > 0);  // not all arms were forced
      std::set<std::string> own;
      for (const auto& [key, value] : summary.items()) own.insert(key);
      own.erase("warnings");
      CHECK(keys.try_emplace(env, own).first->second == own);
    }
  }
}

TEST_CASE("every policy runs on mushroom with its defaults, or refuses it by name", "[cli][bandit][slow]") {
  const auto mushrooms = stein::find_data_set("mushroom");
  if (!mushrooms) skip("no data set mushroom");
  const TemporaryDirectory folder;
  const Json lists = run(folder.path(), {"list", "--json"}).json();
  for (const Json& policy : lists["policies"]) {
    const auto chosen = policy["name"].get<std::string>();
    if (chosen == "fixed-propensities") continue;  // needs a table
    CAPTURE(chosen);
    const Outcome outcome = run(
        folder.path(),
        {"bandit", "--env", "mushroom", "--policy", chosen, "--json", "--quiet", "--out", chosen, "--set", "steps=60"},
        mushrooms->parent_path());
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == (policies_for_clicks.contains(chosen) ? 2 : 0));
    if (outcome.code == 0) CHECK(outcome.json()["steps"] == 60);
    if (outcome.code == 2) CHECK_THAT(outcome.err, Contains("'" + chosen + "' needs rewards in [0, 1]"));
  }
}

TEST_CASE("help says what a bandit and a policy can be told", "[cli][help]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"help", "bandit", "--env", "wheel", "--policy", "linucb"});
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Contains("Environment wheel") && Contains("delta") && Contains("Policy linucb"));
  for (const char* subcommand : {"bandit", "resume", "report", "list", "data", "bench"}) {
    const Outcome help = run(folder.path(), {subcommand, "--help"});
    CHECK(help.code == 0);
    CHECK_THAT(help.out, Contains(subcommand));
    CHECK_THAT(run(folder.path(), {"help"}).out, Contains(subcommand));
  }
  CHECK_THAT(run(folder.path(), {"--version"}).out, Contains("stein 0."));
}

TEST_CASE("stein list names what is linked in", "[cli][list]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"list"});
  CHECK(outcome.code == 0);
  for (const char* name : {"mushroom-synthetic", "wheel", "lints", "uniform", "rng"})
    CHECK_THAT(outcome.out, Contains(name));
}

TEST_CASE("the reference page is the one that the program writes, benchmarks against LibTorch included",
          "[cli][list][torch]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"list", "--reference"});
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Contains("### policy s2vgd") && Contains("| `reflectors` |") &&
                              Contains("### environment wheel") && Contains("| `checkpoint_every` |"));
  INFO("scripts/docs writes docs/reference.md anew");
  CHECK(content_of(STEIN_DOCS "/reference.md") == outcome.out);
}

TEST_CASE("the manifest says what the posterior is conditioned on and where the data lie", "[cli][bandit]") {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "sets");
  const auto protocol = [&](const std::string& policy, const std::string& setting = "steps=3") {
    REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", policy, "--data", "sets", "--set", "steps=3",
                                "delta=0.9", "buffer=77", setting, "--out", policy, "--overwrite"})
                .code == 0);
    return Json::parse(content_of(folder / (policy + "/manifest.json")))["protocol"];
  };
  const Json network = protocol("svgd"), linear = protocol("lints"), none = protocol("uniform");
  CHECK(protocol("svgd", "largest_data_size=5")["N"] ==
        "interactions in the window, at most 77, which count for 5 at most");
  CHECK(protocol("sgld")["T"] == 1);
  CHECK(protocol("sgld", "temperature=0.1")["T"] == 0.1);
  CHECK(protocol("sgld", "anchors=true")["T"].is_null());
  CHECK(protocol("bbb", "likelihood_power=4")["T"] == 0.25);
  CHECK(protocol("anchored")["T"] == 1);
  CHECK(protocol("neural-linear")["T"] == 1);
  for (const std::string policy : {"ensemble", "epsilon-greedy", "linucb"}) CHECK(protocol(policy)["T"].is_null());
  CHECK(network["N"] == "interactions in the window, at most 77");
  CHECK(linear["N"] == "all interactions so far");
  CHECK(none["N"] == "none: the policy does not learn");
  CHECK(network["T"] == 1);
  CHECK(linear["T"] == 1);
  CHECK(none["T"].is_null());
  CHECK(network["env_options"] == Json({{"delta", "0.9"}, {"noise", "0.01"}}));
  // Absolute: a run may be resumed from another folder than it was started in.
  CHECK(network["data_folder"] == (std::filesystem::canonical(folder.path()) / "sets").string());
}

TEST_CASE("a policy that does not learn is not made to try every arm first", "[cli][bandit]") {
  const TemporaryDirectory folder;
  const auto first_decision = [&](const std::string& setting) {
    REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", "uniform", "--log-decisions", "--overwrite",
                                "--out", "run", "--set", "steps=2", setting})
                .code == 0);
    std::istringstream lines(content_of(folder / "run/decisions.jsonl"));
    std::string line;
    std::getline(lines, line), std::getline(lines, line);  // the first is the head
    return Json::parse(line);
  };
  CHECK(first_decision("steps=1")["propensities"] == Json({0.2, 0.2, 0.2, 0.2, 0.2}));
  CHECK(first_decision("steps=1")["deterministic"] == false);
  CHECK(first_decision("forced_pulls=1")["propensities"] == Json({1., 0., 0., 0., 0.}));
}

TEST_CASE("networks of a bandit's policy are on a device where that is there and the policy has some",
          "[cli][bandit]") {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::string& policy, const std::string& device) {
    const Outcome outcome = run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", policy, "--device",
                                                device, "--out", "run", "--set", "steps=4"});
    CHECK(outcome.code == 2);
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
    return outcome.err;
  };
  CHECK_THAT(refused("svgd", "tpu"), Catch::Contains("cpu, cuda or cuda:INDEX, got 'tpu'"));
  CHECK_THAT(refused("svgd", "cuda:4096"),  // no machine has so many
             Catch::Contains("GPU") || Catch::Contains("without its library 'cuda'"));
  CHECK_THAT(refused("lints", "cuda"), Catch::Contains("policy 'lints' is on the processor only, got device=cuda"));
  REQUIRE(run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", "lints", "--device", "cpu", "--out",
                              "run", "--set", "steps=4"})
              .code == 0);
}

TEST_CASE("one thread is one thread, with LibTorch's arithmetic too", "[cli][bandit][torch]") {
  const TemporaryDirectory folder;
  const auto most_threads = [&](const std::string& arithmetic) {
    Program program(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", "svgd", "--threads", "1",
                                    "--quiet", "--out", arithmetic, "--set", "steps=4", "forced_pulls=0", "updates=1",
                                    "particles=2", "hidden=300,300", "batch=300", "arithmetic=" + arithmetic});
    std::ptrdiff_t most = 0;
    program.wait_until([&] {
      most = std::max(most, program.thread_count());
      return false;
    });
    REQUIRE(program.wait().code == 0);
    return most;
  };
  CHECK(most_threads("reference") == most_threads("fused"));
}

TEST_CASE("help about another bandit or policy still names the program's defaults", "[cli][bandit]") {
  const TemporaryDirectory folder;
  const Outcome help = run(folder.path(), {"bandit", "--env", "wheel", "--policy", "lints", "--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Contains("default mushroom") && Contains("default psgld") && !Contains("default wheel") &&
                           Contains("Environment wheel") && Contains("delta"));
}

TEST_CASE("an argument of its own and --set rank above the file", "[cli][bandit]") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "mine.toml") << "env = \"mushroom\"\nsteps = 3\nseeds = \"7:8\"\n";
  const Outcome outcome = run(folder.path(), {"bandit", "--config", "mine.toml", "--env", "linear", "--policy",
                                              "uniform", "--set", "steps=20", "--out", "run", "--json"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.json()["env"] == "linear");
  CHECK(outcome.json()["steps"] == 20);
  CHECK(outcome.json()["seeds"] == Json({7}));
}

TEST_CASE("--quiet leaves standard error to warnings, and the log gets everything", "[cli][bandit]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> arguments{"bandit",  "--env", "linear",   "--policy",
                                           "uniform", "--set", "steps=20", "--out"};
  const auto start = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> all = arguments;
    all.push_back(out);
    all.insert(all.end(), more.begin(), more.end());
    const Outcome outcome = run(folder.path(), all);
    REQUIRE(outcome.code == 0);
    return outcome;
  };
  CHECK(start("quiet", {"--quiet"}).err.empty());
  CHECK_THAT(start("loud", {}).err, Contains("linear/uniform: 20 interactions"));
  CHECK_THAT(content_of(folder / "quiet/log.txt"), Contains("linear/uniform: 20 interactions"));
}

TEST_CASE("a table of one's own is a bandit, found from any folder, and refused where it has changed",
          "[cli][bandit]") {
  const TemporaryDirectory folder;
  const auto write_table = [&](const std::string& last) {
    std::ofstream table(folder / "flowers.csv");
    table << "petal,colour,kind\n";
    for (int i = 0; i < 40; ++i) table << i % 4 << (i % 2 == 0 ? ",red,rose\n" : ",blue,iris\n");
    table << last;
  };
  write_table("5,red,rose\n");
  const Outcome outcome =
      run(folder.path(), {"bandit", "--env", "table", "--policy", "lints", "--set", "file=flowers.csv", "target=kind",
                          "steps=300", "--seeds", "0:2", "--out", "run", "--json"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.json()["regret_percent_of_uniform"]["mean"].get<double>() < 30);
  CHECK_THAT(outcome.json()["source"].get<std::string>(), Contains("flowers.csv, sha256 "));
  std::filesystem::create_directory(folder / "elsewhere");
  CHECK(run(folder / "elsewhere", {"resume", "../run", "--set", "steps=400", "--quiet"}).code == 0);
  write_table("5,red,iris\n");
  const Outcome changed = run(folder.path(), {"resume", "run", "--set", "steps=500"});
  CHECK(changed.code == 3);
  CHECK_THAT(changed.err, Contains("the table 'flowers.csv' is not the file that the run began with"));
  const Outcome file = run(folder.path(), {"bandit", "--env", "flowers.csv", "--policy", "lints"});
  CHECK(file.code == 2);
  CHECK_THAT(file.err, Contains("--env table --set file=flowers.csv target=COLUMN"));
  const Outcome lost =
      run(folder.path(), {"bandit", "--env", "table", "--policy", "lints", "--set", "file=flowers.csv"});
  CHECK(lost.code == 2);
  CHECK_THAT(lost.err, Contains("petal, colour, kind"));
}
