#include <stein/lm/captions/cider_d.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "lm/captions/caption_words.h"

namespace stein::lm {
namespace {

using test::caption;
using test::rounding;

TEST_CASE("CIDEr-D of three images is what it is by hand", "[lm][captions][cider]") {
  const std::vector<TokenizedCaption> captions{caption("a cat", {"a cat", "a cat sits"}),
                                               caption("a dog dog", {"a dog"}), caption("the moon", {"the sun"})};
  // Document frequencies: "a" 2 (images 1 and 2), every other n-gram of a reference 1, "cat" too, which stands in two
  // references of image 1; n-grams that no reference has count as 1.
  const double a = std::log(3. / 2), other = std::log(3.), length_1 = std::exp(-1. / 72);  // lengths differ by 1, σ = 6
  const double a2 = a * a, other2 = other * other;
  // Image 1, first reference: equal for n = 1 and 2; there are no longer n-grams. Second: n = 1: a and cat against a,
  // cat and sits; n = 2: one of two.
  const double image_1 =
      10. / 4 / 2 * (2 + length_1 * (std::sqrt((a2 + other2) / (a2 + 2 * other2)) + 1 / std::sqrt(2.)));
  // Image 2, n = 1: dog has the weight 2 ln 3 in the caption and counts ln 3; n = 2: "a dog" of "a dog", "dog dog"; n =
  // 3: the reference has none.
  const double image_2 =
      10. / 4 * length_1 * ((a2 + other2) / std::sqrt((a2 + 4 * other2) * (a2 + other2)) + 1 / std::sqrt(2.));
  // Image 3: n = 1: "the" of "the moon" and "the sun".
  const double image_3 = 10. / 4 * (1. / 2);
  const CaptionMetric metric = cider_d(captions);
  REQUIRE(metric.images.size() == 3);
  CHECK(std::abs(metric.images[0] - image_1) < rounding);
  CHECK(std::abs(metric.images[1] - image_2) < rounding);
  CHECK(std::abs(metric.images[2] - image_3) < rounding);
  CHECK(std::abs(metric.corpus - (image_1 + image_2 + image_3) / 3) < rounding);
}

TEST_CASE("a caption that equals its only reference has CIDEr-D 10 if it has four words", "[lm][captions][cider]") {
  const std::vector<TokenizedCaption> captions{caption("a man rides a horse", {"a man rides a horse"}),
                                               caption("two dogs", {"two dogs"})};
  const CaptionMetric metric = cider_d(captions);
  CHECK(std::abs(metric.images[0] - 10) < rounding);
  CHECK(std::abs(metric.images[1] - 5) < rounding);  // n = 1 and 2 of four
}

TEST_CASE("n-grams are clipped at the reference's weight", "[lm][captions][cider]") {
  // Image 1: "cat" has the weights 3 L and L with L = ln 2: min(3L, L) L / (3L L) = 1/3, not 1. Lengths differ by 2.
  const std::vector<TokenizedCaption> captions{caption("cat cat cat", {"cat"}), caption("dog", {"dog"})};
  CHECK(std::abs(cider_d(captions).images[0] - 10. / 4 * std::exp(-4. / 72) / 3) < rounding);
}

TEST_CASE("what every image has says nothing: a single image has CIDEr-D 0", "[lm][captions][cider]") {
  const std::vector<TokenizedCaption> single{caption("a cat sits here", {"a cat sits here"})};
  CHECK(cider_d(single).corpus == 0);
  const std::vector<TokenizedCaption> same{caption("a cat", {"a cat"}), caption("a cat", {"a cat"})};
  CHECK(cider_d(same).corpus == 0);
  const std::vector<TokenizedCaption> empty{caption("", {"a cat"}), caption("a", {""})};
  CHECK(cider_d(empty).corpus == 0);
  CHECK_ERROR(cider_d({}), usage, "CIDEr-D", "at least one caption");
  const std::vector<TokenizedCaption> none{caption("a", {"b"}), caption("a", {})};
  CHECK_ERROR(cider_d(none), usage, "CIDEr-D", "caption 1 has no reference");
}

}  // namespace
}  // namespace stein::lm
