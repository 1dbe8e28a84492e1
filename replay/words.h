// Words of a line, one after the other.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace stein::replay {

/// Takes the word that `text` begins with, and the blanks before it; empty where there is none.
inline std::string_view take_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

/// Whether all of `word` is a number of this kind, which is then read.
template <class Number>
bool read_number(std::string_view word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace stein::replay
