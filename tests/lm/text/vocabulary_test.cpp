#include <stein/lm/text/tokenizer.h>
#include <stein/lm/text/vocabulary.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

using Tokens = std::vector<std::int32_t>;

std::vector<std::string> tokens_of(std::string_view text, TokenUnit unit) {
  std::vector<std::string> tokens;
  for_each_token(text, unit, "a text", [&](std::string_view token) { tokens.emplace_back(token); });
  return tokens;
}

TEST_CASE("words are what stands between spaces, and every line ends with an end of sentence", "[lm][vocabulary]") {
  using Words = std::vector<std::string>;
  CHECK(tokens_of(" no it \t was\r\n\nn't", TokenUnit::words) ==
        Words{"no", "it", "was", "<eos>", "<eos>", "n't", "<eos>"});
  CHECK(tokens_of("a\n", TokenUnit::words) == Words{"a", "<eos>"});
  CHECK(tokens_of("", TokenUnit::words).empty());
}

TEST_CASE("characters are those of UTF-8, bytes are bytes", "[lm][vocabulary]") {
  using Words = std::vector<std::string>;
  CHECK(tokens_of("aé€😀\n", TokenUnit::characters) == Words{"a", "é", "€", "😀", "\n"});
  CHECK(tokens_of("é\xff", TokenUnit::bytes) == Words{"\xc3", "\xa9", "\xff"});
}

TEST_CASE("text that is no UTF-8 is refused by its line, and read as bytes", "[lm][vocabulary]") {
  const std::string text = "one\ntwo\nna\xefve\n";
  for (const TokenUnit unit : {TokenUnit::words, TokenUnit::characters})
    CHECK_ERROR(tokens_of(text, unit), data, "'a text', line 3", "expected UTF-8", "na\\xefve", "tokens = bytes");
  CHECK(tokens_of(text, TokenUnit::bytes).size() == text.size());
}

TEST_CASE("a vocabulary of words begins with the most frequent, of bytes with the smallest", "[lm][vocabulary]") {
  const Vocabulary words = make_vocabulary("b a b\nc b a\n", TokenUnit::words, "a text");
  CHECK(words.text() == "tokens: words\nb\na\n<eos>\nc\n");
  CHECK(words.find("a") == 1);
  CHECK_FALSE(words.find("d"));
  CHECK(make_vocabulary("cab\nab", TokenUnit::bytes, "a text").text() == "tokens: bytes\n\\n\na\nb\nc\n");
  CHECK_ERROR(words.token(4), usage, "from 0 to 3", "got 4");
  CHECK_ERROR(make_vocabulary("", TokenUnit::words, "a text"), data, "'a text'", "at least one token");
}

TEST_CASE("seldom words become unknown ones, which are counted", "[lm][vocabulary]") {
  const Vocabulary words = make_vocabulary("a b a\nc a b\n", TokenUnit::words, "a text", 2);
  CHECK(words.text() == "tokens: words\na\nb\n<eos>\n<unk>\n");
  const TokenizedText text = tokenize("a d b c\n", words, "another");
  CHECK(text.tokens == Tokens{0, 3, 1, 3, 2});
  CHECK(text.unknown == 2);
}

TEST_CASE("a vocabulary without ends of sentences leaves them out", "[lm][vocabulary]") {
  const Vocabulary words(TokenUnit::words, {"a", "b"});
  const TokenizedText text = tokenize("a b\nb\n", words, "a text");
  CHECK(text.tokens == Tokens{0, 1, 1});
  CHECK(text.unknown == 0);
}

TEST_CASE("without a word for unknown ones a text with them is refused", "[lm][vocabulary]") {
  const Vocabulary words = make_vocabulary("a b\n", TokenUnit::words, "a text");
  CHECK_ERROR(tokenize("a b\nb x y\n", words, "another"), data, "'another', line 2", "'x' is not in the vocabulary",
              "2 of its 7 tokens", "min_count");
  const Vocabulary bytes = make_vocabulary("ab\n", TokenUnit::bytes, "a text");
  CHECK_ERROR(tokenize("ab\nb\x01", bytes, "another"), data, "line 2", "'\\x01'", "3 bytes", "1 of its 5 tokens");
}

TEST_CASE("a vocabulary is read back as it was written, whatever its tokens are", "[lm][vocabulary]") {
  const Vocabulary odd(TokenUnit::bytes, {"\n", "\\", "\t", "\r", std::string(1, '\0'), "\xff", "é", "\x7f", "\\n"});
  CHECK(Vocabulary::parse(odd.text(), "vocabulary.txt") == odd);
  CHECK(odd.text() == "tokens: bytes\n\\n\n\\\\\n\\t\n\\r\n\\x00\n\\xff\né\n\\x7f\n\\\\n\n");
  CHECK_ERROR(Vocabulary::parse("words\na\n", "v.txt"), data, "'v.txt'", "first line");
  CHECK_ERROR(Vocabulary::parse("tokens: letters\na\n", "v.txt"), data, "letters");
  CHECK_ERROR(Vocabulary::parse("tokens: words\na", "v.txt"), data, "last line");
  CHECK_ERROR(Vocabulary::parse("tokens: words\na\na\n", "v.txt"), data, "'v.txt'", "'a'", "twice");
  CHECK_ERROR(Vocabulary::parse("tokens: words\n", "v.txt"), data, "'v.txt'", "at least one token");
  CHECK_ERROR(Vocabulary::parse("tokens: words\n\\q\n", "v.txt"), data, "'v.txt'", "no escaped text");
}

}  // namespace
}  // namespace stein::lm
