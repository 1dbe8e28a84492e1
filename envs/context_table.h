// Rows of a table as contexts of a bandit: dense numbers, with categories one-hot.
#pragma once

#include <stein/core/data/table.h>
#include <stein/envs/bandit_spec.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stein::envs {

/// What becomes of a table's numbers.
enum class Scaling {
  standardized,  ///< mean 0 and standard deviation 1 over the rows of the table
  as_they_are,   ///< numbers of the table, and 0 or 1 for categories
};

/// Contexts [rows, size]: a column of numbers gives one number, a column of categories one for each category, 1 where
/// the row has it. Standardised, each of these numbers, also those of categories, loses its mean over all rows and is
/// divided by its standard deviation (the root of the mean square, with 1/rows), as in the published code of Riquelme,
/// Tucker & Snoek 2018; a number that is the same in all rows becomes 0.
///
/// A cell takes 4 bytes in a column of numbers and 2 in one of categories, however many categories there are.
class ContextTable {
 public:
  /// @param inputs  positions of the columns that are shown
  /// @throws Error(data) naming the column and, where there is one, the row: a missing cell, a number too large for a
  ///         float or to be squared, more categories than 65,535; Error(usage) without inputs or rows
  ContextTable(const Table& table, std::span<const std::size_t> inputs, Scaling scaling);

  std::int64_t rows() const { return rows_; }
  /// Numbers in a context.
  std::int64_t size() const { return std::ssize(numbers_); }
  /// What each of them is, [size].
  const std::vector<ContextNumber>& numbers() const { return numbers_; }
  /// Writes the context of a row, 0 ≤ row < rows, to `context`, [size].
  void write(std::int64_t row, std::span<float> context) const;

 private:
  void add_numbers(const Column& column, Scaling scaling);
  void add_categories(const Column& column, Scaling scaling);

  /// A column of the table: the place of its first number in a context, and its cells, of one kind or the other.
  struct Input {
    std::size_t place;
    std::vector<float> numbers{};         ///< [rows]
    std::vector<std::uint16_t> levels{};  ///< [rows]
  };

  std::int64_t rows_;
  std::vector<Input> inputs_;
  std::vector<ContextNumber> numbers_;
  std::vector<float> absent_;   ///< [size] of a category that a row does not have
  std::vector<float> present_;  ///< [size] of a category that it has
};

}  // namespace stein::envs
