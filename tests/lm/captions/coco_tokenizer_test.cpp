#include <stein/core/read_file.h>
#include <stein/lm/captions/coco_tokenizer.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "caption_words.h"
#include "core/error_matcher.h"

namespace stein::lm {
namespace {

using test::words;

TEST_CASE("captions have the words that PTBTokenizer and COCO's punctuation leave", "[lm][captions][tokenizer]") {
  const auto vectors = nlohmann::json::parse(read_file(STEIN_TESTS "/lm/reference/caption_vectors.json"));
  REQUIRE(vectors["words"].size() == 20);
  for (const auto& vector : vectors["words"]) {
    const auto caption = vector["caption"].get<std::string>();
    CAPTURE(caption);
    CHECK(coco_words(caption) == vector["words"].get<Words>());
  }
}

TEST_CASE("punctuation is dropped and words are in lower case", "[lm][captions][tokenizer]") {
  CHECK(coco_words("A man -- a Cat, (two) dogs: \"one\"; `it' ... no? Yes! - .") ==
        words("a man a cat -lrb- two -rrb- dogs one it no yes"));
  CHECK(coco_words("“Élan” … ‘Ωmega’ – done").size() == 3);
  CHECK(coco_words("Élan ΩMEGA") == words("élan ωmega"));
  CHECK(coco_words("").empty());
  CHECK(coco_words(" \t\n . ").empty());
}

TEST_CASE("contractions are cut before their ending, with either apostrophe", "[lm][captions][tokenizer]") {
  CHECK(coco_words("don't can't won't I'm he'd it's they're we've she'll should've") ==
        words("do n't ca n't wo n't i 'm he 'd it 's they 're we 've she 'll should 've"));
  CHECK(coco_words("don’t it’s") == words("do n't it 's"));
  CHECK(coco_words("Cannot, gonna. 'tis 'Twas") == words("can not gon na 't is 't was"));
  CHECK(coco_words("cannots he'sgone") == words("cannots he sgone"));
  CHECK(coco_words("o'clock O'Brien d'Angelo l'eau ma'am 'em 'til 'n' '90s '90 ol' goin'") ==
        words("o'clock o'brien d'angelo l'eau ma'am 'em 'til 'n' '90s '90 ol' goin"));
  CHECK(coco_words("d's o'll '905 '9") == words("d 's o 'll 905 9"));
}

TEST_CASE("hyphens, slashes and dots join words, where they stand between them", "[lm][captions][tokenizer]") {
  CHECK(coco_words("well-known -foo foo- a--b 3-D 5-6-7 foo_bar") == words("well-known foo foo a b 3-d 5-6-7 foo_bar"));
  CHECK(coco_words("and/or a/b/c/d a/ /b") == words("and/or a/b/c / d a / / b"));
  CHECK(coco_words("dogs.cats dogs!cats dogs. cats dogs,cats 5ft.tall") ==
        words("dogs.cats dogs!cats dogs cats dogs cats 5ft tall"));
}

TEST_CASE("abbreviations keep their dot, sentences do not", "[lm][captions][tokenizer]") {
  CHECK(coco_words("Mr. Mr p.m. U.S. St. Ph.D. etc. cat. in. no. 5 no. five") ==
        words("mr. mr p.m. u.s. st. ph.d. etc. cat in no. 5 no five"));
  CHECK(coco_words("Mass. mass. Ill. ill.") == words("mass. mass ill. ill"));
  CHECK(coco_words("plan b. They go") == words("plan b they go"));
  CHECK(coco_words("plan b. they go to J. Smith") == words("plan b. they go to j. smith"));
}

TEST_CASE("numbers keep their signs, commas, dots and colons", "[lm][captions][tokenizer]") {
  CHECK(coco_words("1,000.5 -3 +4 5:30 .5 5. 1+2 50% #5 $5 £5 €5 5¢ ½ 1/2 3rd") ==
        words("1,000.5 -3 +4 5:30 .5 5 1 +2 50 % # 5 $ 5 # 5 $ 5 5 cents 1/2 1/2 3rd"));
}

TEST_CASE("words that are tokenized again stay what they are", "[lm][captions][tokenizer]") {
  const char* caption = "A man's t-shirt (red) isn't at St. John's, they've said: 5 o'clock p.m. and/or 1,000.5 -3";
  const Words once = coco_words(caption);
  std::string text;
  for (const std::string& word : once) text += word + " ";
  CHECK(coco_words(text) == once);
}

TEST_CASE("any text is tokenized, and what is no UTF-8 is refused", "[lm][captions][tokenizer]") {
  for (const char* odd : {"'", "\"", "`", "@",   "#",  "<",  "<b",  "&amp", "http://", "www.", "a@",
                          "-", "+",  ".", "n't", "y'", "'n", "ol'", "C",    "c+",      "US$"})
    CHECK_NOTHROW(coco_words(odd));
  CHECK(coco_words(std::string("a\0b", 3)) == words("a b"));
  CHECK(coco_words("a😀b") == words("a b"));
  CHECK_ERROR(coco_words("na\xefve"), data, "expected a caption in UTF-8", "na\\xefve");
}

}  // namespace
}  // namespace stein::lm
