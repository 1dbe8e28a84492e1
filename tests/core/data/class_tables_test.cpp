// Published tables with classes: the readers of the large ones on small files, and counts of the others.
#include <stein/core/data/class_tables.h>
#include <stein/core/data/manifest.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"

namespace stein {
namespace {

/// A line of Covertype: 54 numbers, of which the first is `first`, and the class.
std::string plot(int first, int cover) {
  std::string line = std::to_string(first);
  for (int i = 1; i < 54; ++i) line += ",0";
  return line + "," + std::to_string(cover) + "\n";
}

/// How many rows each category of a column has.
std::vector<std::int64_t> counts_of(const Column& column) {
  std::vector<std::int64_t> counts;
  for (std::size_t k = 0; k < column.categories.size(); ++k)
    counts.push_back(std::ranges::count(column.levels, static_cast<std::int32_t>(k)));
  return counts;
}

TEST_CASE("the full Covertype has no header, and its classes are in the order of their numbers",
          "[core][class-tables]") {
  const test::TemporaryDirectory folder;
  test::write_gzip(folder / "covtype.data.gz", plot(2596, 5) + plot(2590, 2) + plot(2804, 5));
  const Table table = read_full_covertype(folder.path(), 3);
  REQUIRE(table.columns.size() == 55);
  CHECK(table.columns[0].numbers == std::vector<double>{2596, 2590, 2804});
  CHECK(table.columns[54].name == "cover");
  CHECK(table.columns[54].categories == std::vector<std::string>{"2", "5"});
  CHECK(table.columns[54].levels == std::vector<std::int32_t>{1, 0, 1});
  CHECK_ERROR(read_full_covertype(folder.path()), data, "covtype.data.gz", "expected 581012 rows, found 3");
  test::write(folder / "covtype.data", plot(2596, 5) + "1,2,3\n");
  CHECK_ERROR(read_full_covertype(folder.path(), 2), data, "covtype.data', line 2", "expected 55, found 3");
}

TEST_CASE("all columns of the census are categories but the number of the case, which is left out",
          "[core][class-tables]") {
  const test::TemporaryDirectory folder;
  test::write(folder / "USCensus1990.data.txt", "caseid,dAge,dOccup\n10000,5,0\n10001,10,3\n10002,5,0\n");
  const Table table = read_census(folder.path(), 3);
  REQUIRE(table.columns.size() == 2);
  CHECK(table.columns[0].categories == std::vector<std::string>{"5", "10"});
  CHECK(table.columns[1].levels == std::vector<std::int32_t>{0, 1, 0});
  CHECK_ERROR(read_census(folder.path()), data, "USCensus1990.data.txt", "expected 2458285 rows, found 3");
}

TEST_CASE("the training part of Shuttle has the counts that its documentation states",
          "[core][class-tables][data-set]") {
  const auto found = find_data_set("shuttle");
  if (!found) test::skip("no data set shuttle");
  PartedTable parts = read_shuttle(*found);
  CHECK(parts.table.rows() == 58'000);
  REQUIRE(parts.first_test == 43'500);
  std::vector<std::int64_t> training;
  for (std::int64_t row = 0; row < parts.first_test; ++row) training.push_back(row);
  parts.table.keep_rows(training);
  CHECK(counts_of(parts.table.columns.back()) == std::vector<std::int64_t>{34108, 37, 132, 6748, 2458, 6, 11});
}

TEST_CASE("45,222 rows of Adult are complete, as adult.names says, and 24.78 % of them earn more than 50,000",
          "[core][class-tables][data-set]") {
  const auto found = find_data_set("adult");
  if (!found) test::skip("no data set adult");
  Table table = read_adult(*found).table;
  CHECK(table.rows() == 32'561 + 16'281);
  table.keep_rows(table.complete_rows());
  CHECK(table.rows() == 45'222);
  CHECK(counts_of(table.columns.back()) == std::vector<std::int64_t>{34'014, 11'208});
  const Column& occupation = table.columns[table.find("occupation", "a test")];
  CHECK(occupation.categories.size() == 14);
  CHECK(std::ranges::min(counts_of(occupation)) == 14);  // the armed forces
}

}  // namespace
}  // namespace stein
