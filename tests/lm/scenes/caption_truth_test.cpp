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

namespace stein::lm {
namespace {

// What a caption means, told again by other means than the product's: words from a table of their own, and all ways to
// let the objects of a scene stand for those of the caption.

/// Every adjective and singular noun with the property that it means.
const std::map<std::string, int> sizes{{"small", 0}, {"little", 0}, {"tiny", 0}, {"big", 1}, {"large", 1}, {"huge", 1}};
const std::map<std::string, int> colours{{"red", 0},    {"crimson", 0}, {"scarlet", 0}, {"green", 1},  {"jade", 1},
                                         {"blue", 2},   {"cobalt", 2},  {"yellow", 3},  {"golden", 3}, {"purple", 4},
                                         {"violet", 4}, {"white", 5},   {"snowy", 5}};
const std::map<std::string, int> nouns{{"circle", 0}, {"disc", 0},  {"square", 1}, {"box", 1},    {"triangle", 2},
                                       {"wedge", 2},  {"cross", 3}, {"plus", 3},   {"shape", -1}, {"thing", -1}};
const std::map<std::string, int> plurals{{"circles", 0},   {"discs", 0},  {"squares", 1}, {"boxes", 1},
                                         {"triangles", 2}, {"wedges", 2}, {"crosses", 3}, {"pluses", 3},
                                         {"shapes", -1},   {"things", -1}};
/// 0 left, 1 right, 2 above, 3 below.
const std::map<std::string, int> sides{{"on the left", 0},       {"in the left half", 0}, {"on the right", 1},
                                       {"in the right half", 1}, {"at the top", 2},       {"in the upper half", 2},
                                       {"at the bottom", 3},     {"in the lower half", 3}};
const std::map<std::string, int> relations{
    {"left of", 0}, {"to the left of", 0}, {"right of", 1}, {"to the right of", 1}, {"above", 2},
    {"over", 2},    {"higher than", 2},    {"below", 3},    {"under", 3},           {"lower than", 3}};

/// The properties of a phrase; −1 is unsaid.
struct Phrase {
  int size = -1, colour = -1, shape = -1;
  std::string words;

  bool fits(const SceneObject& object) const {
    return (size < 0 || size == static_cast<int>(object.size)) &&
           (colour < 0 || colour == static_cast<int>(object.colour)) &&
           (shape < 0 || shape == static_cast<int>(object.shape));
  }
};

/// How far `a` lies in direction 0 left, 1 right, 2 up, 3 down of a point.
double distance(const SceneObject& a, double x, double y, int direction) {
  const std::array<double, 4> distances{x - a.x, a.x - x, y - a.y, a.y - y};
  return distances[static_cast<std::size_t>(direction)];
}

/// A random caption and its meaning.
class RandomCaption {
 public:
  explicit RandomCaption(Draws& draws) : draws_(draws) {
    switch (draws_.integer(4)) {
      case 0: relation(1); break;
      case 1: relation(2); break;
      case 2: items(); break;
      default: numbers();
    }
  }

  const std::string& text() const { return text_; }

  bool is_true(const Scene& scene) const {
    for (const auto& number : numbers_) {
      const auto fits = [&](const SceneObject& object) { return number.second.fits(object); };
      if (std::ranges::count_if(scene.objects, fits) != number.first) return false;
    }
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
      if (is_true_of(scene, order)) return true;
    } while (std::ranges::next_permutation(order).found);
    return false;
  }

 private:
  template <class Map>
  const auto& one_of(const Map& map) {
    return *std::next(map.begin(), draws_.integer(static_cast<std::uint32_t>(map.size())));
  }

  Phrase phrase(const std::map<std::string, int>& words) {
    Phrase made;
    const auto add = [&](const auto& map, int& property) {
      const auto& [word, value] = one_of(map);
      made.words += (made.words.empty() ? "" : " ") + word, property = value;
    };
    if (draws_.integer(2) == 0) add(sizes, made.size);
    if (draws_.integer(2) == 0) add(colours, made.colour);
    add(words, made.shape);
    return made;
  }

  std::string object() {
    objects_.push_back(phrase(nouns));
    return "a " + objects_.back().words;
  }

  std::string related() {
    const auto& [words, direction] = one_of(relations);
    std::string text = " " + words + " " + object();
    related_.push_back({objects_.size() - 1, direction});
    return text;
  }

  void relation(int count) {
    const std::string opening = any_opening("there is ");
    text_ = opening + object();
    if (opening.empty() && draws_.integer(2) == 0) text_ += " is";
    text_ += related();
    if (count == 2) text_ += " and" + related();
  }

  std::string with_side(bool must) {
    std::string text = object();
    if (!must && draws_.integer(2) == 0) return text;
    const auto& [words, direction] = one_of(sides);
    sided_.push_back({objects_.size() - 1, direction});
    return text + " " + words;
  }

  void items() {
    if (draws_.integer(4) == 0) {
      text_ = with_side(true);
      text_.insert(text_.find(" " + std::string(last_side())), " is");
      return;
    }
    text_ = any_opening("there is ");
    text_ += with_side(false);
    for (std::uint32_t more = draws_.integer(3); more > 0; --more) text_ += " and " + with_side(false);
  }

