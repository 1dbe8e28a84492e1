// How cells become numbers: by the training rows alone.
#include <stein/core/physical_memory.h>
#include <stein/supervised/tables/table_encoding.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/error_matcher.h"

namespace stein::supervised {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
using Rows = std::vector<std::int64_t>;

/// Numbers with one cell missing, categories of which `c` is in the last row only, and a constant.
Table small_table() {
  return {.columns = {{.name = "x", .numbers = {1, 3, missing, 100}},
                      {.name = "k", .categories = {"a", "b", "c"}, .levels = {0, 1, -1, 2}},
                      {.name = "one", .numbers = {5, 5, 5, 6}}}};
}

const std::vector<std::size_t> all_columns{0, 1, 2};

std::vector<float> row_of(const inference::Matrix<float>& matrix, std::int64_t row) {
  const std::span<const float> numbers = matrix.row(row);
  return {numbers.begin(), numbers.end()};
}

TEST_CASE("numbers have mean 0 and sd 1 over the training rows, categories a column each", "[supervised][tables]") {
  const Table table = small_table();
  const TableEncoding encoding(table, all_columns, Rows{0, 1, 2});
  CHECK(encoding.names() == std::vector<std::string>{"x", "k=a", "k=b"});
  CHECK(encoding.constant() == std::vector<std::string>{"one"});
  const inference::Matrix<float> cells = encoding.encode(table, all_rows(4));
  // x: mean 2, sd 1 of {1, 3}; the missing cell stands at the mean; row 3 has a category that training lacks.
  CHECK(row_of(cells, 0) == std::vector<float>{-1, 1, 0});
  CHECK(row_of(cells, 1) == std::vector<float>{1, 0, 1});
  CHECK(row_of(cells, 2) == std::vector<float>{0, 0, 0});
  CHECK(row_of(cells, 3) == std::vector<float>{98, 0, 0});
}

TEST_CASE("no cell outside the training rows moves the encoding", "[supervised][tables]") {
  Table table = small_table();
  const Rows train{0, 1, 2};
  const inference::Matrix<float> before = TableEncoding(table, all_columns, train).encode(table, train);
  table.columns[0].numbers[3] = -1e6;
  table.columns[1].levels[3] = 0;
  table.columns[2].numbers[3] = 7;
  const inference::Matrix<float> after = TableEncoding(table, all_columns, train).encode(table, train);
  for (const std::int64_t row : train) CHECK(row_of(before, row) == row_of(after, row));
}

TEST_CASE("categories that training lacks are counted", "[supervised][tables]") {
  const Table table = small_table();
  const TableEncoding encoding(table, all_columns, Rows{0, 1, 2});
  const auto unknown = encoding.unknown(table, Rows{2, 3, 3});
  REQUIRE(unknown.size() == 1);
  CHECK(unknown.at("k") == std::map<std::string, std::int64_t>{{"c", 2}});
}

TEST_CASE("an encoding reads columns by name, in any order and beside others", "[supervised][tables]") {
  const Table table = small_table();
  const TableEncoding encoding(table, all_columns, Rows{0, 1, 2});
  const Table other{.columns = {{.name = "k", .categories = {"b", "z"}, .levels = {0, 1}},
                                {.name = "else", .numbers = {1, 2}},
                                {.name = "x", .numbers = {2, missing}}}};
  const inference::Matrix<float> cells = encoding.encode(other, all_rows(2));
  CHECK(row_of(cells, 0) == std::vector<float>{0, 0, 1});
  CHECK(row_of(cells, 1) == std::vector<float>{0, 0, 0});
  CHECK_ERROR(encoding.encode({.columns = {other.columns[0]}}, all_rows(2)), data, "no column 'x'");
  const Column text{.name = "x", .categories = {"big"}, .levels = {0, 0}};
  CHECK_ERROR(encoding.encode({.columns = {text, other.columns[0]}}, all_rows(2)), data, "'x' had numbers", "'big'");
}

TEST_CASE("an encoding that was saved encodes the same", "[supervised][tables]") {
  const Table table = small_table();
  const TableEncoding encoding(table, all_columns, Rows{0, 1, 2});
  Snapshot snapshot;
  encoding.save(snapshot);
  const TableEncoding restored(snapshot);
  CHECK(restored.names() == encoding.names());
  for (const std::int64_t row : all_rows(4))
    CHECK(row_of(restored.encode(table, all_rows(4)), row) == row_of(encoding.encode(table, all_rows(4)), row));
  Snapshot damaged;
  damaged.put_text("inputs", "[{]");
  CHECK_ERROR(TableEncoding(damaged), data, "cannot be read");
}

TEST_CASE("a table without a column that varies is refused", "[supervised][tables]") {
  const Table table{.columns = {{.name = "x", .numbers = {1, 1, 2}}}};
  CHECK_ERROR(TableEncoding(table, std::vector<std::size_t>{0}, Rows{0, 1}), data, "every column is constant",
              "2 rows");
}

TEST_CASE("a table whose categories would not fit into memory is refused before it is made", "[supervised][tables]") {
  Column codes{.name = "code"};
  for (std::int32_t i = 0; i < 1000; ++i) {
    codes.categories.push_back(fmt::format("c{:03}", i));
    codes.levels.push_back(i);
  }
  const Table table{.columns = {codes}};
  const std::vector<std::size_t> columns{0};
  const TableEncoding encoding(table, columns, all_rows(1000));
  constexpr std::int64_t bytes_of_row = 4000;
  const std::vector<std::int64_t> rows(static_cast<std::size_t>(physical_memory() / bytes_of_row + 1));
  CHECK_ERROR(encoding.encode(table, rows), data, "'code' becomes 1000 of them");
}

TEST_CASE("the scale of a target is of the training rows alone", "[supervised][tables]") {
  const std::vector<std::int64_t> training{0, 1, 2};
  const std::vector<double> targets{1, 2, 3, 1e6}, others{1, 2, 3, -5};
  CHECK(Scale::of(targets, training).mean == Scale::of(others, training).mean);
  CHECK(Scale::of(targets, training).deviation == Scale::of(others, training).deviation);
}

TEST_CASE("a scale is of numbers of any size", "[supervised][tables]") {
  const std::vector<std::int64_t> rows{0, 1, 2, 3};
  for (const double unit : {1e-290, 1e-170, 1.0, 1e170, 1e300}) {
    CAPTURE(unit);
    const std::vector<double> numbers{-unit, unit, 3 * unit, 5 * unit};
    const Scale scale = Scale::of(numbers, rows);
    CHECK(scale.mean == Approx(2 * unit));
    CHECK(scale.deviation == Approx(std::sqrt(5.0) * unit));
    CHECK(scale.to_unit(5 * unit) == Approx(3 / std::sqrt(5.0)));
  }
  CHECK(Scale::of(std::vector<double>{1e300, 1e300, 1e300, 1e300}, rows).deviation == 0);
}

TEST_CASE("a scale is of the rows that have a value, and goes back", "[supervised][tables]") {
  const std::vector<double> numbers{1, missing, 5, 900};
  const Scale scale = Scale::of(numbers, Rows{0, 1, 2});
  CHECK(scale.mean == 3);
  CHECK(scale.deviation == 2);
  CHECK(scale.from_unit(scale.to_unit(11.5)) == Approx(11.5));
  CHECK(Scale::of(numbers, Rows{1}).deviation == 0);
}

}  // namespace
}  // namespace stein::supervised
