// Rows of a table that come line by line, for a network that was trained on others.
#pragma once

#include <stein/core/csv_rows.h>
#include <stein/supervised/tables/table_encoding.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stein::supervised {

/// Gathers rows of comma-separated values into a table with the columns that an encoding reads; others are passed over.
class TableLines {
 public:
  /// @param encoding  outlives it
  /// @param header    the first line. Throws Error(data) where it is none, or lacks a column that is read
  TableLines(const TableEncoding& encoding, std::string_view header);

  /// Adds a row. Why it cannot be read, or nothing.
  std::string add(std::string_view line);
  std::int64_t rows() const { return std::ssize(unknown_); }
  /// Columns of a line.
  std::int64_t columns() const { return std::ssize(lines_.columns()); }
  /// The rows so far as the network reads them [rows, D], and of each the columns with a category that no row of
  /// training has; then there are none.
  struct Encoded {
    inference::Matrix<float> inputs;
    std::vector<std::vector<std::string>> unknown;
  };
  Encoded take();

 private:
  const TableEncoding& encoding_;
  CsvRows lines_;
  std::vector<std::size_t> places_;  ///< in a line, of each input
  Table table_;
  std::vector<std::vector<std::string>> unknown_;
};

}  // namespace stein::supervised