  std::string last_side() const {
    for (const auto& [words, direction] : sides)
      if (text_.ends_with(" " + words)) return words;
    return {};
  }

  void numbers() {
    const std::uint32_t count = 1 + draws_.integer(3);
    for (std::uint32_t i = 0; i < count; ++i) {
      const int number = 1 + static_cast<int>(draws_.integer(3));
      numbers_.push_back({number, phrase(number == 1 ? nouns : plurals)});
      text_ += (i > 0 ? " and " : "") +
               std::array<std::string, 3>{"one ", "two ", "three "}[static_cast<std::size_t>(number - 1)] +
               numbers_.back().second.words;
    }
    text_ = any_opening(numbers_.front().first == 1 ? "there is " : "there are ") + text_;
  }

  std::string any_opening(const std::string& own) {
    return std::array<std::string, 5>{"", "we see ", "a picture of ", "the picture shows ", own}[draws_.integer(5)];
  }

  bool is_true_of(const Scene& scene, const std::array<std::size_t, 3>& order) const {
    if (objects_.size() > scene.objects.size()) return false;
    const auto stands_for = [&](std::size_t i) -> const SceneObject& { return scene.objects[order[i]]; };
    for (std::size_t i = 0; i < objects_.size(); ++i)
      if (order[i] >= scene.objects.size() || !objects_[i].fits(stands_for(i))) return false;
    for (const auto& [object, direction] : sided_)
      if (distance(stands_for(object), 16, 16, direction) < 5) return false;
    for (const auto& [other, direction] : related_)
      if (distance(stands_for(0), stands_for(other).x, stands_for(other).y, direction) < 5) return false;
    return true;
  }

  Draws& draws_;
  std::string text_;
  std::vector<Phrase> objects_;
  std::vector<std::pair<std::size_t, int>> sided_, related_;  ///< object, direction
  std::vector<std::pair<int, Phrase>> numbers_;
};

TEST_CASE("the truth of random captions is that of a brute-force search", "[lm][scenes]") {
  std::array<int, 2> counts{};
  for (std::uint32_t round = 0; round < 300'000; ++round) {
    Draws draws({.seed = 3}, round);
    const Scene scene = draw_scene(11, round % 500);
    const RandomCaption caption(draws);
    const CaptionVerdict verdict = judge_caption(caption.text(), scene);
    const bool is_true = caption.is_true(scene);
    ++counts[is_true ? 1 : 0];
    if (verdict.truth != (is_true ? Truth::is_true : Truth::is_false) || verdict.reason.empty() != is_true) {
      CAPTURE(caption.text(), describe(scene), is_true, verdict.reason);
      FAIL("the verdict is wrong");
    }
  }
  CHECK(counts[0] > 50'000);
  CHECK(counts[1] > 10'000);
}

/// Every description: 3 sizes with the unsaid one, 7 colours, 5 shapes.
std::vector<Phrase> all_phrases() {
  const std::vector<std::pair<int, std::string>> sizes_said{{-1, ""}, {0, "small "}, {1, "big "}},
      colours_said{{-1, ""}, {0, "red "}, {1, "green "}, {2, "blue "}, {3, "yellow "}, {4, "purple "}, {5, "white "}},
      shapes_said{{-1, "shape"}, {0, "circle"}, {1, "square"}, {2, "triangle"}, {3, "cross"}};
  std::vector<Phrase> phrases;
  for (const auto& [size, size_word] : sizes_said)
    for (const auto& [colour, colour_word] : colours_said)
      for (const auto& [shape, shape_word] : shapes_said)
        phrases.push_back({size, colour, shape, "a " + size_word + colour_word + shape_word});
  return phrases;
}

TEST_CASE("all 44,100 relations between two descriptions are judged exactly", "[lm][scenes]") {
  const std::vector<Phrase> phrases = all_phrases();
  REQUIRE(phrases.size() == 105);
  const std::array<std::string, 4> words{" is left of ", " is right of ", " is above ", " is below "};
  std::int64_t wrong = 0, found = 0;
  for (const std::uint32_t index : {2U, 4U, 9U}) {  // three objects each, in the last three small triangles
    const Scene scene = draw_scene(0, index);
    for (const Phrase& subject : phrases)
      for (int direction = 0; direction < 4; ++direction)
        for (const Phrase& other : phrases) {
          bool is_true = false;
          for (const SceneObject& a : scene.objects)
            for (const SceneObject& b : scene.objects)
              is_true |= &a != &b && subject.fits(a) && other.fits(b) && distance(a, b.x, b.y, direction) >= 5;
          const std::string caption = subject.words + words[static_cast<std::size_t>(direction)] + other.words;
          wrong += judge_caption(caption, scene).truth != (is_true ? Truth::is_true : Truth::is_false) ? 1 : 0;
          found += is_true ? 1 : 0;
        }
  }
  CHECK(wrong == 0);
  CHECK(found > 1000);
}

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
