// Words of a line, one after the other.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace stein::replay {

/// Takes the blanks that `text` begins with.
inline void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

/// Takes the word that `text` begins with, and the blanks before it; empty where there is none.
inline std::string_view take_word(std::string_view& text) {
  skip_blanks(text);
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

/// Whether all of `word` is a number of this kind, which is then read.
template <class Number>
bool read_number(std::string_view word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace stein::replay
