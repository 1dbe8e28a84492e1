#include <stein/lm/captions/bleu.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "lm/captions/caption_words.h"

namespace stein::lm {
namespace {

using test::caption;
using test::rounding;

Bleu bleu_of(const TokenizedCaption& single) {
  return bleu(std::span(&single, 1)).corpus;
}

void check(const Bleu& found, const Bleu& expected) {
  for (std::size_t n = 0; n < 4; ++n) {
    CAPTURE(n, found[n], expected[n]);
    CHECK(std::abs(found[n] - expected[n]) < rounding);
  }
}

TEST_CASE("a caption that is one of its references has BLEU 1", "[lm][captions][bleu]") {
  check(bleu_of(caption("a man rides a horse", {"two dogs", "a man rides a horse"})), {1, 1, 1, 1});
}

TEST_CASE("BLEU is the geometric mean of precisions times the brevity penalty", "[lm][captions][bleu]") {
  // Of 5, 4, 3 and 2 n-grams 5, 3 (ab bc de), 1 (abc) and 0 match; 5 words against 6.
  const double b = std::exp(1 - 6. / 5);
  check(bleu_of(caption("a b c d e", {"a b c x d e"})), {b, b * std::sqrt(3. / 4), b * std::cbrt(3. / 4 / 3), 0});
}

TEST_CASE("an n-gram matches no more often than one reference has it", "[lm][captions][bleu]") {
  // The example of Papineni et al.: "the" stands 7 times in the caption, twice and once in the references.
  check(bleu_of(caption("the the the the the the the", {"the cat is on the mat", "there is a cat on the mat"})),
        {2. / 7, 0, 0, 0});
  // Twice in the first reference: not three times in both together.
  check(bleu_of(caption("a a a", {"a a x", "a y z"})), {2. / 3, std::sqrt(2. / 3 * 1 / 2), 0, 0});
}

TEST_CASE("the reference whose length is closest counts for brevity, of two the shorter", "[lm][captions][bleu]") {
  // 5 words: 6 is closer than 3, and than 9.
  check(bleu_of(caption("a b c d e", {"a b c", "a b c d e x", "a b c d e x x x x"})),
        {std::exp(1 - 6. / 5), std::exp(1 - 6. / 5), std::exp(1 - 6. / 5), std::exp(1 - 6. / 5)});
  // 4 and 6 are equally close: 4 < 5 has no penalty.
  check(bleu_of(caption("a b c d e", {"a b c d e x", "a b c d"})), {1, 1, 1, 1});
}

TEST_CASE("a caption that is longer than its references has no penalty but its precision", "[lm][captions][bleu]") {
  check(bleu_of(caption("a b c d", {"a b c"})),
        {3. / 4, std::sqrt(3. / 4 * 2 / 3), std::cbrt(3. / 4 * 2 / 3 * 1 / 2), 0});
}

TEST_CASE("BLEU of many captions is that of their counts together", "[lm][captions][bleu]") {
  // Words: 1 of 2 and 4 of 4 match. Pairs: 0 of 1, 3 of 3. c = 6, r = 3 + 5.
  const std::vector<TokenizedCaption> captions{caption("a x", {"a b c"}), caption("a b c d", {"a b c d e"})};
  const BleuScores scores = bleu(captions);
  const double b = std::exp(1 - 8. / 6);
  check(scores.corpus, {b * 5 / 6, b * std::sqrt(5. / 6 * 3 / 4), b * std::cbrt(5. / 6 * 3 / 4 * 1),
                        b * std::pow(5. / 6 * 3 / 4, .25)});
  REQUIRE(scores.images.size() == 2);
  check(scores.images[0], {std::exp(1 - 3. / 2) / 2, 0, 0, 0});
  check(scores.images[1], {std::exp(1 - 5. / 4), std::exp(1 - 5. / 4), std::exp(1 - 5. / 4), std::exp(1 - 5. / 4)});
}

TEST_CASE("an empty caption has BLEU 0, and captions without references have none", "[lm][captions][bleu]") {
  check(bleu_of(caption("", {"a b"})), {0, 0, 0, 0});
  check(bleu_of(caption("a", {""})), {0, 0, 0, 0});
  CHECK_ERROR(bleu({}), usage, "BLEU", "at least one caption");
  CHECK_ERROR(bleu_of(caption("a", {})), usage, "BLEU", "caption 0 has no reference");
}

}  // namespace
}  // namespace stein::lm
