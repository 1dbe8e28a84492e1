// The language of captions of scenes, and reference captions drawn from it.
//
//   caption  := [opening] items | [opening] object relation object ["and" relation object]
//             | object "is" side | object "is" relation object ["and" relation object] | [opening] numbers
//   items    := item {"and" item}         one to three of them
//   item     := object [side]
//   numbers  := number {"and" number}     one to three of them
//   object   := "a" [size] [colour] noun                      "a big crimson disc"
//   number   := ("one" | "two" | "three") [size] [colour] noun, a plural behind "two" and "three"
//
// The words stand in scene_words.h. "there is" opens objects and a list of numbers that begins with "one", "there are"
// one that begins with another number, the other openings anything. What the captions mean stands in scene_statement.h.
#pragma once

#include <stein/lm/scenes/scene_statement.h>
#include <stein/lm/scenes/scene_words.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stein::lm {

/// Takes one of several words that mean the same.
using WordChoice = std::function<std::string_view(Synonyms)>;

/// "a big red circle".
std::string object_phrase(const Description& description, const WordChoice& choose);
/// "two big red circles", for a count of 1 to 3.
std::string number_phrase(int count, const Description& description, const WordChoice& choose);

/// Different captions of scene `index` of a seed, all of them true; words, order and what is left out are drawn.
/// Throws Error(usage) unless 1 ≤ count ≤ 20 and the scene has one to three objects.
std::vector<std::string> draw_captions(const Scene& scene, std::uint64_t seed, std::uint32_t index,
                                       std::int64_t count = 5);

}  // namespace stein::lm
