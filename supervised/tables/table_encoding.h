// How the cells of a table become the numbers that a network reads.
#pragma once

#include <stein/core/data/table.h>
#include <stein/core/snapshot.h>
#include <stein/inference/storage/matrix.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stein::supervised {

/// Mean and sd of numbers, to take them to mean 0 and sd 1 and back.
struct Scale {
  double mean = 0, deviation = 1;

  /// Of some rows of a column, those that are missing left out; the sd with 1/n. A column that is constant there has
  /// deviation 0.
  static Scale of(std::span<const double> numbers, std::span<const std::int64_t> rows);
  double to_unit(double value) const { return (value - mean) / deviation; }
  double from_unit(double value) const { return mean + deviation * value; }
};

/// Numbers for each row of a table, by what its training rows are: a column of numbers has mean 0 and sd 1 there, and 0
/// stands for a missing cell; a column of categories becomes a 0 or 1 for each category that occurs there, all 0 for a
/// missing cell and for any other category. Columns that are constant there are left out.
class TableEncoding {
 public:
  /// A column that is read.
  struct Input {
    std::string name;
    Scale scale{};                          ///< of a column of numbers
    std::vector<std::string> categories{};  ///< of one of categories, in order; empty for one of numbers

    bool numeric() const { return categories.empty(); }
    std::int64_t width() const { return numeric() ? 1 : std::ssize(categories); }
  };

  /// @param columns  positions of the columns that are read
  /// @param rows     those for training, at least one
  /// @throws Error(data) where all columns are constant there
  TableEncoding(const Table& table, std::span<const std::size_t> columns, std::span<const std::int64_t> rows);
  /// What `save` wrote. Throws Error(data) if it is not there or damaged.
  explicit TableEncoding(const Snapshot& snapshot);

  const std::vector<Input>& inputs() const { return inputs_; }
  /// Names of the columns that were left out.
  const std::vector<std::string>& constant() const { return constant_; }
  /// D: numbers of a row.
  std::int64_t width() const;
  /// "age", "colour=red": what each of the D numbers says.
  std::vector<std::string> names() const;

  /// Rows of a table that has these columns, whatever others there are, by name: [rows, D]. Throws Error(data) for a
  /// column that is not there, for one of categories where numbers are expected, and for more numbers than the
  /// machine's memory holds.
  inference::Matrix<float> encode(const Table& table, std::span<const std::int64_t> rows) const;
  /// How many cells of these rows are of a category that no training row has: {column → {category → cells}}.
  std::map<std::string, std::map<std::string, std::int64_t>> unknown(const Table& table,
                                                                     std::span<const std::int64_t> rows) const;

  void save(Snapshot& snapshot) const;

 private:
  void check_memory(std::int64_t rows) const;

  std::vector<Input> inputs_;
  std::vector<std::string> constant_;
};

/// The numbers 0 … count − 1.
std::vector<std::int64_t> all_rows(std::int64_t count);

}  // namespace stein::supervised
