// Where the first token of a text ends: the rules of coco_words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stein::lm::ptb {

/// What of a caption has no token yet, as Unicode code points.
using Rest = std::u32string_view;

/// Whether `c` is white space, or a sign that no token holds.
bool separates(char32_t c);

/// The code points of `text` in lower case.
std::u32string lower(Rest text);

/// Length of the token at the beginning of `rest`, at least 1; `rest` begins with a code point that does not separate.
std::size_t token_length(Rest rest);

}  // namespace stein::lm::ptb
