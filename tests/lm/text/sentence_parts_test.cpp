#include <stein/lm/text/sentence_parts.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

using Indices = std::vector<std::size_t>;
using VocabularyOf = SentenceOptions::VocabularyOf;

/// Sentences "w0", "w1", …, the first half of class 0 and the others of class 1.
SentenceSet numbered_words(std::size_t count) {
  SentenceSet set{.name = "words", .classes = {"a", "b"}, .sentences = {}};
  for (std::size_t i = 0; i < count; ++i) set.sentences.push_back({{"w" + std::to_string(i)}, i < count / 2 ? 0 : 1});
  return set;
}

SentenceOptions fold(std::int64_t folds, std::int64_t fold, std::int64_t seed = 0, double validation_share = 0.1) {
  return {.data = "mr", .folds = folds, .fold = fold, .split_seed = seed, .validation_share = validation_share};
}

/// All indices of the parts, sorted.
Indices together(const SentenceSplit& split) {
  Indices all = split.train;
  all.insert(all.end(), split.validation.begin(), split.validation.end());
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::ranges::sort(all);
  return all;
}

Indices count_to(std::size_t end) {
  Indices all;
  for (std::size_t i = 0; i < end; ++i) all.push_back(i);
  return all;
}

TEST_CASE("every sentence is in the test part of one fold, and in one part of each", "[lm][sentence-parts]") {
  const SentenceSet set = numbered_words(103);
  Indices tests;
  for (std::int64_t k = 0; k < 10; ++k) {
    const SentenceSplit split = split_sentences(set, fold(10, k));
    CAPTURE(k);
    CHECK(together(split) == count_to(103));
    CHECK((split.test.size() == 10 || split.test.size() == 11));
    CHECK(split.validation.size() == 9);  // 0.1 · 93 or 0.1 · 92, rounded
    for (const Indices* part : {&split.train, &split.validation, &split.test}) CHECK(std::ranges::is_sorted(*part));
    tests.insert(tests.end(), split.test.begin(), split.test.end());
  }
  std::ranges::sort(tests);
  CHECK(tests == count_to(103));
}

TEST_CASE("a split depends on its seed and on nothing else", "[lm][sentence-parts]") {
  const SentenceSet set = numbered_words(50);
  const SentenceSplit split = split_sentences(set, fold(5, 1, 3));
  CHECK(split_sentences(set, fold(5, 1, 3)).test == split.test);
  CHECK(split_sentences(set, fold(5, 1, 3)).validation == split.validation);
  CHECK(split_sentences(set, fold(5, 1, 4)).test != split.test);
  CHECK(split_sentences(set, fold(5, 1, 3, 0.3)).test == split.test);
}

TEST_CASE("folds and validation are drawn at random over all sentences", "[lm][sentence-parts]") {
  // How often sentence 0 is in the test part of fold 0 of 4, and for validation (0.2 of the other 3/4), over 4,000
  // seeds: binomial with p = 1/4 and 0.15.
  const SentenceSet set = numbered_words(20);
  constexpr int seeds = 4'000;
  int tests = 0, validations = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const SentenceSplit split = split_sentences(set, fold(4, 0, seed, 0.2));
    tests += std::ranges::count(split.test, 0UL) > 0 ? 1 : 0;
    validations += std::ranges::count(split.validation, 0UL) > 0 ? 1 : 0;
  }
  const auto is_fair = [](int count, double p) {
    return std::abs(count - seeds * p) < 6.1 * std::sqrt(seeds * p * (1 - p));
  };
  CHECK(is_fair(tests, 0.25));
  CHECK(is_fair(validations, 0.15));
}

