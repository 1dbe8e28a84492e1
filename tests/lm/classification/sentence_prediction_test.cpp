// `stein predict` with a classifier of sentences: a line of JSON for every line of text.
#include <stein/lm/classification/sentence_prediction.h>

#include <stein/core/read_file.h>
#include <stein/lm/classification/sentence_rows.h>
#include <stein/runs/start_run.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error_matcher.h"
#include "lm/classification/classified_sentences.h"

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;
using test::Settings;

/// Trains with these settings in the folder `run` of `folder`.
RunDirectory trained(const test::TemporaryDirectory& folder, const Settings& settings) {
  const SentenceExperiment experiment = test::sentence_experiment(settings);
  runs::start_run(experiment, folder / "run", Existing::refuse, {.quiet = true});
  return RunDirectory::open(folder / "run");
}

/// What a prediction by a run made of a text.
struct Answered {
  std::vector<Json> lines;
  Json result;
};

Answered ask(const test::TemporaryDirectory& folder, const RunDirectory& directory, const std::string& text,
             const Settings& options = {}) {
  SentencePrediction prediction;
  OptionTable table;
  prediction.describe(table);
  for (const auto& [key, value] : options) table.set(key, value);
  test::write(folder / "in.txt", text);
  std::FILE *const in = std::fopen((folder / "in.txt").c_str(), "r"), *const out =
                                                                          std::fopen((folder / "out.txt").c_str(), "w");
  REQUIRE(in != nullptr);
  REQUIRE(out != nullptr);
  Answered answered;
  try {
    answered.result = prediction.perform(directory, "", {.in = in, .out = out});
  } catch (...) {
    std::fclose(in), std::fclose(out);
    throw;
  }
  std::fclose(in), std::fclose(out);
  std::istringstream lines(read_file(folder / "out.txt"));
  for (std::string line; std::getline(lines, line);) answered.lines.push_back(Json::parse(line));
  return answered;
}

TEST_CASE("every line is answered in its order, whatever is wrong with it", "[lm][sentence-prediction]") {
  const test::BiasedSentences sentences;
  const RunDirectory directory = trained(sentences.folder, sentences.settings());
  const auto [lines, result] = ask(sentences.folder, directory,
                                   "a cat purrs\n"
                                   "\n"
                                   "zebra purrs zebra\n"
                                   " \t \n"
                                   "\xff cat\n"
                                   "<unk> \xe2\x82\xac\r\n"
                                   "dog");
  REQUIRE(lines.size() == 7);
  CHECK(result == Json{{"sentences", 4}, {"errors", 3}});
  CHECK(SentencePrediction().readable(result) == "4 sentences classified, 3 errors\n");
  for (const std::size_t line : {1, 3}) CHECK(lines[line] == Json{{"error", "expected a sentence, found no word"}});
  CHECK(lines[4] == Json{{"error", "expected UTF-8"}});
  // The network says good with probability 3/4 of whatever it reads: H = ln 4 − 3/4 ln 3. One draw has no spread.
  const double entropy = std::log(4) - 0.75 * std::log(3);
  const std::vector<std::pair<std::size_t, int>> unknown{{0, 0}, {2, 2}, {5, 1}, {6, 0}};
  for (const auto& [line, count] : unknown) {
    CAPTURE(line);
    const Json& answer = lines[line];
    std::vector<std::string> keys;
    for (const auto& [key, value] : answer.items()) keys.push_back(key);
    CHECK(keys ==
          std::vector<std::string>{"probabilities", "deviations", "class", "entropy", "mutual_information", "unknown"});
    CHECK(answer["class"] == "good");
    CHECK(answer["probabilities"].size() == 2);
    CHECK(answer["probabilities"]["good"].get<double>() == Approx(0.75).epsilon(1e-5));
    CHECK(answer["probabilities"]["bad"].get<double>() == Approx(0.25).epsilon(1e-5));
    CHECK(answer["deviations"] == Json{{"bad", 0.0}, {"good", 0.0}});
    CHECK(answer["entropy"].get<double>() == Approx(entropy).epsilon(1e-5));
    CHECK(std::abs(answer["mutual_information"].get<double>()) < 1e-9);
    // A word that is called <unk> is the unknown one itself, which the vocabulary has.
    CHECK(answer["unknown"] == count);
  }
}

