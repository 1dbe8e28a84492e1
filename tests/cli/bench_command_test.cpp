#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;

TEST_CASE("a benchmark prints its rows as one JSON object", "[cli][bench]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"bench", "rng", "--json"});
  REQUIRE(outcome.code == 0);
  const auto result = outcome.json();
  CHECK(result["benchmark"] == "rng");
  CHECK(result["threads"] == 1);
  CHECK(result["simd_target"].is_string());
  REQUIRE(result["rows"].size() >= 1);
  for (const auto& row : result["rows"]) {
    CHECK(row["case"].is_string());
    CHECK(row["unit"] == "million/s");
    CHECK(row["ratio"].get<double>() == Approx(row["ours"].get<double>() / row["reference"].get<double>()));
  }
}

TEST_CASE("a sampler's update has its rows on all cores and on one, beside a copy and beside tensors",
          "[cli][bench][torch]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"bench", "sampler", "--json", "--threads", "2", "--set",
                                              "parameters=1000", "--set", "only=sgld"});
  REQUIRE(outcome.code == 0);
  const auto result = outcome.json();
  CHECK(result["threads"] == 2);
  std::vector<std::string> names;
  for (const auto& row : result["rows"]) names.push_back(row["case"]);
  CHECK(names == std::vector<std::string>{"sgld", "sgld-one-core", "torch-sgld", "torch-sgld-one-core"});
  CHECK(result["rows"][0]["bytes_per_parameter"] == 12);
  CHECK(result["rows"][0]["allocations"] == 0);
}

TEST_CASE("NUTS on a small regression says how many effective draws it makes a second", "[cli][bench]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"bench", "nuts", "--json", "--set", "rows=40", "--set", "columns=3",
                                              "--set", "warm_up=50", "--set", "draws=50"});
  REQUIRE(outcome.code == 0);
  const auto result = outcome.json();
  REQUIRE(result["rows"].size() == 3);  // draws a second, the density, its two products
  CHECK(result["rows"][0]["unit"] == "ESS/s");
  CHECK(result["rows"][0]["least_bulk_effective_sample_size"].get<double>() > 10);
}

TEST_CASE("SVGD's two passes are measured for every shape", "[cli][bench][torch]") {
  const TemporaryDirectory folder;
  const Outcome outcome =
      run(folder.path(), {"bench", "svgd", "--json", "--set", "particles=3", "--set", "coordinates=100,1000"});
  REQUIRE(outcome.code == 0);
  CHECK(outcome.json()["rows"].size() == 6);
}

TEST_CASE("every control task has its row of steps a second and core", "[cli][bench]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"bench", "envs", "--json", "--threads", "2", "--set", "slots=300",
                                              "--set", "slots_of_all_cores=5000", "--set", "only=CartPole-v1"});
  REQUIRE(outcome.code == 0);
  const auto rows = outcome.json()["rows"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["case"] == "CartPole-v1");
  CHECK(rows[0]["unit"] == "steps/s");
  CHECK(rows[0]["ours"].get<double>() > 1e5);
  CHECK(rows[0]["steps_an_episode"].get<double>() > 10);
  CHECK(rows[0]["allocations"] == 0);
  CHECK(rows[0]["threads_of_all_cores"] == 2);
  CHECK(run(folder.path(), {"bench", "envs", "--set", "only=chess"}).code == 2);
}

TEST_CASE("a replay has a rate of every linear policy, and of reading the log", "[cli][bench]") {
  const TemporaryDirectory folder;
  const std::string only = GENERATE("linucb-6", "lints-common-36", "parse-r6a", "parse-r6a-changing");
  const Outcome outcome =
      run(folder.path(), {"bench", "replay", "--json", "--set", "events=500", "--set", "only=" + only});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto rows = outcome.json()["rows"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["case"] == only);
  CHECK(rows[0]["ours"].get<double>() > 0);
  CHECK(rows[0].contains("plain_mb_per_s") == only.starts_with("parse"));
  if (!only.starts_with("parse")) CHECK(rows[0]["allocations"] == 0);
  CHECK(run(folder.path(), {"bench", "replay", "--set", "only=chess"}).code == 2);
}

