#include <stein/lm/captions/meteor.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "lm/captions/caption_words.h"

namespace stein::lm {
namespace {

using test::caption;
using test::rounding;

double meteor_of(const TokenizedCaption& single) {
  return meteor_exact_stem(std::span(&single, 1)).corpus;
}

/// F with α = 0.85.
double f_mean(double precision, double recall) {
  return precision * recall / (0.85 * precision + 0.15 * recall);
}

/// With β = 0.2 and γ = 0.6.
double penalty(double chunks, double matches) {
  return 0.6 * std::pow(chunks / matches, 0.2);
}

TEST_CASE("a caption that is one of its references has METEOR-exact-stem 1", "[lm][captions][meteor]") {
  CHECK(meteor_of(caption("a man rides a horse", {"two dogs", "a man rides a horse"})) == 1);
  CHECK(meteor_of(caption("zebra", {"zebra"})) == 1);
}

TEST_CASE("a match of stems counts 0.6", "[lm][captions][meteor]") {
  // Content words man, rides, horse; function words a, a. P = R = (0.75 (2 + 0.6) + 0.25 · 2) / (0.75 · 3 + 0.25 · 2).
  // All words match in one chunk: no penalty.
  CHECK(std::abs(meteor_of(caption("a man rides a horse", {"a man riding a horse"})) - 2.45 / 2.75) < rounding);
}

TEST_CASE("the penalty grows with the share of chunks", "[lm][captions][meteor]") {
  // P = R = 1; "the cat", "sat", "on the mat" are 3 chunks of 6 matches.
  CHECK(std::abs(meteor_of(caption("the cat sat on the mat", {"on the mat sat the cat"})) - (1 - penalty(3, 6))) <
        rounding);
  // One chunk of 2 matches, P = 1; the reference has a word more: |c| = 2, |f| = 1.
  CHECK(std::abs(meteor_of(caption("a cat", {"a cat sleeps"})) - (1 - penalty(1, 2)) * f_mean(1, 1 / 1.75)) < rounding);
}

TEST_CASE("recall weighs more than precision", "[lm][captions][meteor]") {
  const double long_reference = meteor_of(caption("cat", {"cat dog"})),
               long_caption = meteor_of(caption("cat dog", {"cat"}));
  CHECK(std::abs(long_reference - (1 - penalty(1, 1)) * f_mean(1, 0.5)) < rounding);
  CHECK(std::abs(long_caption - (1 - penalty(1, 1)) * f_mean(0.5, 1)) < rounding);
  CHECK(long_caption > long_reference);
}

TEST_CASE("content words weigh three times as much as function words", "[lm][captions][meteor]") {
  CHECK(is_function_word("the"));
  CHECK(is_function_word("'s"));
  CHECK(is_function_word("years"));
  CHECK_FALSE(is_function_word("man"));
  CHECK_FALSE(is_function_word("n't"));
  CHECK_FALSE(is_function_word(""));
  // |c| = 1, |f| = 1, weights 0.75 and 0.25: the content word matches, then the function word.
  CHECK(std::abs(meteor_of(caption("the cat", {"a cat"})) - (1 - penalty(1, 1)) * f_mean(0.75, 0.75)) < rounding);
  CHECK(std::abs(meteor_of(caption("the cat", {"the dog"})) - (1 - penalty(1, 1)) * f_mean(0.25, 0.25)) < rounding);
  // A match of stems may be of a function word here and a content word there: |c| = 0 and |f| = 1, |c| = 1 and |f| = 0.
  CHECK(std::abs(meteor_of(caption("people", {"peoples"})) - f_mean(0.6, 0.6)) < rounding);
  const MeteorStatistics mixed = meteor_statistics({{"people", "peopl"}}, {{"peoples", "peopl"}});
  CHECK(mixed.caption.stem == MatchedWords{.content = 0, .function = 1});
  CHECK(mixed.reference.stem == MatchedWords{.content = 1, .function = 0});
  CHECK(mixed.caption.exact == MatchedWords{});
}

TEST_CASE("the reference with the highest score counts", "[lm][captions][meteor]") {
  const double best = (1 - penalty(1, 2)) * f_mean(2. / 3, 2. / 3);
  CHECK(std::abs(meteor_of(caption("cat dog bird", {"cat", "fish cat dog", "sun"})) - best) < rounding);
}

TEST_CASE("METEOR-exact-stem of many captions is that of their statistics together", "[lm][captions][meteor]") {
  const std::vector<TokenizedCaption> captions{caption("cat dog", {"cat dog"}),
                                               caption("cat x bird", {"bird", "sun bird y cat"}),
                                               caption("moon", {"sun star", "sun"})};
  const CaptionMetric metric = meteor_exact_stem(captions);
  REQUIRE(metric.images.size() == 3);
  CHECK(metric.images[0] == 1);
  // Of the second: P = 1/3 and R = 1 in one chunk against P = 2/3, R = 1/2 in two.
  const double first = (1 - penalty(1, 1)) * f_mean(1. / 3, 1), second = (1 - penalty(2, 2)) * f_mean(2. / 3, 1. / 2);
  REQUIRE(first > second);
  CHECK(std::abs(metric.images[1] - first) < rounding);
  CHECK(metric.images[2] == 0);
  // Matches 2 + 1 + 0 of words 2 + 3 + 1 and 2 + 1 + 2 (of the third the first reference, as all are equal); chunks 0,
  // since all of the first matches, + 1 + 0.
  CHECK(std::abs(metric.corpus - (1 - penalty(1, 3)) * f_mean(3. / 6, 3. / 5)) < rounding);
}

TEST_CASE("an empty caption scores 0, and captions without references have no score", "[lm][captions][meteor]") {
  CHECK(meteor_of(caption("", {"a b"})) == 0);
  CHECK(meteor_of(caption("a", {""})) == 0);
  CHECK(meteor_of(caption("", {""})) == 0);
  CHECK_ERROR(meteor_exact_stem({}), usage, "METEOR-exact-stem", "at least one caption");
  CHECK_ERROR(meteor_of(caption("a", {})), usage, "METEOR-exact-stem", "caption 0 has no reference");
}

}  // namespace
}  // namespace stein::lm
