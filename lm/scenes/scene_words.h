// The words with which captions of scenes are written: closed, lower-case, no punctuation. No noun begins with a vowel,
// so that "a" is the only article.
#pragma once

#include <stein/lm/scenes/scene.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein::lm {

/// Words or phrases that mean the same, the most usual one first.
using Synonyms = std::span<const std::string_view>;

Synonyms words_of(Colour colour);
Synonyms words_of(ObjectSize size);
/// Singular nouns; without a shape those that fit every object.
Synonyms nouns_of(std::optional<Shape> shape);
/// "circle" to "circles", "box" to "boxes".
std::string plural_of(std::string_view noun);
Synonyms phrases_of(Side side);
Synonyms phrases_of(Relation relation);
/// "one", "two", "three".
inline constexpr std::array<std::string_view, 3> number_words{"one", "two", "three"};
/// What may stand before objects, whatever their number; the empty text is no words at all.
inline constexpr std::array<std::string_view, 4> openings{"", "we see", "a picture of", "the picture shows"};
/// What may stand before one object, or a list that begins with one.
inline constexpr std::string_view singular_opening = "there is";
/// What may stand before a number above one.
inline constexpr std::string_view plural_opening = "there are";

/// Every word that a caption of a scene may have, in alphabetical order.
std::vector<std::string> scene_vocabulary();

}  // namespace stein::lm
