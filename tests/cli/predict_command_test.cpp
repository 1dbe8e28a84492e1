#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <regex>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

void train_wheel(const TemporaryDirectory& folder, const std::string& policy = "lints") {
  REQUIRE(run(folder.path(), {"bandit", "--env", "wheel", "--policy", policy, "--seeds", "3:5", "--set", "steps=200",
                              "updates=1", "--quiet", "--out", "run"})
              .code == 0);
}

/// log.csv: a number, arms a and b in turn, and rewards of 0 and 1.
void write_table(const TemporaryDirectory& folder, int events) {
  std::ofstream log(folder / "log.csv");
  log << "x,arm,reward,propensity\n";
  for (int i = 0; i < events; ++i) log << i % 7 << (i % 2 == 0 ? ",a," : ",b,") << i % 3 % 2 << ",0.5\n";
}

std::string repeated(const std::string& line, int times) {
  std::string lines;
  for (int i = 0; i < times; ++i) lines += line + "\n";
  return lines;
}

const std::string context = R"({"context":[0.1,-0.2]})";

}  // namespace

TEST_CASE("a trained policy decides over a pipe, and changes nothing unless it learns", "[cli][predict]") {
  const TemporaryDirectory folder;
  train_wheel(folder, GENERATE("lints", "s2vgd"));
  const auto checkpoints = files_of(folder / "run/checkpoints");
  const auto first = ask(folder, "run --seed 4", repeated(context, 50)),
             second = ask(folder, "run --seed 4", repeated(context, 50));
  REQUIRE(first.size() == 50);
  CHECK(first == second);
  for (const Json& answer : first) CHECK(answer["propensities"].size() == 5);
  CHECK(files_of(folder / "run/checkpoints") == checkpoints);
  CHECK_FALSE(std::filesystem::exists(folder / "run/service"));
  CHECK(ask(folder, "run --rewards", context)[0]["reward_mean"].size() == 5);
  CHECK_THAT(content_of(folder / "errors"), Contains("1 decision, "));
}

TEST_CASE("a service that learns goes on with what it has learned", "[cli][predict]") {
  const TemporaryDirectory folder;
  train_wheel(folder);
  const auto decided = ask(folder, "run --learn", repeated(context, 3));
  REQUIRE(decided.size() == 3);
  const std::string id = decided[1]["id"].dump();
  const auto told = ask(folder, "run --learn", "{\"id\":" + id + ",\"reward\":1}\n" + context);
  REQUIRE(told.size() == 2);
  CHECK(told[0]["outcomes"] == 201);
  CHECK(told[1]["id"] > decided[2]["id"]);
  CHECK(ask(folder, "run --learn", "{\"id\":" + id + ",\"reward\":1}\n", 3)[0].contains("error"));
  // The run itself is as it was.
  CHECK(run(folder.path(), {"eval", "run", "--interactions", "20"}).code == 0);
}

TEST_CASE("a service of a run that was made longer since says what it goes on from", "[cli][predict]") {
  const TemporaryDirectory folder;
  train_wheel(folder);
  ask(folder, "run --seed 4 --learn", context);
  CHECK_THAT(content_of(folder / "errors"), !Contains("since"));
  REQUIRE(run(folder.path(), {"resume", "run", "--set", "steps=300", "--quiet"}).code == 0);
  ask(folder, "run --seed 4", context);
  CHECK_THAT(content_of(folder / "errors"),
             Contains("took it over after 200 steps; the run has made 300 since") && Contains("200 outcomes known"));
  ask(folder, "run --seed 3", context);  // whose policy never learned elsewhere
  CHECK_THAT(content_of(folder / "errors"), !Contains("since") && Contains("300 outcomes known"));
}

