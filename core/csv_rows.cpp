#include <stein/core/csv_rows.h>

#include <algorithm>

namespace stein {

bool CsvRows::read_header(std::string_view header) {
  columns_.clear();
  if (!fields_.split(header)) return false;
  for (std::size_t i = 0; i < fields_.size(); ++i) columns_.emplace_back(fields_[i]);
  return true;
}

std::optional<std::size_t> CsvRows::find(std::string_view name) const {
  const auto place = std::ranges::find(columns_, name);
  if (place == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(place - columns_.begin());
}

std::string_view CsvRows::read_row(std::string_view line) {
  if (!fields_.split(line)) return "no comma-separated values, or a quoted field that does not end on its line";
  return fields_.size() == columns_.size() ? "" : "another number of fields than the header has";
}

}  // namespace stein