TEST_CASE("training a language model has a row for every method, and its memory by arrays", "[cli][bench][torch]") {
  const TemporaryDirectory folder;
  const Outcome training = run(folder.path(), {"bench", "lm", "--json", "--set", "hidden=8", "--set",
                                               "methods=sgd,sghmc,sharpening", "--set", "round_seconds=0.01"});
  CAPTURE(training.err);
  REQUIRE(training.code == 0);
  const auto rows = training.json()["rows"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[1]["case"] == "sghmc-2x8");
  CHECK(rows[3]["case"] == "sgd-bfloat16-2x8");
  for (const auto& row : rows) {
    CHECK(row["tokens_per_second"].get<double>() > 0);
    CHECK(row["ratio"].get<double>() == Approx(row["reference"].get<double>() / row["ours"].get<double>()));
  }
  const Outcome memory =
      run(folder.path(), {"bench", "lm-memory", "--json", "--set", "hidden=64", "--set", "methods=sgd,bbb"});
  CAPTURE(memory.err);
  REQUIRE(memory.code == 0);
  CHECK(memory.json()["rows"].size() == 2);
}

TEST_CASE("neural-linear has a decision, what it learns from an interaction, and regressions made anew",
          "[cli][bench][torch]") {
  const TemporaryDirectory folder;
  const Outcome outcome =
      run(folder.path(), {"bench", "neural-linear", "--json", "--set", "window=200", "--set", "updates=1"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto rows = outcome.json()["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["case"] == "neural-linear-decision");
  CHECK(rows[0]["allocations"] == 0);
  for (const auto& row : rows)
    CHECK(row["ratio"].get<double>() == Approx(row["reference"].get<double>() / row["ours"].get<double>()));
}

TEST_CASE("averages of texts and captions have a rate", "[cli][bench][torch]") {
  const TemporaryDirectory folder;
  const Outcome averaging = run(folder.path(), {"bench", "lm-averaging", "--json", "--set", "hidden=8", "--set",
                                                "samples=2", "--set", "tokens=700"});
  CAPTURE(averaging.err);
  REQUIRE(averaging.code == 0);
  CHECK(averaging.json()["rows"][0]["tokens"] == 700);
  CHECK(averaging.json()["rows"][0]["samples"] == 2);
  const Outcome captions =
      run(folder.path(), {"bench", "captions", "--json", "--set", "hidden=8", "--set", "vocabulary=100", "--set",
                          "images=2", "--set", "words=3", "--set", "round_seconds=0.01"});
  CAPTURE(captions.err);
  REQUIRE(captions.code == 0);
  CHECK(captions.json()["rows"].size() == 1);
}

TEST_CASE("an option that a benchmark does not have is refused by name", "[cli][bench]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"bench", "nuts", "--set", "column=3"});
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, Contains("columns"));
}

TEST_CASE("a command that computes on the processor names those that begin runs elsewhere", "[cli]") {
  const TemporaryDirectory folder;
  const Outcome refused = run(folder.path(), {"bench", "rng", "--device", "cuda"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("computes on the processor (device cpu), got 'cuda'") &&
                              Contains("begun on other devices by bandit, replay, rl"));
}

TEST_CASE("samplers on a GPU are refused in one sentence where there is none", "[cli][bench]") {
  const TemporaryDirectory folder;
  const auto with = [&](const std::string& setting) {
    return run(folder.path(), {"bench", "sampler-gpu", "--set", setting});
  };
  const Outcome far = with("device=cuda:4096");  // no machine has so many
  CHECK(far.code == 2);
  CHECK_THAT(far.err, Contains("GPU") || Contains("without its library 'cuda'"));
  const Outcome processor = with("device=cpu");
  CHECK(processor.code == 2);
  CHECK_THAT(processor.err, Contains("expected a GPU as device, cuda or cuda:INDEX, got 'cpu'"));
}

TEST_CASE("without a name the benchmarks are listed", "[cli][bench]") {
  const TemporaryDirectory folder;
  CHECK_THAT(run(folder.path(), {"bench"}).out, Contains("rng"));
}
