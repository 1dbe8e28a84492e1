#include <stein/core/checksum.h>
#include <stein/lm/scenes/caption_parser.h>
#include <stein/lm/scenes/caption_truth.h>
#include <stein/lm/scenes/scene_grammar.h>
#include <stein/lm/scenes/scene_set.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST_CASE("the vocabulary is small, closed, and without a noun or adjective that would want an \"an\"",
          "[lm][scenes]") {
  const std::vector<std::string> words = scene_vocabulary();
  CHECK(words == std::vector<std::string>{
                     "a",      "above",  "and",    "are",     "at",      "below",    "big",       "blue",    "bottom",
                     "box",    "boxes",  "circle", "circles", "cobalt",  "crimson",  "cross",     "crosses", "disc",
                     "discs",  "golden", "green",  "half",    "higher",  "huge",     "in",        "is",      "jade",
                     "large",  "left",   "little", "lower",   "of",      "on",       "one",       "over",    "picture",
                     "plus",   "pluses", "purple", "red",     "right",   "scarlet",  "see",       "shape",   "shapes",
                     "shows",  "small",  "snowy",  "square",  "squares", "than",     "the",       "there",   "thing",
                     "things", "three",  "tiny",   "to",      "top",     "triangle", "triangles", "two",     "under",
                     "upper",  "violet", "we",     "wedge",   "wedges",  "white",    "yellow"});
  for (int i = 0; i < shape_count; ++i)
    for (const std::string_view noun : nouns_of(static_cast<Shape>(i)))
      CHECK(std::string("aeiou").find(noun.front()) == std::string::npos);
}

TEST_CASE("every reference caption of every scene of the set is true, and no two of a scene are the same",
          "[lm][scenes]") {
  const SceneSet set = draw_scene_set();
  const std::vector<std::string> vocabulary = scene_vocabulary();
  const std::set<std::string> known(vocabulary.begin(), vocabulary.end());
  std::set<std::string> used;
  std::map<std::string, int> captions;
  for (const NumberedScene& scene : set.all()) {
    const std::vector<std::string> references = draw_captions(scene.scene, set.seed, scene.index);
    REQUIRE(references.size() == 5);
    for (const std::string& caption : references) {
      const CaptionVerdict verdict = judge_caption(caption, scene.scene);
      CAPTURE(caption, describe(scene.scene), verdict.reason);
      CHECK(verdict.truth == Truth::is_true);
      CHECK(verdict.reason.empty());
      CHECK(std::ranges::count(references, caption) == 1);
      for (const std::string& word : split(caption)) used.insert(word);
      ++captions[caption];
    }
  }
  // Every word of the vocabulary is reached, and no other.
  CHECK(used == known);
  CHECK(captions.size() > 9000);  // of 13,000: few are said of two scenes
}

