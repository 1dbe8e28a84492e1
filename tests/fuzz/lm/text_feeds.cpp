#include "fuzz/lm/text_feeds.h"

#include <stein/core/escaped_text.h>
#include <stein/lm/text/corpus.h>
#include <stein/lm/text/sentence_set.h>
#include <stein/lm/text/word_vectors.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fuzz/require.h"

namespace stein::test {
namespace {

using namespace lm;

void check_tokens(const Corpus& corpus, const Stretches& stretches, std::int64_t unknown) {
  for (const auto& stretch : stretches)
    for (const std::int32_t token : stretch)
      require(token >= 0 && token < corpus.vocabulary.size(), "a token is in the vocabulary");
  require(unknown >= 0 && unknown <= token_count(stretches), "at most every token is unknown");
}

void check_vocabulary(const Vocabulary& vocabulary) {
  for (std::int32_t number = 0; number < vocabulary.size(); ++number)
    require(vocabulary.find(vocabulary.token(number)) == number, "a token has its number");
  require(Vocabulary::parse(vocabulary.text(), "vocabulary") == vocabulary, "a vocabulary is read back");
}

void read_text_as(CorpusOptions::Unit unit, const Input& input) {
  const auto files = input.files();
  CorpusOptions options{.data = input.write("text.txt", files[0]).string(), .tokens = unit};
  if (files.size() > 1) options.validation_text = input.write("validation.txt", files[1]);
  if (files.size() > 2) options.test_text = input.write("test.txt", files[2]);
  const Corpus corpus = read_corpus(options);
  check_tokens(corpus, corpus.train, 0);
  check_tokens(corpus, corpus.validation, corpus.unknown_validation);
  check_tokens(corpus, corpus.test, corpus.unknown_test);
  check_vocabulary(corpus.vocabulary);
  if (unit == CorpusOptions::Unit::words) return;
  require(corpus.unknown_validation == 0 && corpus.unknown_test == 0, "all bytes and characters are known");
  std::string text, whole;
  for (const auto* part : {&corpus.train, &corpus.validation, &corpus.test})
    for (const std::int32_t token : part->at(0)) text += corpus.vocabulary.token(token);
  for (std::size_t i = 0; i < std::min<std::size_t>(files.size(), 3); ++i) whole += files[i];
  // With a file for validation and none for the test, the test's part of the text stands behind validation's file.
  require(files.size() == 2 ? text.size() == whole.size() : text == whole, "no byte and no character is lost");
}

/// Whether the cleaning of Kim leaves this letter.
bool is_kim_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("(),!?'`").find(c) != std::string_view::npos;
}

void check_words(const std::vector<std::string>& words, SentenceOptions::Cleaning cleaning) {
  require(!words.empty(), "a sentence has a word");
  for (const std::string& word : words) {
    require(!word.empty() && word.find_first_of(" \t") == std::string::npos, "a word has no spaces");
    if (cleaning == SentenceOptions::Cleaning::none) continue;
    require(std::ranges::all_of(word, is_kim_letter), "a cleaned word has letters of the cleaning only");
    if (cleaning == SentenceOptions::Cleaning::kim)
      require(std::ranges::none_of(word, [](char c) { return c >= 'A' && c <= 'Z'; }), "a word is in lower case");
  }
}

void read_sentences_with(SentenceOptions::Cleaning cleaning, const Input& input) {
  const auto files = input.files();
  SentenceOptions options{.data = input.write("sentences.txt", files[0]).string()};
  options.cleaning = cleaning;
  if (files.size() > 1) options.test_data = input.write("test.txt", files[1]);
  const SentenceSet set = read_sentence_set(options);
  require(set.given_test.has_value() == (files.size() > 1), "a test part is given where there is a file of it");
  const std::size_t train = set.given_test.value_or(set.sentences.size());
  require(train >= 1 && (!set.given_test || train < set.sentences.size()), "every part has a sentence");
  require(set.classes.size() >= 2, "there are two classes");
  require(std::set<std::string>(set.classes.begin(), set.classes.end()).size() == set.classes.size(),
          "no class is there twice");
  require(set.empty == 0 && set.skipped >= 0, "sentences without a word are left out");
  std::set<std::int32_t> trained;
  for (std::size_t i = 0; i < set.sentences.size(); ++i) {
    const std::int32_t label = set.sentences[i].label;
    require(label >= 0 && label < std::ssize(set.classes), "a sentence has a class");
    check_words(set.sentences[i].words, cleaning);
    if (i < train) trained.insert(label);
  }
  require(trained.size() == set.classes.size(), "every class has a sentence to learn from");
}

void read_vectors_from(const std::filesystem::path& path) {
  static const Vocabulary vocabulary(TokenUnit::words, {"cat", "dog", "é", "<unk>"});
  SilentProgress progress;
  const WordVectors vectors = read_word_vectors(path, vocabulary, progress);
  require(vectors.dimension >= 1, "vectors have a dimension");
  require(vectors.found.size() == 4 && std::ssize(vectors.values) == 4 * vectors.dimension,
          "there is a vector for each word of the vocabulary");
  require(std::ranges::all_of(vectors.values, [](float number) { return std::isfinite(number); }),
          "vectors are finite");
  for (std::size_t word = 0; word < 4; ++word)
    for (std::int64_t d = 0; d < vectors.dimension && !vectors.found[word]; ++d)
      require(vectors.values[word * static_cast<std::size_t>(vectors.dimension) + static_cast<std::size_t>(d)] == 0,
              "the vector of a word that the file lacks is 0");
}

}  // namespace

void read_words(const Input& input) {
  read_text_as(CorpusOptions::Unit::words, input);
}

void read_bytes(const Input& input) {
  read_text_as(CorpusOptions::Unit::bytes, input);
}

void read_characters(const Input& input) {
  read_text_as(CorpusOptions::Unit::characters, input);
}

void read_sentences(const Input& input) {
  read_sentences_with(SentenceOptions::Cleaning::none, input);
}

void read_sentences_as_kim(const Input& input) {
  read_sentences_with(SentenceOptions::Cleaning::kim, input);
}

void read_sentences_as_kim_with_case(const Input& input) {
  read_sentences_with(SentenceOptions::Cleaning::kim_with_case, input);
}

void read_vocabulary(const Input& input) {
  check_vocabulary(Vocabulary::parse(input.text(), (Input::folder() / "vocabulary.txt").string()));
}

void read_token(const Input& input) {
  const std::string shown = escaped(input.text());
  require(std::ranges::none_of(shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }),
          "an escaped token has no control characters");
  require(unescaped(shown) == input.text(), "an escaped token is read back");
}

void read_word_vectors_of_lines(const Input& input) {
  read_vectors_from(input.write("vectors.txt", input.text()));
}

void read_binary_word_vectors(const Input& input) {
  read_vectors_from(input.write("vectors.bin", input.text()));
}

}  // namespace stein::test
