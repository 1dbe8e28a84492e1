#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/core/shuffle.h>
#include <stein/lm/text/sentence_parts.h>
#include <stein/lm/text/words.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace stein::lm {
namespace {

using Indices = std::vector<std::size_t>;

/// `indices` in an order drawn from (seed, row).
Indices permuted(Indices indices, std::int64_t seed, std::uint32_t row) {
  Draws draws({.seed = static_cast<std::uint64_t>(seed), .stream = Stream::data}, row);
  shuffle(std::span(indices), draws);
  return indices;
}

/// Those of `all`, which is sorted, that are not in `taken`.
Indices without(const Indices& all, Indices taken) {
  std::ranges::sort(taken);
  Indices left;
  std::ranges::set_difference(all, taken, std::back_inserter(left));
  return left;
}

Indices indices_from(std::size_t begin, std::size_t end) {
  Indices indices(end - begin);
  std::iota(indices.begin(), indices.end(), begin);
  return indices;
}

/// Piece `fold` of `folds` of a permutation of all sentences.
Indices drawn_fold(const Indices& all, const SentenceOptions& options) {
  STEIN_CHECK(options.folds >= 2 && options.fold >= 0 && options.fold < options.folds,
              "expected a fold from 0 to {}, got {}", options.folds - 1, options.fold);
  if (std::ssize(all) < options.folds)
    fail(ErrorKind::data, "{} sentences cannot be parted into {} folds", all.size(), options.folds);
  const Indices order = permuted(all, options.split_seed, 0);
  const auto border = [&](std::int64_t fold) { return order.begin() + std::ssize(all) * fold / options.folds; };
  return {border(options.fold), border(options.fold + 1)};
}

Vocabulary vocabulary_of(const SentenceSet& set, std::span<const std::size_t> sentences, std::int64_t min_count) {
  WordCounts words;
  for (const std::size_t i : sentences)
    for (const std::string& word : set.sentences[i].words) words.add(word);
  std::vector<std::string> tokens;
  for (const auto& [text, count] : words.by_count())
    if (count >= min_count && text != unknown_word) tokens.emplace_back(text);
  tokens.emplace_back(unknown_word);
  return {TokenUnit::words, std::move(tokens)};
}

/// The sentences of a part, and how many of their words are unknown.
std::pair<std::vector<NumberedSentence>, std::int64_t> numbered(const SentenceSet& set, const Indices& part,
                                                                const Vocabulary& vocabulary) {
  const std::int32_t unknown = *vocabulary.unknown();
  std::vector<NumberedSentence> result;
  std::int64_t unknown_words = 0;
  for (const std::size_t i : part) {
    const Sentence& sentence = set.sentences[i];
    result.push_back({.words = numbers_of(sentence.words, vocabulary), .label = sentence.label});
    if (!sentence.words.empty()) unknown_words += std::ranges::count(result.back().words, unknown);
  }
  return {std::move(result), unknown_words};
}

}  // namespace

std::vector<std::int32_t> numbers_of(const std::vector<std::string>& words, const Vocabulary& vocabulary) {
  const std::int32_t unknown = *vocabulary.unknown();
  std::vector<std::int32_t> numbers;
  for (const std::string& word : words) numbers.push_back(vocabulary.find(word).value_or(unknown));
  if (numbers.empty()) numbers.push_back(unknown);
  return numbers;
}

SentenceSplit split_sentences(const SentenceSet& set, const SentenceOptions& options) {
  const Indices all = indices_from(0, set.sentences.size());
  SentenceSplit split;
  split.test = set.given_test ? indices_from(*set.given_test, all.size()) : drawn_fold(all, options);
  const Indices others = without(all, split.test);
  const Indices order = permuted(others, options.split_seed, 1);
  const auto held =
      static_cast<std::ptrdiff_t>(std::llround(options.validation_share * static_cast<double>(others.size())));
  split.validation.assign(order.begin(), order.begin() + held);
  split.train = without(others, split.validation);
  std::ranges::sort(split.test);
  std::ranges::sort(split.validation);
  if (split.train.empty()) fail(ErrorKind::data, "of {} sentences none is left for training", all.size());
  return split;
}

SentenceParts part_sentences(const SentenceSet& set, const SentenceOptions& options) {
  STEIN_CHECK(options.min_count >= 1, "min_count must be at least 1, got {}", options.min_count);
  const SentenceSplit split = split_sentences(set, options);
  const bool of_all = options.vocabulary == SentenceOptions::VocabularyOf::all;
  SentenceParts parts{.vocabulary = vocabulary_of(set, of_all ? indices_from(0, set.sentences.size()) : split.train,
                                                  options.min_count)};
  std::tie(parts.train, parts.unknown_train) = numbered(set, split.train, parts.vocabulary);
  std::tie(parts.validation, parts.unknown_validation) = numbered(set, split.validation, parts.vocabulary);
  std::tie(parts.test, parts.unknown_test) = numbered(set, split.test, parts.vocabulary);
  return parts;
}

}  // namespace stein::lm
