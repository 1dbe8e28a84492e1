// Sentences parted into training, validation and test, as numbers of words.
#pragma once

#include <stein/lm/text/sentence_set.h>
#include <stein/lm/text/vocabulary.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stein::lm {

/// Which sentences of a set are in which part, in the order of the set.
struct SentenceSplit {
  std::vector<std::size_t> train, validation, test;
};

/// Parts a set. Where it has a test part, that is the test; else a permutation of all sentences, drawn from
/// `options.split_seed`, is cut into `options.folds` pieces whose sizes differ by at most one, and piece `options.fold`
/// is the test. Of the others `options.validation_share`, rounded, are drawn for validation. Neither draw looks at
/// classes: folds are not stratified, as in Kim (2014), who draws a fold for each sentence, and Gan et al. (2017).
/// @throws Error(usage) unless 0 ≤ fold < folds; Error(data) if there are fewer sentences than folds, or if no sentence
///         is left for training
SentenceSplit split_sentences(const SentenceSet& set, const SentenceOptions& options);

/// A sentence as numbers of words, at least one, and the number of its class.
struct NumberedSentence {
  std::vector<std::int32_t> words;
  std::int32_t label = 0;
};

/// Words by their numbers, those that the vocabulary lacks as its unknown word; none at all become one unknown word.
std::vector<std::int32_t> numbers_of(const std::vector<std::string>& words, const Vocabulary& vocabulary);

/// What a classifier learns from, is stopped by, and is tested on.
struct SentenceParts {
  Vocabulary vocabulary;
  std::vector<NumberedSentence> train{}, validation{}, test{};
  std::int64_t unknown_train = 0, unknown_validation = 0,
               unknown_test = 0;  ///< words that the vocabulary does not have
};

/// The sentences of each part by the numbers of their words.
///
/// The vocabulary begins with the most frequent word, of equally frequent ones with the first, and ends with
/// `unknown_word`, which stands for words that it does not have. By default it is of all sentences, those of the test
/// too: published work gives every word of the set its pretrained vector, so that a word that only the test part
/// has means something to the classifier although it was never trained. Without pretrained vectors such words have a
/// vector that is drawn at random, and VocabularyOf::training makes them unknown instead. A sentence without a word
/// becomes one `unknown_word`.
/// @throws as split_sentences; Error(usage) unless min_count is at least 1
SentenceParts part_sentences(const SentenceSet& set, const SentenceOptions& options);

}  // namespace stein::lm
