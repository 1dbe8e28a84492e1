// Experiments of `stein classify`: which data, which folds, which options, and the rows that come of them.
#include <stein/lm/classification/sentence_experiment.h>

#include <stein/core/data/manifest.h>
#include <stein/lm/classification/sentence_rows.h>
#include <stein/training/network_experiment.h>

#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "core/error_matcher.h"
#include "lm/classification/classified_sentences.h"
#include "skip.h"

namespace stein::lm {
namespace {

using test::sentence_experiment;
using test::Settings;
using training::ClassifierRun;

/// A file of `lines` sentences, each of one word of its own.
std::filesystem::path numbered_sentences(const test::TemporaryDirectory& folder, int lines) {
  std::ofstream file(folder / "own.txt");
  for (int i = 0; i < lines; ++i) file << (i % 2 == 0 ? "even w" : "odd w") << i << "\n";
  return folder / "own.txt";
}

/// Settings of a network that is small enough to be made in no time.
Settings small(const std::filesystem::path& data, const Settings& more = {}) {
  Settings settings{{"data", data.string()}, {"hidden", "2"}, {"embedding", "3"}, {"sampler", "adam"}};
  for (const auto& [key, value] : more) settings[key] = value;
  return settings;
}

std::unique_ptr<ClassifierRun> run_of(const SentenceExperiment& experiment) {
  auto run = experiment.make_run("");
  return std::unique_ptr<ClassifierRun>(dynamic_cast<ClassifierRun*>(run.release()));
}

std::multiset<std::string> texts_of(const training::LabelledRows& rows) {
  std::multiset<std::string> texts;
  for (std::int64_t i = 0; i < rows.count(); ++i) texts.insert(rows.text(i));
  return texts;
}

TEST_CASE("a set is tested on its test part by one seed, or on its folds by ten", "[lm][sentence-experiment]") {
  const auto seeds = [](const Settings& settings) { return sentence_experiment(settings).seeds().count(); };
  CHECK(seeds({}) == 1);
  CHECK(sentence_experiment({}).name() == "trec/psgld");
  CHECK(seeds({{"data", "mr"}}) == 10);
  CHECK(seeds({{"data", "./own.txt"}}) == 10);
  CHECK(seeds({{"data", "./own.txt"}, {"test_data", "other.txt"}}) == 1);
  CHECK(seeds({{"data", "mr"}, {"seeds", "3:5"}}) == 2);
}

TEST_CASE("names of files are kept as whole paths, and a run is called after the file", "[lm][sentence-experiment]") {
  const SentenceExperiment experiment =
      sentence_experiment({{"data", "./own.txt"}, {"test_data", "other.txt"}, {"word_vectors", "vectors.bin"}});
  CHECK(experiment.name() == "own/psgld");
  for (const char* key : {"data", "test_data", "word_vectors"})
    CHECK(std::filesystem::path(experiment.options().get(key)).is_absolute());
  CHECK(experiment.sentences().is_file());
  CHECK_FALSE(experiment.sentences().is_cross_validated());
}

TEST_CASE("there are options of folds where the test is one, and of files where the data are one",
          "[lm][sentence-experiment]") {
  const auto has = [](const Settings& settings, const char* option) {
    return sentence_experiment(settings).options().contains(option);
  };
  CHECK(has({{"data", "mr"}}, "folds"));
  CHECK_FALSE(has({}, "folds"));
  CHECK_FALSE(has({{"data", "./own.txt"}, {"test_data", "other.txt"}}, "folds"));
  CHECK(has({{"data", "./own.txt"}}, "test_data"));
  CHECK_FALSE(has({}, "test_data"));
  CHECK_FALSE(has({{"data", "./own.txt"}}, "data_folder"));
  CHECK(has({{"sampler", "svgd"}}, "particles"));
  CHECK_FALSE(has({}, "particles"));
  CHECK_ERROR(sentence_experiment({{"data", "mr"}, {"folds", "1"}}), usage, "folds", "1");
  CHECK_ERROR(sentence_experiment({{"data", "tree"}}).make_run(""), usage, "'tree'", "trec");
}

TEST_CASE("seed s is tested on fold s mod K, and K seeds test every sentence once", "[lm][sentence-experiment]") {
  const test::TemporaryDirectory folder;
  const auto file = numbered_sentences(folder, 31);
  const auto run = run_of(sentence_experiment(small(file, {{"folds", "3"}, {"seeds", "4:8"}})));
  CHECK(run->each() == std::string("per_fold"));
  CHECK(run->count() == 4);
  std::multiset<std::string> all;
  for (std::int64_t i = 0; i < 3; ++i) {
    all.merge(texts_of(run->repetition(i).test_rows()));
    const std::int64_t test = run->repetition(i).test_rows().count();
    CHECK((test == 10 || test == 11));
    CHECK(run->repetition(i).validation_rows().count() == 2);  // 0.1 · 20 or 0.1 · 21, rounded
    CHECK(run->repetition(i).epoch().data == 31 - test - 2);
  }
  CHECK(all.size() == 31);
  CHECK(std::set(all.begin(), all.end()).size() == 31);
  // Seeds 4 and 7 are both tested on fold 1 of the set, and seed 1 of another run is.
  const SentenceOptions options{.data = file.string(), .folds = 3, .fold = 1};
  const SentenceSet set = read_sentence_set(options);
  std::multiset<std::string> fold_1;
  for (const std::size_t i : split_sentences(set, options).test) fold_1.insert(set.sentences[i].words.front());
  CHECK(texts_of(run->repetition(0).test_rows()) == fold_1);
  CHECK(texts_of(run->repetition(3).test_rows()) == fold_1);
  const auto other = run_of(sentence_experiment(small(file, {{"folds", "3"}, {"seeds", "1:2"}})));
  CHECK(texts_of(other->repetition(0).test_rows()) == fold_1);
  const auto redrawn =
      run_of(sentence_experiment(small(file, {{"folds", "3"}, {"seeds", "1:2"}, {"split_seed", "5"}})));
  CHECK(texts_of(redrawn->repetition(0).test_rows()) != fold_1);
}

TEST_CASE("with a test file all seeds have the same rows and other weights", "[lm][sentence-experiment]") {
  const test::BiasedSentences sentences;
  Settings settings = sentences.settings();
  settings["seeds"] = "0:2", settings["start_range"] = "0.1";
  const auto run = run_of(sentence_experiment(settings));
  CHECK(run->each() == std::string("per_seed"));
  const ClassifierRun::Facts& facts = run->facts();
  CHECK(facts.data == "train");
  CHECK(facts.classes == std::vector<std::string>{"bad", "good"});
  CHECK(facts.network == "bi-lstm 1x2");
  CHECK(facts.method == "sgd");
  CHECK(facts.checksums.size() == 2);
  CHECK(facts.data_options.at("vocabulary") == "training");
  // "zebra" is in no sentence of training.
  CHECK(facts.notices ==
        std::vector<std::string>{"words that the vocabulary does not have stand as <unk>: 0 of validation, 1 of test"});
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto& rows = dynamic_cast<const SentenceRows&>(run->repetition(i).test_rows());
    CHECK(rows.count() == 4);
    CHECK(rows.text(2) == "a <unk> bites");
    CHECK(rows.label(2) == 1);
    // a, cat, purrs, dog, the, it, bites and <unk>.
    CHECK(rows.vocabulary()->size() == 8);
    // Of each direction 4·2·(3 + 2) + 2·4·2 weights; 8·3 of embeddings; 2·4 + 2 of the output.
    CHECK(run->repetition(i).weights().weight_count() == 2 * (40 + 16) + 24 + 10);
  }
  const auto first = run->repetition(0).weights().particles().values().row(0),
             second = run->repetition(1).weights().particles().values().row(0);
  CHECK_FALSE(std::ranges::equal(first, second));
}

TEST_CASE("embeddings of words that a file of vectors has start there, by the words of each fold",
          "[lm][sentence-experiment]") {
  const test::TemporaryDirectory folder;
  const auto file = numbered_sentences(folder, 12);
  std::string vectors;
  for (int i = 0; i < 12; i += 2) vectors += fmt::format("w{0} {0} 0.5 -{0}\n", i);
  const auto path = test::write(folder / "vectors.txt", vectors + "zebra 9 9 9\n");
  // Only words of training have a row, so that rows are in another order in each fold.
  const auto run = run_of(sentence_experiment(small(file, {{"folds", "3"},
                                                           {"seeds", "0:3"},
                                                           {"vocabulary", "training"},
                                                           {"word_vectors", path.string()},
                                                           {"start_range", "0.01"}})));
  CHECK(run->facts().notices.back() == "the file of word vectors has 6 of the 13 words of the sentences");
  for (std::int64_t i = 0; i < 3; ++i) {
    training::WeightSampler& weights = run->repetition(i).weights();
    const Vocabulary& words = *dynamic_cast<const SentenceRows&>(run->repetition(i).test_rows()).vocabulary();
    CHECK(words.size() == 12 - 4 - 1 + 1);
    for (std::int32_t word = 0; word < words.size(); ++word) {
      CAPTURE(words.token(word));
      const auto start = weights.particles().view("embedding.weight", 0).row(word);
      const int number = words.token(word) == unknown_word ? 1 : std::stoi(words.token(word).substr(1));
      if (number % 2 == 0) {
        CHECK(start[0] == static_cast<float>(number));
        CHECK(start[1] == 0.5F);
        CHECK(start[2] == -static_cast<float>(number));
      } else {
        for (const float value : start) CHECK(std::abs(value) <= 0.01F);
        CHECK(std::ranges::any_of(start, [](float value) { return value != 0; }));
      }
    }
  }
  CHECK_ERROR(sentence_experiment(small(file, {{"embedding", "4"}, {"word_vectors", path.string()}})).make_run(""),
              usage, "vectors of 3 numbers, 'embedding' says 4: set embedding=3");
}

TEST_CASE("other sentences are the test part of a set that has one, and all of a set that has none",
          "[lm][sentence-experiment][data-set]") {
  if (!find_data_set("sentences")) test::skip("no data set sentences");
  Snapshot meaning;
  SentenceExperiment::Meaning{
      .vocabulary = {TokenUnit::words, {"?", "Denver", "How", "far", "from", "is", "it", "to", "<unk>"}},
      .classes = {"bad", "good"}}
      .save(meaning);
  const SentenceExperiment experiment = sentence_experiment({});
  const auto trec = experiment.other_rows("trec", meaning);
  CHECK(trec->count() == 500);
  CHECK(trec->text(0) == "How far is it from Denver to <unk> ?");
  CHECK(experiment.other_rows("cr", meaning)->count() == 3'775);
}

TEST_CASE("sentences without a word are said to be left out", "[lm][sentence-experiment]") {
  const test::TemporaryDirectory folder;
  const auto file = test::write(folder / "own.txt", "a one\nb two\na\nb three\na four\nb \n");
  const auto run = run_of(sentence_experiment(small(file, {{"folds", "2"}, {"seeds", "0:1"}})));
  CHECK(run->facts().notices == std::vector<std::string>{"2 sentences without a word left out"});
}

TEST_CASE("a method of rows of numbers is refused for words", "[lm][sentence-experiment]") {
  for (const char* const sampler : {"dropout-sghmc", "nuts"})
    CHECK_ERROR(sentence_experiment({{"sampler", sampler}}), usage, "this network reads words");
}

TEST_CASE("the parts of a classifier of sentences have all options of an experiment", "[lm][sentence-experiment]") {
  std::set<std::string> options;
  for (const runs::Part& part : sentence_parts()) options.insert(part.options.begin(), part.options.end());
  const std::set<std::string> of_run{"sampler", "device",           "from_run",    "seeds",
                                     "steps",   "checkpoint_every", "word_vectors"};
  for (const std::string& name : training::methods_for(training::NetworkInputs::words))
    for (const char* data : {"trec", "mr", "./own.txt"}) {
      CAPTURE(name, data);
      const SentenceExperiment experiment = sentence_experiment({{"data", data}, {"sampler", name}});
      for (const auto& [heading, table] : experiment.sections())
        for (const auto& option : table.options())
          if (!of_run.contains(option.name)) CHECK(options.contains(option.name));
    }
}

}  // namespace
}  // namespace stein::lm
