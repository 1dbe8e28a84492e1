// `stein predict` with a classifier of sentences: a line of JSON for every line of text.
#include <stein/lm/classification/sentence_prediction.h>

#include <stein/core/read_file.h>
#include <stein/lm/classification/sentence_rows.h>
#include <stein/runs/start_run.h>

#include <fmt/ranges.h>

#include <algorithm>
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
  std::int64_t sentences = 0, errors = 0;  ///< as the result counts them
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
    const Json result = prediction.perform(directory, "", {.in = in, .out = out});
    answered.sentences = result["sentences"], answered.errors = result["errors"];
  } catch (...) {
    std::fclose(in), std::fclose(out);
    throw;
  }
  std::fclose(in), std::fclose(out);
  std::istringstream lines(read_file(folder / "out.txt"));
  for (std::string line; std::getline(lines, line);) answered.lines.push_back(Json::parse(line));
  return answered;
}

/// What each draw says of the three classes of a sentence: softmax of the network's logits.
std::vector<std::vector<double>> probabilities_of(const std::vector<std::string>& words,
                                                  training::ClassifierTrainer& trainer, training::WeightDraws& draws) {
  const Vocabulary& vocabulary = *dynamic_cast<const SentenceRows&>(trainer.test_rows()).vocabulary();
  std::vector<std::int32_t> tokens;
  for (const std::string& word : words) tokens.push_back(*vocabulary.find(word));
  std::vector<std::vector<double>> all;
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    inference::Inputs<float> inputs;
    inputs.tokens = {tokens.data(), 1, std::ssize(tokens)};
    std::vector<float> logits(3);
    trainer.weights().posterior().model().predict(draws.get(k).weights, inputs, {logits.data(), 1, 3});
    std::vector<double>& probabilities = all.emplace_back();
    double sum = 0;
    for (const float logit : logits) sum += probabilities.emplace_back(std::exp(double{logit}));
    for (double& probability : probabilities) probability /= sum;
  }
  return all;
}

