// A table in memory: columns by name, each of numbers or of categories.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein {

/// A column with a cell for each row of its table.
struct Column {
  std::string name;
  std::vector<double> numbers{};          ///< [rows] of a column of numbers; NaN where the cell is missing
  std::vector<std::string> categories{};  ///< texts that occur, in the order of the alphabet, or of their values
  std::vector<std::int32_t> levels{};  ///< [rows] position of the cell's text in `categories`; −1 where it is missing

  bool numeric() const { return !numbers.empty(); }
  std::int64_t rows() const { return std::ssize(numbers) + std::ssize(levels); }
  bool missing(std::int64_t row) const;
  std::int64_t missing_cells() const;
  /// Least and largest number of a column of numbers that has any.
  std::pair<double, double> range() const;
};

/// Columns of equal length.
struct Table {
  std::vector<Column> columns;
  std::map<std::string, std::string> checksums{};  ///< file name → SHA-256 of what was read

  std::int64_t rows() const { return columns.empty() ? 0 : columns.front().rows(); }
  /// Position of the column called `name`. Throws Error(usage) that says `what` it was wanted for and suggests the
  /// nearest name.
  std::size_t find(std::string_view name, std::string_view what) const;
  /// Appends the rows of a table that has these columns, by name; categories that this one lacks come behind its own.
  /// Throws Error(data) naming a column that the other lacks, or that has texts there and numbers here.
  void append(const Table& more);
  /// Rows without a missing cell, ascending.
  std::vector<std::int64_t> complete_rows() const;
  /// Keeps these rows, in this order, and of the categories those that occur in them.
  void keep_rows(std::span<const std::int64_t> rows);
};

/// A table whose rows from `first_test` on are its publisher's test part.
struct PartedTable {
  Table table;
  std::int64_t first_test = 0;
};

}  // namespace stein
