// `stein classify` of sentences as a person uses it.
#include <stein/core/read_file.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <map>
#include <set>

#include "cli/program.h"
#include "cli/refused_devices.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// Sentences of two classes that single words tell apart.
void write_sentences(const std::filesystem::path& path, int lines) {
  const char* const animals[] = {"cat", "dog", "cow"};
  std::ofstream file(path);
  for (int i = 0; i < lines; ++i)
    file << (i % 2 == 0 ? "good the " : "bad a ") << animals[i % 3] << (i % 2 == 0 ? " purrs softly\n" : " bites\n");
}

/// Sentences whose words say little of their class: networks of different folds are wrong about different ones.
void write_riddles(const std::filesystem::path& path, int lines) {
  const char* const animals[] = {"cat", "dog", "cow"};
  std::ofstream file(path);
  for (int i = 0; i < lines; ++i)
    file << (i * i / 5 % 3 == 0 ? "good the " : "bad the ") << animals[i % 3]
         << (i % 2 == 0 ? " purrs softly\n" : " bites\n");
}

std::vector<std::string> sentence_training(const std::string& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{
      "classify", "--data",      "./own.txt", "--out",   out,     "--quiet",          "--hidden",     "8",
      "--set",    "embedding=6", "--set",     "folds=3", "--set", "stored_samples=4", "--batch-size", "10"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("sentences of one's own are classified in folds, and new ones predicted", "[cli][classify]") {
  const TemporaryDirectory folder;
  write_sentences(folder / "own.txt", 120);
  const Outcome trained =
      run(folder.path(), sentence_training("run", {"--seeds", "0:3", "--epochs", "20", "--step-size", "0.05", "--set",
                                                   "temperature=1e-3", "--json"}));
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const Json summary = trained.json();
  for (const char* key : {"data", "model", "sampler", "parameters", "epochs", "rows_per_second", "validation", "test"})
    CHECK(summary.contains(key));
  CHECK(summary["model"] == "bi-lstm 1x8");
  CHECK(summary["classes"] == Json{"bad", "good"});
  for (const char* part : {"validation", "test"})
    for (const char* score : {"error", "log_likelihood", "ece", "brier"}) {
      CHECK(summary[part][score]["per_fold"].size() == 3);
      CHECK(summary[part]["single_sample"][score]["per_fold"].size() == 3);
    }
  CHECK(summary["test"]["rows"] == 40);
  CHECK(summary["test"]["samples"] == 19);  // 160 updates, the first 8 burn-in, one sample every 8
  CHECK(summary["test"]["error"]["mean"] == 0);
  const Json predictions = Json::parse(content_of(folder / "run/predictions.json"));
  REQUIRE(predictions["seeds"].size() == 3);
  std::multiset<std::string> texts;  // every sentence is tested once
  for (const Json& seed : predictions["seeds"])
    for (const Json& row : seed["rows"]) texts.insert(row["text"].get<std::string>());
  CHECK(texts.size() == 120);
  CHECK(texts.count("the cat purrs softly") == 20);
  CHECK(Json::parse(content_of(folder / "run/curves.json"))["test"]["forward"][0].size() == 19);

  const Outcome evaluated = run(folder.path(), {"eval", "run", "--part", "validation", "--json"});
  CAPTURE(evaluated.err);
  REQUIRE(evaluated.code == 0);
  CHECK(evaluated.json()["error"]["per_fold"].size() == 3);
  CHECK(evaluated.json()["samples"] == 4);
  CHECK(run(folder.path(), {"eval", "run", "--by", "best", "--json"}).json()["samples"] == 1);

  // Words that it never saw are one unknown word to it.
  std::ofstream(folder / "foreign.txt") << "good zebras never sing\nbad lions often dance\n";
  const Outcome other = run(folder.path(), {"eval", "run", "--other", "./foreign.txt", "--json"});
  CAPTURE(other.err);
  REQUIRE(other.code == 0);
  CHECK(other.json()["other"]["rows"] == 2);
  CHECK(other.json()["other"]["area_under_roc"]["entropy"]["per_fold"].size() == 3);

  const std::vector<Json> answers =
      ask(folder, "run --seed 1", "the dog purrs softly\n\na cow bites\nthe zebra purrs softly\n");
  REQUIRE(answers.size() == 4);
  CHECK(answers[0]["class"] == "good");
  CHECK(answers[0]["probabilities"]["good"].get<double>() + answers[0]["probabilities"]["bad"].get<double>() ==
        Approx(1).epsilon(1e-5));
  CHECK(answers[0]["unknown"] == 0);
  CHECK(answers[1]["error"] == "expected a sentence, found no word");
  CHECK(answers[2]["class"] == "bad");
  CHECK(answers[3]["unknown"] == 1);
  const Outcome report = run(folder.path(), {"report", "run"});
  CAPTURE(report.err);
  CHECK(report.code == 0);
  for (const bool known : {true, false}) {  // by its checksum, or by what it lacks
    if (!known) std::filesystem::remove(folder / "run/checksums.json");
    std::ofstream(folder / "run/predictions.json") << "{}";
    const Outcome changed = run(folder.path(), {"report", "run"});
    CHECK(changed.code == 3);
    CHECK_THAT(changed.err, Contains("not as it was written"));
  }
  std::filesystem::remove(folder / "own.txt");
  CHECK(ask(folder, "run --seed 1", "the dog purrs softly\n\na cow bites\nthe zebra purrs softly\n") == answers);
  CHECK(run(folder.path(), {"eval", "run"}).code == 3);
}

TEST_CASE("an evaluation of a saved run scores each fold by its own network, as the run did", "[cli][classify]") {
  const TemporaryDirectory folder;
  write_riddles(folder / "own.txt", 120);
  const std::map<std::string, std::vector<std::string>> chosen{{"test", {}}, {"validation", {"--part", "validation"}}};
  for (const std::string sampler : {"psgld", "rmsprop"}) {
    const bool is_chain = sampler == "psgld";
    CAPTURE(sampler);
    std::vector<std::string> more{"--sampler", sampler,       "--seeds", "0:3",   "--epochs",
                                  "4",         "--step-size", "0.05",    "--json"};
    if (is_chain) more.insert(more.end(), {"--set", "temperature=1e-3"});
    const Outcome trained = run(folder.path(), sentence_training(sampler, more));
    REQUIRE(trained.code == 0);
    for (const auto& [part, arguments] : chosen) {
      CAPTURE(part);
      std::vector<std::string> evaluation{"eval", sampler, "--json"};
      evaluation.insert(evaluation.end(), arguments.begin(), arguments.end());
      const Outcome evaluated = run(folder.path(), evaluation);
      REQUIRE(evaluated.code == 0);
      const Json found = evaluated.json(), summary = trained.json()[part];
      const Json said = is_chain ? summary : summary["final_weights"];
      CHECK(found["part"] == part);
      CHECK(found["rows"] == (part == "test" ? 40 : 8));  // a third of 120, and a tenth of the rest
      CHECK(found["rows"] == summary["rows"]);
      CHECK(found["samples"] == (is_chain ? 3 : 1));  // of the second to the fourth epoch, all of them stored
      CHECK(found["samples"] == summary["samples"]);
      for (const char* score : {"error", "log_likelihood", "ece", "brier"}) {
        CAPTURE(score);
        REQUIRE(found[score]["per_fold"].size() == 3);
        for (std::size_t i = 0; i < 3; ++i) {
          CAPTURE(i);
          CHECK(found[score]["per_fold"][i].get<double>() ==
                Approx(said[score]["per_fold"][i].get<double>()).epsilon(1e-5));
        }
      }
      if (part == "test") {
        const Json predictions = Json::parse(stein::read_file(folder / sampler / "predictions.json"));
        for (const char* what : {"entropy", "mutual_information"})
          for (std::size_t i = 0; i < 3; ++i) {
            CAPTURE(what, i);
            double sum = 0;
            const Json& rows = predictions["seeds"][i]["rows"];
            for (const Json& row : rows) sum += row[what].get<double>();
            CHECK(found[what]["per_fold"][i].get<double>() ==
                  Approx(sum / static_cast<double>(rows.size())).epsilon(1e-4).margin(1e-6));
          }
        CHECK((found["mutual_information"]["mean"].get<double>() > 1e-6) == is_chain);
      }
      std::set<double> different;
      for (const Json& each : found["log_likelihood"]["per_fold"]) different.insert(each.get<double>());
      CHECK(different.size() == 3);
    }
  }
}

TEST_CASE("a killed training of classifiers goes on to the same bytes", "[cli][classify][resume]") {
  const TemporaryDirectory folder;
  write_sentences(folder / "own.txt", 120);
  const std::vector<std::string> more{"--seeds",   "0:2", "--epochs", "60", "--set", "checkpoint_every=100",
                                      "--dropout", "0.3"};
  REQUIRE(run(folder.path(), sentence_training("whole", more)).code == 0);
  Program program(folder.path(), sentence_training("part", more));
  REQUIRE(program.wait_until(
      [&] { return std::filesystem::exists(folder / "part/samples/seed-0/sample-000002.safetensors"); }));
  program.send(SIGKILL);
  program.wait();
  const Outcome resumed = run(folder.path(), {"resume", "part", "--quiet"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  for (const char* file : {"metrics.jsonl", "curves.json", "predictions.json"})
    CHECK(content_of(folder / "part" / file) == content_of(folder / "whole" / file));
  CHECK(files_of(folder / "part/checkpoints") == files_of(folder / "whole/checkpoints"));
}

TEST_CASE("embeddings start from a file of word vectors", "[cli][classify]") {
  const TemporaryDirectory folder;
  write_sentences(folder / "own.txt", 60);
  std::ofstream(folder / "vectors.txt") << "cat 1 0 0 0 0 0\ndog 0 1 0 0 0 0\nzebra 0 0 1 0 0 0\n";
  const Outcome trained =
      run(folder.path(), {"classify", "--data", "./own.txt", "--out", "run", "--hidden", "4", "--set", "embedding=6",
                          "--epochs", "1", "--seeds", "0:1", "--word-vectors", "vectors.txt", "--sampler", "rmsprop"});
  CAPTURE(trained.err);
  CHECK(trained.code == 0);
  CHECK_THAT(trained.err, Contains("2 of the 9 words"));
  const Outcome wide = run(folder.path(), {"classify", "--data", "./own.txt", "--out", "other", "--set", "embedding=5",
                                           "--word-vectors", "vectors.txt"});
  CHECK(wide.code == 2);
  CHECK_THAT(wide.err, Contains("vectors of 6 numbers, 'embedding' says 5: set embedding=6"));
  std::ofstream(folder / "short.txt") << "cat 1 0 0 0 0 0\ndog 0 1\n";
  const Outcome damaged = run(folder.path(), {"classify", "--data", "./own.txt", "--out", "other", "--set",
                                              "embedding=6", "--word-vectors", "short.txt"});
  CHECK(damaged.code == 3);
  CHECK_THAT(damaged.err, Contains("short.txt") && Contains("line 2"));
}

TEST_CASE("mistakes with sentences are said in a sentence", "[cli][classify]") {
  const TemporaryDirectory folder;
  const auto fails = [&](std::vector<std::string> arguments, int code, const std::string& part) {
    arguments.insert(arguments.begin(), "classify");
    const Outcome outcome = run(folder.path(), std::move(arguments));
    CAPTURE(outcome.err);
    CHECK(outcome.code == code);
    CHECK_THAT(outcome.err, Contains(part));
  };
  fails({"--data", "tre"}, 2, "Did you mean 'trec'?");
  fails({"--data", "./none.txt"}, 3, "none.txt");
  fails({"--sampler", "psgdl"}, 2, "Did you mean 'psgld'?");
  fails({"--preset", "trec-psgl"}, 2, "Did you mean 'trec-psgld'?");
  check_devices_are_refused(folder, {"classify"});
  fails({"--set", "folds=3"}, 2, "folds");  // TREC has a test part
  fails({"--data", "trec", "--set", "data_folder=nowhere"}, 3, "nowhere' does not exist");
  std::ofstream(folder / "one.txt") << "good day\ngood night\n";
  fails({"--data", "./one.txt"}, 3, "at least two classes");
  write_sentences(folder / "few.txt", 4);
  fails({"--data", "./few.txt"}, 3, "4 sentences cannot be parted into 10 folds");
}

TEST_CASE("published settings of sentences are presets", "[cli][classify]") {
  const TemporaryDirectory folder;
  CHECK_THAT(run(folder.path(), {"list"}).out, Contains("trec-psgld-dropout") && Contains("mpqa-rmsprop"));
  const Outcome help = run(folder.path(), {"classify", "--preset", "subj-rmsprop-variational-dropout", "--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Contains("default 0:10"));
}
