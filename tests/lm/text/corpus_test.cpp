#include <stein/core/atomic_file.h>
#include <stein/core/data/manifest.h>
#include <stein/lm/text/corpus.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "skip.h"

namespace stein::lm {
namespace {

std::string words(const Corpus& corpus, const Stretches& part) {
  std::string text;
  for (const auto& stretch : part)
    for (const std::int32_t token : stretch) text += corpus.vocabulary.token(token) + " ";
  return text;
}

TEST_CASE("Penn Treebank has the published numbers of tokens and words", "[lm][corpus][data-set]") {
  if (!find_data_set("ptb")) test::skip("no data set ptb");
  const Corpus ptb = read_corpus({.data = "ptb"});
  CHECK(token_count(ptb.train) == 929'589);
  CHECK(token_count(ptb.validation) == 73'760);
  CHECK(token_count(ptb.test) == 82'430);
  CHECK(ptb.vocabulary.size() == 10'000);
  CHECK(ptb.unknown_validation == 0);
  CHECK(ptb.unknown_test == 0);
  CHECK(words(ptb, {{ptb.test[0].begin(), ptb.test[0].begin() + 8}}) == "no it was n't black monday <eos> but ");
  CHECK_FALSE(ptb.synthetic);
}

TEST_CASE("War and Peace is cut into 260, 32 and 33 pieces of 100 rows of 100 bytes", "[lm][corpus][data-set]") {
  if (!find_data_set("chartext")) test::skip("no data set chartext");
  const Corpus text = read_corpus({.data = "war-and-peace"});
  CHECK(text.vocabulary.size() == 87);
  REQUIRE(text.train.size() == 100);
  CHECK(text.train[0].size() == 26'001);
  CHECK(text.validation[99].size() == 3'201);
  CHECK(text.test[99].size() == 3'301);
  // What follows a part begins the next; the last byte that is predicted is of the row behind.
  CHECK(text.train[0].back() == text.validation[0].front());
  CHECK(text.test[0].back() == text.train[1].front());
  CHECK(text.vocabulary.token(text.train[0][0]) == "\xef");  // the byte order mark is text too
}

TEST_CASE("the words of a text of characters are those of its training part", "[lm][corpus][data-set]") {
  if (!find_data_set("chartext")) test::skip("no data set chartext");
  const Corpus text = read_corpus({.data = "tiny-shakespeare", .tokens = CorpusOptions::Unit::words});
  REQUIRE(text.train.size() == 1);
  std::vector<std::int64_t> count(static_cast<std::size_t>(text.vocabulary.size()));
  for (const std::int32_t token : text.train[0]) ++count[static_cast<std::size_t>(token)];
  for (std::int32_t word = 0; word < text.vocabulary.size(); ++word)
    if (text.vocabulary.token(word) != end_of_sentence) CHECK(count[static_cast<std::size_t>(word)] >= 2);
  CHECK(text.unknown_validation > 0);
  CHECK(text.unknown_test > 0);
  const auto tokens =
      static_cast<double>(token_count(text.train) + token_count(text.validation) + token_count(text.test));
  CHECK(static_cast<double>(token_count(text.train)) / tokens == Approx(0.8).epsilon(0.03));
  CHECK(static_cast<double>(token_count(text.test)) / tokens == Approx(0.1).epsilon(0.1));
}

TEST_CASE("a file of one's own is cut behind a line, and its words are those of the training part", "[lm][corpus]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "own.txt", "a b a\nb a c\na c d\nb b c\nx a b\n");
  const Corpus own = read_corpus({.data = (folder / "own.txt").string(),
                                  .tokens = CorpusOptions::Unit::words,
                                  .validation_share = .2,
                                  .test_share = .2});
  CHECK(own.name == "own");
  CHECK(words(own, own.train) == "a b a <eos> b a c <eos> a c <unk> <eos> ");
  CHECK(words(own, own.validation) == "b b c <eos> ");
  CHECK(words(own, own.test) == "<unk> a b <eos> ");
  CHECK(own.unknown_test == 1);
}

TEST_CASE("parts of a text of one's own may be files of their own", "[lm][corpus]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "train.txt", "a b a\na b a\n");
  write_file_atomically(folder / "valid.txt", "a b\n");
  write_file_atomically(folder / "test.txt", "b x\n");
  const CorpusOptions options{.data = (folder / "train.txt").string(),
                              .tokens = CorpusOptions::Unit::words,
                              .min_count = 1,
                              .validation_text = folder / "valid.txt",
                              .test_text = folder / "test.txt"};
  CHECK_ERROR(read_corpus(options), data, "test.txt', line 1", "'x'");
  write_file_atomically(folder / "train.txt", "a b a <unk>\na b a\n");
  const Corpus own = read_corpus(options);
  CHECK(words(own, own.train) == "a b a <unk> <eos> a b a <eos> ");
  CHECK(words(own, own.validation) == "a b <eos> ");
  CHECK(words(own, own.test) == "b <unk> <eos> ");
  CHECK(own.unknown_validation == 0);
  CHECK(own.unknown_test == 1);
  CHECK(own.checksums.size() == 3);
}

TEST_CASE("a word that only has <unk> in it does not make the text one with unknown words", "[lm][corpus]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "train.txt", "a b see(<unk>). a b c\na b a\n\na b d\n");
  write_file_atomically(folder / "held.txt", "a x\n\nb\n");
  const Corpus own = read_corpus({.data = (folder / "train.txt").string(),
                                  .tokens = CorpusOptions::Unit::words,
                                  .validation_text = folder / "held.txt",
                                  .test_text = folder / "held.txt"});
  CHECK(words(own, own.train) == "a b <unk> a b <unk> <eos> a b a <eos> <eos> a b <unk> <eos> ");
  CHECK(words(own, own.test) == "a <unk> <eos> <eos> b <eos> ");  // an empty line has its end
  CHECK(own.unknown_test == 1);
}

TEST_CASE("characters are never cut in two", "[lm][corpus]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "own.txt", "éèéèéèéèéèéèéèéèéèé");
  for (const double share : {.1, .15, .2, .25, .3})
    CHECK_NOTHROW(read_corpus({.data = (folder / "own.txt").string(),
                               .tokens = CorpusOptions::Unit::characters,
                               .validation_share = share,
                               .test_share = .17}));
}

TEST_CASE("a character of bytes takes as many tokens as UTF-8 has bytes for it", "[lm][corpus]") {
  const Vocabulary bytes(TokenUnit::bytes, {"a", "\xC3", "\xA4", "\xE2", "\x82", "\xAC"}),
      characters(TokenUnit::characters, {"a", "ä", "€"}), words(TokenUnit::words, {"a", "ä"});
  // a ä € a: 1 + 2 + 3 + 1 bytes of four characters, in two stretches.
  CHECK(tokens_per_character({{0, 1, 2}, {3, 4, 5, 0}}, bytes) == 7.0 / 4);
  CHECK(tokens_per_character({{0, 1}, {2}}, characters) == 1.0);
  CHECK_FALSE(tokens_per_character({{0, 1}}, words).has_value());
}

TEST_CASE("made-up text has parts of its own and its truth", "[lm][corpus]") {
  const Corpus text = read_corpus({.synthetic_words = 5, .synthetic_tokens = 1000});
  CHECK(text.synthetic);
  CHECK(token_count(text.train) == 1000);
  CHECK(token_count(text.test) == 200);
  CHECK(text.validation != text.test);
  CHECK(text.vocabulary.size() == 5);
  CHECK(text.truth->words() == 5);
}

TEST_CASE("a text that is not there is named, with what to do", "[lm][corpus]") {
  const test::TemporaryDirectory folder;
  CHECK_ERROR(read_corpus({.data = "pbt"}), usage, "unknown text 'pbt'", "'ptb'");
  CHECK_ERROR(read_corpus({.data = "ptb", .data_folder = folder.path()}), data, "data set ptb", "stein data fetch ptb",
              "text-synthetic");
  CHECK_ERROR(read_corpus({.data = (folder / "none.txt").string()}), data, "none.txt");
  write_file_atomically(folder / "empty.txt", "");
  CHECK_ERROR(read_corpus({.data = (folder / "empty.txt").string()}), data, "empty.txt' is empty");
  write_file_atomically(folder / "same.txt", std::string(2000, 'x'));
  CHECK_ERROR(read_corpus({.data = (folder / "same.txt").string()}), data, "same.txt' has one token alone");
  CHECK_ERROR(read_corpus({.data = "nowhere.txt"}), data, "the text 'nowhere.txt' does not exist");
  CHECK_ERROR(read_corpus({.data = "."}), data, "'.'", "is a folder");
}

}  // namespace
}  // namespace stein::lm