TEST_CASE("folds are not stratified: the classes of a test part vary as draws do", "[lm][sentence-parts]") {
  // Of 100 sentences, half of class 0, 10 are drawn: the number of class 0 is hypergeometric with mean 5 and variance
  // 10 · 1/4 · 90/99. Over 1,000 seeds the mean square deviation has that mean, and a spread below that of a normal's
  // square, √2 times the variance.
  const SentenceSet set = numbered_words(100);
  const double variance = 10. / 4 * 90 / 99;
  double square = 0;
  for (int seed = 0; seed < 1'000; ++seed) {
    double first = 0;
    for (const std::size_t i : split_sentences(set, fold(10, 0, seed)).test)
      first += set.sentences[i].label == 0 ? 1 : 0;
    square += (first - 5) * (first - 5) / 1'000;
  }
  CHECK(std::abs(square - variance) < 6.1 * std::sqrt(2. / 1'000) * variance);
}

TEST_CASE("a given test part stays what it is", "[lm][sentence-parts]") {
  SentenceSet set = numbered_words(30);
  set.given_test = 20;
  const SentenceSplit split = split_sentences(set, {.data = "trec", .validation_share = 0.25});
  CHECK(split.test == Indices{20, 21, 22, 23, 24, 25, 26, 27, 28, 29});
  CHECK(split.validation.size() == 5);
  CHECK(split.train.size() == 15);
  CHECK(split_sentences(set, {.data = "trec", .validation_share = 0}).validation.empty());
}

TEST_CASE("folds that do not exist, and sets that are too small, are refused", "[lm][sentence-parts]") {
  CHECK_ERROR(split_sentences(numbered_words(20), fold(10, 10)), usage, "fold from 0 to 9", "got 10");
  CHECK_ERROR(split_sentences(numbered_words(20), fold(10, -1)), usage, "got -1");
  CHECK_ERROR(split_sentences(numbered_words(9), fold(10, 0)), data, "9 sentences", "10 folds");
  CHECK_ERROR(split_sentences(numbered_words(2), fold(2, 0, 0, 0.5)), data, "none is left for training");
}

/// Of five sentences the last two are the test.
SentenceSet small_set() {
  return {.name = "small",
          .classes = {"a", "b"},
          .sentences = {{{"b", "a"}, 0}, {{"b", "c", "b"}, 1}, {{}, 0}, {{"d", "a"}, 1}, {{}, 1}},
          .given_test = 3};
}

TEST_CASE("the vocabulary is of all sentences, or of those for training", "[lm][sentence-parts]") {
  SentenceOptions options{.data = "trec", .validation_share = 0};
  const SentenceParts all = part_sentences(small_set(), options);
  CHECK(all.vocabulary.text() == "tokens: words\nb\na\nc\nd\n<unk>\n");
  CHECK(all.test[0].words == std::vector<std::int32_t>{3, 1});
  CHECK(all.test[0].label == 1);
  CHECK(all.unknown_test == 0);
  options.vocabulary = VocabularyOf::training;
  const SentenceParts training = part_sentences(small_set(), options);
  CHECK(training.vocabulary.text() == "tokens: words\nb\na\nc\n<unk>\n");
  CHECK(training.train[1].words == std::vector<std::int32_t>{0, 2, 0});
  CHECK(training.test[0].words == std::vector<std::int32_t>{3, 1});
  CHECK(training.unknown_test == 1);
  CHECK(training.unknown_train == 0);
}

TEST_CASE("seldom words are unknown, and a sentence without a word is one unknown word", "[lm][sentence-parts]") {
  const SentenceParts parts = part_sentences(small_set(), {.data = "trec", .validation_share = 0, .min_count = 2});
  CHECK(parts.vocabulary.text() == "tokens: words\nb\na\n<unk>\n");
  CHECK(parts.train[1].words == std::vector<std::int32_t>{0, 2, 0});
  CHECK(parts.train[2].words == std::vector<std::int32_t>{2});
  CHECK(parts.unknown_train == 1);
  CHECK(parts.unknown_test == 1);
  CHECK_ERROR(part_sentences(small_set(), {.data = "trec", .min_count = 0}), usage, "min_count", "got 0");
}

TEST_CASE("a word that is called like the unknown one is it", "[lm][sentence-parts]") {
  SentenceSet set = small_set();
  set.sentences[0].words = {"<unk>", "<unk>", "<unk>"};
  const SentenceParts parts = part_sentences(set, {.data = "trec", .validation_share = 0});
  CHECK(parts.vocabulary.text() == "tokens: words\nb\nc\nd\na\n<unk>\n");
  CHECK(parts.train[0].words == std::vector<std::int32_t>{4, 4, 4});
  CHECK(parts.unknown_train == 3);
}

TEST_CASE("validation takes from what is left for training", "[lm][sentence-parts]") {
  const SentenceParts parts = part_sentences(numbered_words(100), fold(10, 3));
  CHECK(parts.train.size() == 81);
  CHECK(parts.validation.size() == 9);
  CHECK(parts.test.size() == 10);
  CHECK(parts.vocabulary.size() == 101);
}

}  // namespace
}  // namespace stein::lm