TEST_CASE("every line is answered in its order, whatever is wrong with it", "[lm][sentence-prediction]") {
  const test::BiasedSentences sentences;
  const RunDirectory directory = trained(sentences.folder, sentences.settings());
  const auto [lines, classified, errors] = ask(sentences.folder, directory,
                                               "a cat purrs\n"
                                               "\n"
                                               "zebra purrs zebra\n"
                                               " \t \n"
                                               "\xff cat\n"
                                               "<unk> \xe2\x82\xac\r\n"
                                               "dog");
  REQUIRE(lines.size() == 7);
  CHECK(classified == 4);
  CHECK(errors == 3);
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

TEST_CASE("sentences are answered with the network's dropout where that is asked for", "[lm][sentence-prediction]") {
  const test::TemporaryDirectory folder;
  const auto train = test::write(folder / "train.txt", "a the cat purrs\na cat purrs\nb it\nb it bites\n"),
             other = test::write(folder / "test.txt", "a cat\nb it\n");
  const RunDirectory directory = trained(folder, {{"data", train.string()},
                                                  {"test_data", other.string()},
                                                  {"sampler", "adam"},
                                                  {"dropout", "0.5"},
                                                  {"step_size", "0.05"},
                                                  {"validation_share", "0"},
                                                  {"hidden", "4"},
                                                  {"embedding", "3"},
                                                  {"start_range", "0.5"},
                                                  {"batch_size", "2"},
                                                  {"epochs", "4"}});
  const auto spread = [&](const Settings& options) {
    return ask(folder, directory, "the cat bites\n", options).lines.at(0)["deviations"]["a"].get<double>();
  };
  CHECK(spread({}) == 0);
  CHECK(spread({{"dropout", "true"}, {"draws", "7"}}) > 1e-3);
}

TEST_CASE("every line has its own count of unknown words, however many lines there are", "[lm][sentence-prediction]") {
  const test::BiasedSentences sentences;
  const RunDirectory directory = trained(sentences.folder, sentences.settings());
  std::string text;
  std::vector<int> expected, found;
  for (int line = 0; line < 600; ++line) {  // 256 are answered together
    expected.push_back(line % 7);
    text += "cat";
    for (int k = 0; k < line % 7; ++k) text += " zebra";
    text += "\n";
  }
  for (const Json& answer : ask(sentences.folder, directory, text).lines) found.push_back(answer["unknown"]);
  CHECK(found == expected);
}

TEST_CASE("no line at all is no sentence and no error", "[lm][sentence-prediction]") {
  const test::BiasedSentences sentences;
  const RunDirectory directory = trained(sentences.folder, sentences.settings());
  const auto [lines, classified, errors] = ask(sentences.folder, directory, "");
  CHECK(lines.empty());
  CHECK(classified == 0);
  CHECK(errors == 0);
}

TEST_CASE("probabilities are averages over the seed's stored samples, or of its weights, of many lines as of one",
          "[lm][sentence-prediction]") {
  const auto [sampler, expected_draws] = GENERATE(table<std::string, int>({{"psgld", 3}, {"adam", 1}}));
  CAPTURE(sampler);
  const test::TemporaryDirectory folder;
  const auto train = test::write(folder / "train.txt",
                                 "a the cat purrs\na cat purrs\nb it\nb it bites\nc dog\nc the dog\na cat\nc dog it\n"),
             other = test::write(folder / "test.txt", "a cat\nb it\nc dog\n");
  const RunDirectory directory = trained(folder, {{"data", train.string()},
                                                  {"test_data", other.string()},
                                                  {"sampler", sampler},
                                                  {"seeds", "5:7"},
                                                  {"step_size", "0.05"},
                                                  {"validation_share", "0"},
                                                  {"hidden", "2"},
                                                  {"embedding", "3"},
                                                  {"start_range", "0.5"},
                                                  {"batch_size", "2"},
                                                  {"epochs", "4"},
                                                  {"burn_in", "0.25"},
                                                  {"stored_samples", "3"}});
  // More lines than are classified together, of two lengths, so that they are not predicted in their own order.
  const std::vector<std::vector<std::string>> sentences{{"the", "cat", "purrs"}, {"it"}, {"dog"}};
  const auto sentence_of = [](std::size_t line) { return line % 2 == 0 ? 0 : line % 3 == 0 ? 2 : 1; };
  constexpr std::size_t count = 300;
  std::string text;
  for (std::size_t line = 0; line < count; ++line)
    text += fmt::format("{}\n", fmt::join(sentences[sentence_of(line)], " "));
  const runs::SavedRun saved = runs::read_saved_run(directory);
  const std::unique_ptr<runs::Run> with_data = saved.make_run();
  auto& run = dynamic_cast<training::ClassifierRun&>(*with_data);
  for (const std::int64_t i : {0, 1}) {
    const std::string seed = i == 0 ? "-1" : "6";  // −1 is the first, which is 5
    CAPTURE(seed);
    const std::vector<Json> lines = ask(folder, directory, text, {{"seed", seed}}).lines;
    REQUIRE(lines.size() == count);
    training::ClassifierTrainer& trainer = run.repetition(i);
    training::WeightDraws draws(trainer.weights(), {},
                                training::ClassifierRun::sample_folder(directory, trainer.seed()),
                                trainer.stored_samples());
    REQUIRE(draws.count() == expected_draws);
    std::vector<std::vector<std::vector<double>>> expected;  // probabilities of sentence, draw and class
    for (const auto& words : sentences) expected.push_back(probabilities_of(words, trainer, draws));
    for (std::size_t line = 0; line < count; ++line) {
      const Json& answer = lines[line];
      CAPTURE(line, answer.dump());
      const auto& drawn = expected[sentence_of(line)];
      std::vector<double> mean(3);
      for (std::size_t c = 0; c < 3; ++c) {
        double square = 0;
        for (const auto& draw : drawn) mean[c] += draw[c] / expected_draws;
        for (const auto& draw : drawn) square += (draw[c] - mean[c]) * (draw[c] - mean[c]) / expected_draws;
        const std::string name(1, static_cast<char>('a' + c));
        CHECK(answer["probabilities"][name].get<double>() == Approx(mean[c]).margin(1e-5));
        CHECK(answer["deviations"][name].get<double>() == Approx(std::sqrt(square)).margin(1e-5));
      }
      CHECK(answer["class"] ==
            std::string(1, static_cast<char>('a' + (std::ranges::max_element(mean) - mean.begin()))));
    }
  }
}

TEST_CASE("a person reads how many sentences and errors there were", "[lm][sentence-prediction]") {
  CHECK(SentencePrediction().readable({{"sentences", 4}, {"errors", 1}}) == "4 sentences classified, 1 error\n");
}

TEST_CASE("a seed that the run does not have is refused", "[lm][sentence-prediction]") {
  const test::BiasedSentences sentences;
  const RunDirectory directory = trained(sentences.folder, sentences.settings());
  CHECK_ERROR(ask(sentences.folder, directory, "cat\n", {{"seed", "1"}}), usage, "seeds 0:1", "got 1");
  CHECK_ERROR(ask(sentences.folder, directory, "cat\n", {{"seed", "-2"}}), usage, "seed", "-2");
}

}  // namespace
}  // namespace stein::lm
