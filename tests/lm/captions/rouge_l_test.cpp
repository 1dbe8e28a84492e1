#include <stein/lm/captions/rouge_l.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "lm/captions/caption_words.h"

namespace stein::lm {
namespace {

using test::caption;
using test::rounding;
using test::words;

double rouge_l_of(const TokenizedCaption& single) {
  return rouge_l(std::span(&single, 1)).corpus;
}

TEST_CASE("the longest common subsequence keeps the order and may leave out words", "[lm][captions][rouge]") {
  CHECK(longest_common_subsequence(words("a b c d e"), words("b x d e")) == 3);
  CHECK(longest_common_subsequence(words("b x d e"), words("a b c d e")) == 3);
  CHECK(longest_common_subsequence(words("a b"), words("b a")) == 1);
  CHECK(longest_common_subsequence(words("a a a"), words("a a")) == 2);
  CHECK(longest_common_subsequence(words("a b"), words("c")) == 0);
  CHECK(longest_common_subsequence(words(""), words("c")) == 0);
  CHECK(longest_common_subsequence(words("c"), words("")) == 0);
}

TEST_CASE("a caption that is one of its references has ROUGE-L 1", "[lm][captions][rouge]") {
  CHECK(std::abs(rouge_l_of(caption("a man rides", {"two dogs", "a man rides"})) - 1) < rounding);
}

TEST_CASE("ROUGE-L weighs recall with beta 1.2", "[lm][captions][rouge]") {
  // ℓ = 2 (a b): P = 2/4, R = 2/3, F = (1 + 1.44) · 1/2 · 2/3 / (2/3 + 1.44 / 2) = (2.44 / 3) / (4.16 / 3) = 61 / 104
  CHECK(std::abs(rouge_l_of(caption("a x b y", {"a b c"})) - 61. / 104) < rounding);
}

TEST_CASE("precision and recall may be of two references", "[lm][captions][rouge]") {
  // First: ℓ = 4, P = 4/6, R = 4/8. Second: ℓ = 2, P = 2/6, R = 1. F = 2.44 · 2/3 / (1 + 1.44 · 2/3) = 4.88 / 5.88
  const TokenizedCaption both = caption("a b c d e f", {"a b c d x y z w", "e f"});
  CHECK(std::abs(rouge_l_of(both) - 4.88 / 5.88) < rounding);
  // The first alone: 2.44 · 2/3 · 1/2 / (1/2 + 1.44 · 2/3) = 4.88 / 8.76
  CHECK(std::abs(rouge_l_of(caption("a b c d e f", {"a b c d x y z w"})) - 4.88 / 8.76) < rounding);
}

TEST_CASE("ROUGE-L of many captions is their mean", "[lm][captions][rouge]") {
  const std::vector<TokenizedCaption> captions{caption("a b", {"a b"}), caption("x", {"y"}), caption("", {"y"}),
                                               caption("x", {""})};
  const CaptionMetric metric = rouge_l(captions);
  CHECK(metric.images == std::vector<double>{1, 0, 0, 0});
  CHECK(std::abs(metric.corpus - 0.25) < rounding);
  CHECK_ERROR(rouge_l({}), usage, "ROUGE-L", "at least one caption");
  CHECK_ERROR(rouge_l_of(caption("a", {})), usage, "ROUGE-L", "caption 0 has no reference");
}

}  // namespace
}  // namespace stein::lm
