// Sentences as rows of tokens: what a minibatch looks like.
#include <stein/lm/classification/sentence_rows.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

const auto vocabulary =
    std::make_shared<const Vocabulary>(TokenUnit::words, std::vector<std::string>{"cat", "the", "purrs", "<unk>"});

SentenceRows small_rows() {
  return {{{.words = {1, 0, 2}, .label = 1}, {.words = {3}, .label = 0}, {.words = {0, 3}, .label = 2}}, vocabulary};
}

/// Tokens of a minibatch, one sentence after the other.
std::vector<std::int32_t> tokens_of(const inference::Inputs<float>& inputs) {
  return {inputs.tokens.data, inputs.tokens.data + inputs.tokens.rows * inputs.tokens.columns};
}

TEST_CASE("a sentence has its class, its length and its words with spaces between", "[lm][sentence-rows]") {
  const SentenceRows rows = small_rows();
  CHECK(rows.count() == 3);
  CHECK(rows.label(0) == 1);
  CHECK(rows.label(2) == 2);
  CHECK(rows.length(0) == 3);
  CHECK(rows.length(1) == 1);
  CHECK(rows.text(0) == "the cat purrs");
  CHECK(rows.text(1) == "<unk>");
  CHECK(rows.text(2) == "cat <unk>");
  CHECK(rows.vocabulary() == vocabulary);
}

TEST_CASE("a minibatch is as wide as its longest sentence, with −1 behind the words of the others",
          "[lm][sentence-rows]") {
  SentenceRows rows = small_rows();
  const std::vector<std::int64_t> all{2, 0, 1}, shorter{1, 2};
  const inference::Inputs<float> three = rows.inputs(all);
  CHECK(three.rows() == 3);
  CHECK(three.tokens.columns == 3);
  CHECK(tokens_of(three) == std::vector<std::int32_t>{0, 3, -1, 1, 0, 2, 3, -1, -1});
  const inference::Inputs<float> two = rows.inputs(shorter);  // nothing is left of the minibatch before
  CHECK(two.rows() == 2);
  CHECK(two.tokens.columns == 2);
  CHECK(tokens_of(two) == std::vector<std::int32_t>{3, -1, 0, 3});
}

TEST_CASE("a sentence may be in a minibatch twice", "[lm][sentence-rows]") {
  SentenceRows rows = small_rows();
  const std::vector<std::int64_t> twice{1, 1};
  CHECK(tokens_of(rows.inputs(twice)) == std::vector<std::int32_t>{3, 3});
}

}  // namespace
}  // namespace stein::lm
