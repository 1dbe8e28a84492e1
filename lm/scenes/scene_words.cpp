#include <stein/lm/scenes/scene_words.h>

#include <set>
#include <sstream>

namespace stein::lm {
namespace {

using Text = std::string_view;

constexpr Text red[] = {"red", "crimson", "scarlet"}, green[] = {"green", "jade"}, blue[] = {"blue", "cobalt"},
               yellow[] = {"yellow", "golden"}, purple[] = {"purple", "violet"}, white[] = {"white", "snowy"};
constexpr Text small[] = {"small", "little", "tiny"}, big[] = {"big", "large", "huge"};
constexpr Text circle[] = {"circle", "disc"}, square[] = {"square", "box"}, triangle[] = {"triangle", "wedge"},
               cross[] = {"cross", "plus"}, any_shape[] = {"shape", "thing"};
constexpr Text left[] = {"on the left", "in the left half"}, right[] = {"on the right", "in the right half"},
               top[] = {"at the top", "in the upper half"}, bottom[] = {"at the bottom", "in the lower half"};
constexpr Text left_of[] = {"left of", "to the left of"}, right_of[] = {"right of", "to the right of"},
               above[] = {"above", "over", "higher than"}, below[] = {"below", "under", "lower than"};

}  // namespace

Synonyms words_of(Colour colour) {
  constexpr Synonyms words[] = {red, green, blue, yellow, purple, white};
  return words[static_cast<int>(colour)];
}

Synonyms words_of(ObjectSize size) {
  return size == ObjectSize::big ? Synonyms(big) : Synonyms(small);
}

Synonyms nouns_of(std::optional<Shape> shape) {
  constexpr Synonyms words[] = {circle, square, triangle, cross};
  return shape ? words[static_cast<int>(*shape)] : Synonyms(any_shape);
}

std::string plural_of(std::string_view noun) {
  const bool hisses = noun.ends_with('s') || noun.ends_with('x');
  return std::string(noun) + (hisses ? "es" : "s");
}

Synonyms phrases_of(Side side) {
  constexpr Synonyms phrases[] = {left, right, top, bottom};
  return phrases[static_cast<int>(side)];
}

Synonyms phrases_of(Relation relation) {
  constexpr Synonyms phrases[] = {left_of, right_of, above, below};
  return phrases[static_cast<int>(relation)];
}

std::vector<std::string> scene_vocabulary() {
  std::set<std::string> words{"a", "and", "is"};
  const auto add = [&](std::string_view phrase) {
    std::istringstream stream{std::string(phrase)};
    for (std::string word; stream >> word;) words.insert(word);
  };
  const auto add_all = [&](Synonyms phrases) {
    for (const std::string_view phrase : phrases) add(phrase);
  };
  const auto add_nouns = [&](std::optional<Shape> shape) {
    for (const std::string_view noun : nouns_of(shape)) add(noun), add(plural_of(noun));
  };
  for (int i = 0; i < colour_count; ++i) add_all(words_of(static_cast<Colour>(i)));
  for (int i = 0; i < size_count; ++i) add_all(words_of(static_cast<ObjectSize>(i)));
  for (int i = 0; i < shape_count; ++i) add_nouns(static_cast<Shape>(i));
  add_nouns(std::nullopt);
  for (int i = 0; i < side_count; ++i) add_all(phrases_of(static_cast<Side>(i)));
  for (int i = 0; i < relation_count; ++i) add_all(phrases_of(static_cast<Relation>(i)));
  add_all(number_words), add_all(openings), add(singular_opening), add(plural_opening);
  return {words.begin(), words.end()};
}

}  // namespace stein::lm
