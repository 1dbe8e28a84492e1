// Comma-separated values under a header.
#pragma once

#include <stein/core/csv_line.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein {

/// Lines of comma-separated values whose first one is a header: fields by the column that they stand in.
class CsvRows {
 public:
  /// @param most_columns  headers with more columns are refused
  explicit CsvRows(std::size_t most_columns) : fields_(most_columns) {}

  /// Fields are separated by this letter from here on.
  void separate_by(char letter) { fields_.separate_by(letter); }
  /// Takes the names of the columns from `header`; false, and no columns, if it is no line of comma-separated values or
  /// has too many of them.
  bool read_header(std::string_view header);
  /// The same of lines without a header.
  void name_columns(std::vector<std::string> names) { columns_ = std::move(names); }
  /// Names of the columns, in the order of the header.
  const std::vector<std::string>& columns() const { return columns_; }
  /// The first column called `name`.
  std::optional<std::size_t> find(std::string_view name) const;

  /// Splits a line below the header, which has as many fields. Why it is no such row, a literal, or nothing.
  std::string_view read_row(std::string_view line);
  /// Fields of the row that was read last.
  const CsvLine& fields() const { return fields_; }

 private:
  std::vector<std::string> columns_;
  CsvLine fields_;
};

}  // namespace stein
