#include <stein/core/rng.h>
#include <stein/lm/scenes/caption_parser.h>
#include <stein/lm/scenes/caption_truth.h>
#include <stein/lm/scenes/scene_grammar.h>
#include <stein/lm/scenes/scene_set.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>

#include "lm/scenes/caption_words.h"

namespace stein::lm {
namespace {

SceneObject object(ObjectSize size, Colour colour, Shape shape, double x, double y) {
  return {shape, colour, size, x, y, size == ObjectSize::big ? 5.0 : 3.0};
}

/// A big red circle left of a small blue square, and a small red triangle below them in the middle.
Scene example() {
  return {{object(ObjectSize::big, Colour::red, Shape::circle, 7, 8),
           object(ObjectSize::small, Colour::blue, Shape::square, 24, 8),
           object(ObjectSize::small, Colour::red, Shape::triangle, 16, 26)}};
}

TEST_CASE("a false caption is refused by its first false claim", "[lm][scenes]") {
  const auto reason = [](const char* caption) {
    const CaptionVerdict verdict = judge_caption(caption, example());
    CAPTURE(caption);
    CHECK(verdict.truth == Truth::is_false);
    return verdict.reason;
  };
  CHECK(judge_caption("a big red circle is left of a small blue square", example()).truth == Truth::is_true);
  CHECK(reason("a big jade circle is left of a small blue square") == "a big green circle");
  CHECK(reason("a big red circle is left of a small blue wedge") == "a small blue triangle");
  CHECK(reason("a little red circle is left of a small blue square") == "a small red circle");
  CHECK(reason("a big red circle is to the right of a small blue square") ==
        "a big red circle is right of a small blue square");
  CHECK(reason("a big red disc above a small blue square") == "a big red circle is above a small blue square");
  CHECK(reason("a red circle left of a triangle and below a box") == "a red circle is below a square");
  CHECK(reason("there are two big things") == "two big shapes");
  CHECK(reason("two red things and two small things and two discs") == "two circles");
  CHECK(reason("one red thing") == "one red shape");
  CHECK(reason("three things and two red boxes") == "two red squares");
  CHECK(reason("a red circle on the right") == "a red circle is on the right");
  CHECK(reason("a triangle is on the left") == "a triangle is on the left");
  CHECK(reason("a circle and a circle") == "another circle");
  CHECK(reason("a blue thing and a small square") == "another small square");
  CHECK(reason("a red thing and a red thing and a red thing") == "another red shape");
}

TEST_CASE("an object of a caption stands for whichever object of the scene makes it true", "[lm][scenes]") {
  const auto is_true = [](const char* caption) { return judge_caption(caption, example()).truth == Truth::is_true; };
  CHECK(is_true("a red thing below a square"));                         // the triangle
  CHECK(is_true("a red thing left of a square and above a triangle"));  // the circle
  CHECK(is_true("a red thing left of a square and below a circle"));    // the triangle, 8 pixels left of the square
  CHECK_FALSE(is_true("a big red thing left of a square and below a shape"));
  // Two phrases never mean one object.
  CHECK_FALSE(is_true("a circle left of a square and left of a blue thing"));
  CHECK(is_true("a circle left of a square and left of a red thing"));
  CHECK(is_true("a red thing and a red thing and a blue thing"));
}

TEST_CASE("sides and relations that are not clear are false", "[lm][scenes]") {
  const Scene scene{{object(ObjectSize::small, Colour::red, Shape::circle, 11, 11.25),
                     object(ObjectSize::small, Colour::blue, Shape::square, 16, 20)}};
  CHECK(judge_caption("a circle is on the left", scene).truth == Truth::is_true);
  CHECK(judge_caption("a circle is at the top", scene).truth == Truth::is_false);  // 4.75 pixels above the middle
  CHECK(judge_caption("a circle is left of a square", scene).truth == Truth::is_true);
  CHECK(judge_caption("a square is at the bottom", scene).truth == Truth::is_false);
}

TEST_CASE("what is no caption of the language is told from what is false, by its first words that do not fit",
          "[lm][scenes]") {
  const auto misfit = [](std::string_view caption) {
    const CaptionVerdict verdict = judge_caption(caption, example());
    CAPTURE(caption);
    CHECK(verdict.truth == Truth::no_caption);
    CHECK_FALSE(parse_caption(caption).statement.has_value());
    return verdict.reason;
  };
  CHECK(misfit("a dog") == "a dog");
  CHECK(misfit("a red big circle") == "a red big");
  CHECK(misfit("a circle a square") == "a circle a");
  CHECK(misfit("circle") == "circle");
  CHECK(misfit("a circles") == "a circles");
  CHECK(misfit("two circle") == "two circle");
  CHECK(misfit("one boxes") == "one boxes");
  CHECK(misfit("there are a circle") == "there are a");
  CHECK(misfit("there is two circles") == "there is two");
  CHECK(misfit("there are one circle") == "there are one");
  CHECK(misfit("there is a circle is on the left") == "there is a circle is");
  CHECK(misfit("a circle is a square") == "a circle is a");
  CHECK(misfit("a circle is and a square") == "a circle is and");
  CHECK(misfit("a circle left of a square and a triangle") == "a circle left of a square and a");
  CHECK(misfit("a circle left of a square and at the top") == "a circle left of a square and at");
  CHECK(misfit("a circle left of a square on the left") == "a circle left of a square on");
  CHECK(misfit("a circle is left of a square and above a box and below a box") ==
        "a circle is left of a square and above a box and");
  CHECK(misfit("a circle is on the left and a square") == "a circle is on the left and");
  CHECK(misfit("a circle to the top") == "a circle to the top");
  CHECK(misfit("a circle in the left of a square") == "a circle in the left of");
  CHECK(misfit("a box and a box and a box and a box") == "a box and a box and a box and");
  CHECK(misfit("one box and one box and one box and one box") == "one box and one box and one box and");
  CHECK(misfit("one box and a circle") == "one box and a");
  CHECK(misfit("a box and one circle") == "a box and one");
  CHECK(misfit("a circle .") == "a circle .");
  CHECK(misfit("A circle") == "A");
  CHECK(misfit("a  circle") == "a ");
  CHECK(misfit(" a circle") == "");
  CHECK(misfit("a circle ") == "a circle ");
  // The beginning of a caption.
  CHECK(misfit("") == " …");
  CHECK(misfit("a big") == "a big …");
  CHECK(misfit("a picture of") == "a picture of …");
  CHECK(misfit("a circle in the") == "a circle in the …");
  CHECK(misfit("a circle and") == "a circle and …");
}

/// `caption` with the first of the words that stand in `from` for a property replaced by one for another; empty where
/// it has none.
std::string swapped(const std::string& caption, const std::map<std::string, int>& words, Draws& draws) {
  const std::string padded = " " + caption + " ";
  std::vector<std::pair<std::string, int>> longest_first(words.begin(),
                                                         words.end());  // "left of" is in "to the left of"
  std::ranges::stable_sort(longest_first, std::ranges::greater(), [](const auto& entry) { return entry.first.size(); });
  for (const auto& [word, value] : longest_first) {
    const std::size_t place = padded.find(" " + word + " ");
    if (place == std::string::npos) continue;
    while (true) {
      const auto& [other, other_value] =
          *std::next(words.begin(), draws.integer(static_cast<std::uint32_t>(words.size())));
      if (other_value == value) continue;
      const std::string result = padded.substr(0, place + 1) + other + padded.substr(place + 1 + word.size());
      return result.substr(1, result.size() - 2);
    }
  }
  return {};
}

TEST_CASE("planted falsehoods are all found: a colour, a size, a shape, a side, a relation, a number", "[lm][scenes]") {
  const std::map<std::string, int> numbers{{"two", 2}, {"three", 3}};
  std::array<int, 6> planted{};
  for (const NumberedScene& scene : draw_scene_set().all()) {
    const auto same = [&](auto property) {
      for (std::size_t i = 0; i < scene.scene.objects.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (scene.scene.objects[i].*property == scene.scene.objects[j].*property) return true;
      return false;
    };
    const auto has = [&](auto property, int value) {
      return std::ranges::any_of(
          scene.scene.objects, [&](const SceneObject& object) { return static_cast<int>(object.*property) == value; });
    };
    Draws draws({.seed = 5}, scene.index);
    for (const std::string& caption : draw_captions(scene.scene, 0, scene.index)) {
      const auto expect_false = [&](std::size_t kind, const std::string& false_caption) {
        if (false_caption.empty()) return;
        CAPTURE(caption, false_caption, describe(scene.scene));
        CHECK(judge_caption(false_caption, scene.scene).truth == Truth::is_false);
        ++planted[kind];
      };
      // To a property that no object of the scene has.
      const auto absent = [&](const std::map<std::string, int>& words, auto property) {
        for (int attempt = 0; attempt < 20; ++attempt) {
          const std::string other = swapped(caption, words, draws);
          const auto is_absent = [&](const auto& entry) {
            return entry.second >= 0 && !has(property, entry.second) &&
                   (" " + other + " ").find(" " + entry.first + " ") != std::string::npos;
          };
          if (!other.empty() && std::ranges::any_of(words, is_absent)) return other;
        }
        return std::string();
      };
      expect_false(0, absent(colours, &SceneObject::colour));
      expect_false(1, absent(sizes, &SceneObject::size));
      expect_false(2, absent(nouns, &SceneObject::shape));
      if (scene.scene.objects.size() == 1) {
        // A single object cannot be on the opposite side too; a swap to the other axis may be true.
        std::map<std::string, int> across, along;
        for (const auto& [words, direction] : sides) (direction < 2 ? across : along)[words] = direction;
        expect_false(3, swapped(caption, across, draws));
        expect_false(3, swapped(caption, along, draws));
      }
      if (!same(&SceneObject::colour) && !same(&SceneObject::shape)) {
        // Each phrase says a colour or a shape, and so means one object.
        std::map<std::string, int> across, along;
        for (const auto& [words, direction] : relations) (direction < 2 ? across : along)[words] = direction;
        expect_false(4, swapped(caption, across, draws));
        expect_false(4, swapped(caption, along, draws));
      }
      expect_false(5, swapped(caption, numbers, draws));
    }
  }
  for (const int count : planted) CHECK(count > 200);
}

}  // namespace
}  // namespace stein::lm