TEST_CASE("no line at all is no sentence and no error", "[lm][sentence-prediction]") {
  const test::BiasedSentences sentences;
  const RunDirectory directory = trained(sentences.folder, sentences.settings());
  const auto [lines, result] = ask(sentences.folder, directory, "");
  CHECK(lines.empty());
  CHECK(result == Json{{"sentences", 0}, {"errors", 0}});
}

TEST_CASE("probabilities are averages over the stored samples, of many lines as of one", "[lm][sentence-prediction]") {
  const test::BiasedSentences sentences;
  Settings settings = sentences.settings();
  settings["sampler"] = "psgld", settings["step_size"] = "0.05", settings["start_range"] = "0.5";
  settings["epochs"] = "4", settings["batch_size"] = "2", settings["stored_samples"] = "3", settings["seeds"] = "5:7";
  settings["burn_in"] = "0.25";
  const RunDirectory directory = trained(sentences.folder, settings);
  // More lines than are classified together, of two lengths, so that they are not predicted in their own order.
  std::string text;
  constexpr int count = 300;
  for (int i = 0; i < count; ++i) text += i % 2 == 0 ? "the cat purrs\n" : i % 3 == 0 ? "dog\n" : "it\n";
  const auto answers = [&](const Settings& options) { return ask(sentences.folder, directory, text, options).lines; };
  const runs::LoadedRun loaded = runs::load_run(directory);
  auto& run = dynamic_cast<training::ClassifierRun&>(*loaded.run);
  for (const std::int64_t i : {0, 1}) {
    const std::string seed = i == 0 ? "-1" : "6";
    CAPTURE(seed);
    const std::vector<Json> lines = answers({{"seed", seed}});
    REQUIRE(lines.size() == count);
    training::ClassifierTrainer& trainer = run.repetition(i);
    training::WeightDraws draws(trainer.weights(), {},
                                training::ClassifierRun::sample_folder(directory, trainer.seed()),
                                trainer.stored_samples());
    CHECK(draws.count() == 3);
    auto& rows = dynamic_cast<SentenceRows&>(trainer.test_rows());
    const auto good = [&](const std::vector<std::string>& words) {
      std::vector<std::int32_t> tokens;
      for (const std::string& word : words) tokens.push_back(*rows.vocabulary()->find(word));
      std::vector<double> probabilities;
      for (std::int64_t k = 0; k < draws.count(); ++k) {
        inference::Inputs<float> inputs;
        inputs.tokens = {tokens.data(), 1, std::ssize(tokens)};
        std::vector<float> logits(2);
        trainer.weights().posterior().model().predict(draws.get(k).weights, inputs, {logits.data(), 1, 2});
        probabilities.push_back(1 / (1 + std::exp(double{logits[0]} - double{logits[1]})));
      }
      return probabilities;
    };
    const std::vector<std::vector<double>> expected{good({"the", "cat", "purrs"}), good({"it"}), good({"dog"})};
    for (int line = 0; line < count; ++line) {
      const auto& p = expected[line % 2 == 0 ? 0 : line % 3 == 0 ? 2 : 1];
      const double mean = (p[0] + p[1] + p[2]) / 3;
      double square = 0;
      for (const double each : p) square += (each - mean) * (each - mean) / 3;
      const Json& answer = lines[static_cast<std::size_t>(line)];
      CAPTURE(line, answer.dump());
      CHECK(answer["probabilities"]["good"].get<double>() == Approx(mean).epsilon(2e-5));
      CHECK(answer["deviations"]["good"].get<double>() == Approx(std::sqrt(square)).epsilon(1e-3));
      CHECK(answer["deviations"]["bad"].get<double>() == Approx(std::sqrt(square)).epsilon(1e-3));
      CHECK(answer["class"] == (mean > 0.5 ? "good" : "bad"));
    }
  }
}

TEST_CASE("a seed that the run does not have is refused", "[lm][sentence-prediction]") {
  const test::BiasedSentences sentences;
  const RunDirectory directory = trained(sentences.folder, sentences.settings());
  CHECK_ERROR(ask(sentences.folder, directory, "cat\n", {{"seed", "1"}}), usage, "--seed 1", "seeds 0:1");
  CHECK_ERROR(ask(sentences.folder, directory, "cat\n", {{"seed", "-2"}}), usage, "seed", "-2");
}

}  // namespace
}  // namespace stein::lm
