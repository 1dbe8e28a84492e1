#include "fuzz/core/feed_table.h"

#include <stein/core/cifar10.h>
#include <stein/core/data/csv_table.h>
#include <stein/core/data/number_table.h>
#include <stein/core/idx.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fuzz/input_kinds.h"
#include "fuzz/require.h"

namespace stein::test {
namespace {

void check_numbers(const Column& column) {
  require(std::ranges::none_of(column.numbers, [](double number) { return std::isinf(number); }),
          "numbers are finite or missing");
}

void check_categories(const Column& column) {
  const std::set<std::string> texts(column.categories.begin(), column.categories.end());
  require(texts.size() == column.categories.size(), "no category is there twice");
  require(std::ssize(texts) <= most_categories, "categories are few");
  std::vector<bool> occurs(column.categories.size());
  for (const std::int32_t level : column.levels) {
    require(level >= -1 && level < std::ssize(column.categories), "a cell is of a category or missing");
    if (level >= 0) occurs[static_cast<std::size_t>(level)] = true;
  }
  require(std::ranges::all_of(occurs, [](bool is_there) { return is_there; }), "every category occurs");
}

/// Reads a file, which is one table however it is read: with all columns but those that options name.
void read_table(const Input& input, const CsvForm& form) {
  const auto path = input.write("table.csv", input.text());
  const Table table = read_csv_table(path, form);
  require(table.rows() >= 1 || table.columns.empty(), "a table has rows");
  std::set<std::string> names;
  for (const Column& column : table.columns) {
    require(!column.name.empty() && names.insert(column.name).second, "columns have names of their own");
    require(column.rows() == table.rows(), "columns are of one length");
    require(column.numeric() != !column.levels.empty(), "a column has numbers or categories");
    column.numeric() ? check_numbers(column) : check_categories(column);
  }
}

void read_as_it_is(const Input& input) {
  read_table(input, {});
}

/// Without its first column, and with all others as categories.
void read_categories(const Input& input) {
  const std::vector<std::string> columns = csv_column_names(input.write("table.csv", input.text()));
  read_table(input, {.categorical = {columns.begin() + 1, columns.end()}, .ignore = {columns.front()}});
}

void read_without_header(const Input& input) {
  read_table(input, {.header = {"a", "b", "c"}, .comment = '#'});
}

/// With and without a header.
template <std::int64_t header_lines>
void read_numbers(const Input& input) {
  const Table table = read_number_table(input.write("numbers.txt", input.text()), header_lines);
  require(table.rows() >= 1, "a table has rows");
  for (const Column& column : table.columns) {
    require(column.numeric() && column.rows() == table.rows(), "columns have numbers and are of one length");
    require(std::ranges::all_of(column.numbers, [](double number) { return std::isfinite(number); }),
            "numbers are finite");
  }
}

void read_array(const Input& input) {
  const IdxArray array = read_idx(input.write("array-idx", input.text()));
  require(!array.shape.empty() && array.shape.size() <= 4, "an array has one to four dimensions");
  std::int64_t count = 1;
  for (const std::int64_t extent : array.shape) count *= extent;
  require(count == std::ssize(array.bytes), "an array has the bytes of its shape");
}

void read_batch(const Input& input) {
  const Cifar10Batch batch = read_cifar10_batch(input.write("data_batch_1.bin", input.text()));
  require(!batch.labels.empty() && batch.pixels.size() == 3072 * batch.labels.size(), "an image has all of its pixels");
  require(std::ranges::all_of(batch.labels, [](std::uint8_t label) { return label < 10; }), "a label is a class");
}

const std::vector<InputKind>& kinds() {
  static const std::vector<InputKind> all{{"cifar10", {read_batch}},
                                          {"csv-rows", {read_without_header}},
                                          {"csv-table", {read_as_it_is, read_categories}},
                                          {"idx", {read_array}},
                                          {"number-table", {read_numbers<0>, read_numbers<1>}}};
  return all;
}

}  // namespace

std::vector<std::string> table_kinds() {
  return names_of(kinds());
}

bool feed_table(std::string_view kind, std::string_view input) {
  return feed(kinds(), kind, input);
}

}  // namespace stein::test
