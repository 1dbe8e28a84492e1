#include <stein/core/rng.h>
#include <stein/lm/scenes/caption_truth.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <iterator>

#include "lm/scenes/caption_words.h"

namespace stein::lm {
namespace {

// What a caption means, told again by other means than the product's: words from a table of their own, and all ways to
// let the objects of a scene stand for those of the caption.

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

}  // namespace
}  // namespace stein::lm