TEST_CASE("every synonym and every kind of caption is reached", "[lm][scenes]") {
  std::map<std::string, int> phrases;
  const auto want = [&](Synonyms synonyms) {
    for (const std::string_view phrase : synonyms) phrases[" " + std::string(phrase) + " "] = 0;
  };
  for (int i = 0; i < colour_count; ++i) want(words_of(static_cast<Colour>(i)));
  for (int i = 0; i < size_count; ++i) want(words_of(static_cast<ObjectSize>(i)));
  for (int i = 0; i < side_count; ++i) want(phrases_of(static_cast<Side>(i)));
  for (int i = 0; i < relation_count; ++i) want(phrases_of(static_cast<Relation>(i)));
  for (int i = 0; i <= shape_count; ++i)
    for (const std::string_view noun : nouns_of(i < shape_count ? std::optional(static_cast<Shape>(i)) : std::nullopt))
      phrases[" " + std::string(noun) + " "] = phrases[" " + plural_of(noun) + " "] = 0;
  for (const std::string_view number : number_words) phrases[" " + std::string(number) + " "] = 0;
  for (const std::string_view opening : openings)
    if (!opening.empty()) phrases[" " + std::string(opening) + " "] = 0;
  phrases[" " + std::string(singular_opening) + " "] = phrases[" " + std::string(plural_opening) + " "] = 0;
  std::map<std::vector<std::size_t>, int> kinds;  // which claims follow one another
  for (std::uint32_t index = 0; index < 4000; ++index) {
    const Scene scene = draw_scene(9, index);
    for (const std::string& caption : draw_captions(scene, 9, index)) {
      for (auto& [phrase, count] : phrases) count += (" " + caption + " ").find(phrase) != std::string::npos ? 1 : 0;
      const ParsedCaption parsed = parse_caption(caption);
      REQUIRE(parsed.statement.has_value());
      std::vector<std::size_t> kind;
      for (const Claim& claim : *parsed.statement) kind.push_back(claim.index());
      ++kinds[kind];
    }
  }
  for (const auto& [phrase, count] : phrases) {
    CAPTURE(phrase);
    CHECK(count > 10);
  }
  // 0: an object, 1: a side, 2: a relation, 3: a number. Lists of one to three objects, each with a side or without;
  // one relation or two; one to three numbers.
  std::vector<std::vector<std::size_t>> wanted{{0, 0, 2}, {0, 0, 2, 0, 2}, {3}, {3, 3}, {3, 3, 3}};
  for (const std::vector<std::size_t>& first : {std::vector<std::size_t>{0}, {0, 1}}) {
    wanted.push_back(first);
    for (const std::vector<std::size_t>& second : {std::vector<std::size_t>{0}, {0, 1}}) {
      wanted.push_back(first);
      wanted.back().insert(wanted.back().end(), second.begin(), second.end());
      const std::vector<std::size_t> two = wanted.back();
      for (const std::vector<std::size_t>& third : {std::vector<std::size_t>{0}, {0, 1}}) {
        wanted.push_back(two);
        wanted.back().insert(wanted.back().end(), third.begin(), third.end());
      }
    }
  }
  for (const std::vector<std::size_t>& kind : wanted) CHECK(kinds[kind] > 10);
  CHECK(kinds.size() == wanted.size());
}

TEST_CASE("captions are the same each time, and others under another number or seed", "[lm][scenes]") {
  // Whoever trains on the set tomorrow has the captions of today.
  Sha256 checksum;
  for (const NumberedScene& numbered : draw_scene_set().all())
    for (std::string& line : draw_captions(numbered.scene, 0, numbered.index)) {
      line += '\n';
      checksum.update(std::as_bytes(std::span(line)));
    }
  CHECK(checksum.finish() == "d504c975887725f1c828b4446f6856ef8ec60e8f017453eb8446ae9540bae072");
  const Scene scene = draw_scene(0, 4);
  CHECK(draw_captions(scene, 0, 4) == draw_captions(scene, 0, 4));
  CHECK(draw_captions(scene, 0, 4) != draw_captions(scene, 0, 5));
  CHECK(draw_captions(scene, 0, 4) != draw_captions(scene, 1, 4));
  CHECK(draw_captions(scene, 0, 4, 20).size() == 20);
  CHECK_ERROR(draw_captions(scene, 0, 4, 0), usage, "1 to 20", "got 0");
  CHECK_ERROR(draw_captions(scene, 0, 4, 21), usage, "got 21");
  CHECK_ERROR(draw_captions({}, 0, 4), usage, "one to three objects", "got 0");
}

TEST_CASE("phrases have their words in order, and numbers above one a plural", "[lm][scenes]") {
  const WordChoice first = [](Synonyms words) { return words.front(); };
  const WordChoice last = [](Synonyms words) { return words.back(); };
  const Description full{.size = ObjectSize::small, .colour = Colour::red, .shape = Shape::square};
  CHECK(object_phrase(full, first) == "a small red square");
  CHECK(object_phrase(full, last) == "a tiny scarlet box");
  CHECK(object_phrase({}, first) == "a shape");
  CHECK(number_phrase(1, full, last) == "one tiny scarlet box");
  CHECK(number_phrase(2, full, last) == "two tiny scarlet boxes");
  CHECK(number_phrase(3, {.colour = Colour::white}, last) == "three snowy things");
  CHECK(number_phrase(2, {.shape = Shape::cross}, last) == "two pluses");
  CHECK_ERROR(number_phrase(4, full, first), usage, "1 to 3", "got 4");
}

}  // namespace
}  // namespace stein::lm