TEST_CASE("a policy that learned from a table decides for rows as the table has them", "[cli][predict]") {
  const TemporaryDirectory folder;
  {
    std::ofstream table(folder / "plans.csv");
    table << "age,city,plan\n";
    for (int i = 0; i < 60; ++i)
      table << 20 + i % 40 << (i % 3 == 0 ? ",Oslo," : ",Bergen,") << (i % 40 < 20 ? "basic" : "pro") << "\n";
    table << ",Oslo,pro\n";
  }
  const Outcome trained = run(folder.path(), {"bandit", "--env", "table", "--policy", "linucb", "--set",
                                              "file=plans.csv", "target=plan", "steps=400", "--out", "run"});
  REQUIRE(trained.code == 0);
  CHECK_THAT(trained.err, Contains("60 of 61 rows of 'plans.csv' play"));
  const auto answers = ask(folder, "run",
                           R"({"context":{"age":22,"city":"Oslo"}})"
                           "\n"
                           R"({"context":{"city":"Bergen","age":58}})");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["arm"] == "basic");
  CHECK(answers[1]["arm"] == "pro");
  CHECK_THAT(content_of(folder / "errors"), Contains(R"({"context":{"age":…}} is taken as the table has it)"));
  const Outcome shown = run(folder.path(), {"env", "table", "--set", "file=plans.csv", "--set", "target=plan"});
  CHECK_THAT(shown.out,
             Contains("columns of a row") && Contains("a number, 36.17 ± 11.05") && Contains("Bergen, Oslo"));
  CHECK_THAT(run(folder.path(), {"eval", "run", "--interactions", "20"}).out,
             Contains("choosing in 20 rows drawn anew from the data that it learned from, without learning"));
}

