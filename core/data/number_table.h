// Tables of strangers that are numbers separated by blanks.
#pragma once

#include <stein/core/data/table.h>
#include <stein/core/escaped_text.h>
#include <stein/core/line_reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace stein {

/// Calls `take` with every word of a line; words are separated by blanks and tabs.
template <class Take>
void for_each_word(std::string_view line, const Take& take) {
  constexpr std::string_view blanks = " \t";
  for (std::size_t begin = line.find_first_not_of(blanks); begin < line.size();) {
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    take(line.substr(begin, end - begin));
    begin = std::min(line.find_first_not_of(blanks, end), line.size());
  }
}

/// The number that `word`, a part of the reader's line, says. Throws Error(data) naming the line if it is no finite
/// number of this type.
template <class Number>
Number number_of(const LineReader& reader, std::string_view word) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool finite =
      error == std::errc() && end == word.data() + word.size() && std::isfinite(static_cast<double>(value));
  if (!finite) reader.fail_here("expected a number, found '{}'", escaped(word));
  return value;
}

/// Reads columns of numbers x0, x1, … of a file with a row a line, plain or gzip-compressed. Lines of blanks are no
/// rows.
/// @param header_lines  lines at the beginning that are passed over
/// @throws Error(data) naming file and line: a word that is no finite number, a row with more or fewer numbers than the
///         first one; Error(data) for a file without rows; Error(io)
Table read_number_table(const std::filesystem::path& path, std::int64_t header_lines = 0);

}  // namespace stein