TEST_CASE("a killed service loses at most what came after its checkpoint", "[cli][predict][resume]") {
  const TemporaryDirectory folder;
  train_wheel(folder);
  const std::string fifo = (folder / "fifo").string();
  REQUIRE(std::system(("mkfifo '" + fifo + "'").c_str()) == 0);
  const std::string command = "cd '" + folder.path().string() +
                              "'; '" STEIN_PROGRAM
                              "' predict run --learn --checkpoint-every 10 < fifo > answers 2> errors & echo $! > pid";
  REQUIRE(std::system(command.c_str()) == 0);
  std::ofstream lines(fifo);
  const auto wait_for = [&](std::size_t count) {
    for (int i = 0; i < 2000; ++i) {
      const std::string answers = content_of(folder / "answers");
      if (static_cast<std::size_t>(std::count(answers.begin(), answers.end(), '\n')) >= count) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL("the service does not answer");
  };
  lines << repeated(context, 25) << std::flush;
  wait_for(25);  // answers come while the pipe is open
  std::istringstream answers(content_of(folder / "answers"));
  for (std::string line; std::getline(answers, line);)
    lines << Json{{"id", Json::parse(line)["id"]}, {"reward", 1}}.dump() << "\n" << std::flush;
  wait_for(50);
  const int process = std::stoi(content_of(folder / "pid"));
  ::kill(process, SIGKILL);
  const auto told = ask(folder, "run --learn", context);
  CHECK(told.size() == 1);
  const auto again = ask(folder, "run --learn --json", "");
  const Json summary = Json::parse(content_of(folder / "errors"));
  CHECK(summary["outcomes"].get<int>() >= 200 + 15);  // decisions count too: 25, and 5 to the next
  CHECK(summary["outcomes"].get<int>() <= 200 + 25);
}

TEST_CASE("a policy that learned from a log decides by names of arms, without the log", "[cli][predict][replay]") {
  const TemporaryDirectory folder;
  REQUIRE(
      run(folder.path(), {"data", "make", "news-synthetic", "--events", "3000", "--out", "news.txt", "--quiet"}).code ==
      0);
  REQUIRE(run(folder.path(), {"replay", "--log", "news.txt", "--policy", "uniform,linucb", "--quiet", "--out", "run"})
              .code == 0);
  std::filesystem::remove(folder / "news.txt");
  const std::string line = R"({"context":[0.1,0.2,0.3,0.2,0.2,1],"arms":["109003","109001"],)"
                           R"("arm_features":[0.1,0.2,0.3,0.2,0.2,1,0.2,0.2,0.2,0.2,0.2,1]})";
  const auto answers = ask(folder, "run --policy linucb", repeated(line, 2) + R"({"context":[0.1,0.2,0.3,0.2,0.2,1]})");
  REQUIRE(answers.size() == 3);
  const auto with_new = ask(folder, "run --policy linucb", std::regex_replace(line, std::regex("109003"), "new"));
  CHECK(with_new[0]["arm"] == (with_new[0]["propensities"][0] == 1 ? "new" : "109001"));
  CHECK(answers[0]["arm"] == (answers[0]["propensities"][0] == 1 ? "109003" : "109001"));
  CHECK(answers[0]["propensity"] == 1);
  CHECK(answers[0]["propensities"].size() == 2);
  CHECK(answers[2].contains("error"));
  ask(folder, "run --policy lints", line, 2);
  CHECK_THAT(content_of(folder / "errors"), Contains("has uniform, linucb"));
}

TEST_CASE("what a service cannot begin with is said", "[cli][predict]") {
  const TemporaryDirectory folder;
  train_wheel(folder);
  ask(folder, "run --seed 7", context, 2);
  CHECK_THAT(content_of(folder / "errors"), Contains("seeds 3:5"));
  ask(folder, "run --format jsonn", context, 2);
  CHECK_THAT(content_of(folder / "errors"), Contains("log format"));
  ask(folder, "run --format r6a", context, 2);
  CHECK_THAT(content_of(folder / "errors"), Contains("nothing without a decision"));
  ask(folder, "nowhere", context, 3);
  std::filesystem::remove(folder / "run/checkpoints/checkpoint-200.safetensors");
  ask(folder, "run", context, 3);
  CHECK_THAT(content_of(folder / "errors"), Contains("checkpoint") && Contains("200"));
}

TEST_CASE("a policy whose run is not finished is served with a warning", "[cli][predict]") {
  const TemporaryDirectory folder;
  CHECK(run(folder.path(), {"bandit", "--env", "wheel", "--policy", "lints", "--set", "steps=200", "--stop-after",
                            "100", "--quiet", "--out", "run"})
            .code == 75);
  CHECK(ask(folder, "run", context).size() == 1);
  CHECK_THAT(content_of(folder / "errors"), Contains("is not finished: the policy is the one after 100 of its steps"));
}

TEST_CASE("a service that understood no line says so with its exit code", "[cli][predict]") {
  const TemporaryDirectory folder;
  train_wheel(folder);
  const auto wrong = ask(folder, "run", "{\"context\":[1]}\nx\n", 3);
  REQUIRE(wrong.size() == 2);
  CHECK_THAT(wrong[0]["error"].get<std::string>(), Contains("line 1") && Contains("has 2 numbers, got 1"));
  CHECK_THAT(content_of(folder / "errors"), Contains("no line was understood") && Contains("has 2 numbers, got 1"));
  CHECK(ask(folder, "run", "x\n" + context).size() == 2);
  CHECK(ask(folder, "run", "").empty());
}

TEST_CASE("contexts come as a table where the log was one", "[cli][predict][replay]") {
  const TemporaryDirectory folder;
  std::ofstream log(folder / "log.csv");
  log << "hour,device,arm,reward,propensity\n";
  for (int i = 0; i < 400; ++i) {
    const bool sport = i % 2 == 0;
    log << i % 24 << (i % 3 == 0 ? ",phone," : ",desk,") << (sport ? "sport" : "politics") << ',' << (i % 5 == 0)
        << ",0.5\n";
  }
  log.close();
  REQUIRE(run(folder.path(), {"replay", "--log", "log.csv", "--format", "csv", "--set", "categories=device", "--policy",
                              "linucb", "--quiet", "--out", "run"})
              .code == 0);
  const auto answers = ask(folder, "run --format csv", "device,hour\nphone,9\ndesk,21\ndesk\n");
  REQUIRE(answers.size() == 3);
  for (int i = 0; i < 2; ++i) CHECK((answers[i]["arm"] == "sport" || answers[i]["arm"] == "politics"));
  CHECK_THAT(answers[2]["error"].get<std::string>(), Contains("line 4") && Contains("number of fields"));
  CHECK(Json::parse(content_of(folder / "run/manifest.json"))["protocol"]["bandit"]["arms"] == 2);  // no head too many
  // What came of a decision of an earlier service may be the first line.
  const auto outcome_first = ask(folder, "run --format csv --learn", "{\"id\":7,\"reward\":1}\ndevice,hour\nphone,9\n");
  REQUIRE(outcome_first.size() == 2);
  CHECK_THAT(outcome_first[0]["error"].get<std::string>(), Contains("no decision 7 waits"));
  CHECK(outcome_first[1].contains("arm"));
  const auto refused = [&](const std::string& header, const std::string& sentence) {
    ask(folder, "run --format csv", header + "\n9\n", 2);
    CHECK_THAT(content_of(folder / "errors"), Contains(sentence));
  };
  refused("hour", "no column 'device'; the policy learned from device, hour");
  refused("device,houre", "no column 'hour' (there is 'houre': is it meant?)");
  refused("device,hour,place", "columns that the policy did not learn from: place");
}

TEST_CASE("the policy of a seed is the one that learned with it", "[cli][predict][replay]") {
  const TemporaryDirectory folder;
  write_table(folder, 600);
  for (const char* seeds : {"0:2", "1:2"})
    REQUIRE(run(folder.path(), {"replay", "--log", "log.csv", "--format", "csv", "--policy", "epsilon-greedy", "--set",
                                "hidden=4", "--seeds", seeds, "--quiet", "--out", seeds})
                .code == 0);
  const auto rewards = [&](const std::string& which) {
    return ask(folder, which + " --rewards", R"({"context":[1]})")[0]["reward_mean"];
  };
  CHECK(rewards("0:2 --seed 1") == rewards("1:2"));
  CHECK(rewards("0:2 --seed 1") != rewards("0:2 --seed 0"));
}

TEST_CASE("policies and seeds of one run are served apart", "[cli][predict][replay]") {
  const TemporaryDirectory folder;
  write_table(folder, 300);
  REQUIRE(run(folder.path(), {"replay", "--log", "log.csv", "--format", "csv", "--policy", "linucb,uniform", "--seeds",
                              "0:2", "--quiet", "--out", "run"})
              .code == 0);
  const auto outcomes = [&](const std::string& which) {
    return ask(folder, "run --learn --policy " + which, R"({"context":[1],"arms":["a","b"]})")[0]["id"].get<long>();
  };
  const long first = outcomes("linucb");
  const auto told = ask(folder, "run --learn --policy linucb", "{\"id\":" + std::to_string(first) + ",\"reward\":1}");
  REQUIRE(told.size() == 1);
  CHECK(told[0].contains("outcomes"));
  CHECK(outcomes("uniform") == first);  // it has sessions of its own
  CHECK(outcomes("linucb --seed 1") == first);
  CHECK(outcomes("linucb") > first);
  for (const char* name : {"linucb-0", "uniform-0", "linucb-1"}) {
    CAPTURE(name);
    CHECK(std::filesystem::is_directory(folder / "run/service" / name));
  }
  const auto again = ask(folder, "run --learn --policy uniform --rewards", R"({"context":[1],"arms":["a","b"]})");
  CHECK(again[0]["reward_mean"].is_null());  // it has no posterior
  const std::string id = again[0]["id"].dump();
  CHECK_THAT(
      ask(folder, "run --learn --policy uniform", "{\"id\":" + id + ",\"reward\":7}", 3)[0]["error"].get<std::string>(),
      Contains("must be between 0 and 1") && Contains("got 7"));
}
