// Tables of numbers separated by blanks: rows, headers, and what is refused.
#include <stein/core/data/number_table.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

namespace stein {
namespace {

Table read(const std::string& text, std::int64_t header_lines = 0) {
  const test::TemporaryDirectory folder;
  return read_number_table(test::write(folder / "numbers.txt", text), header_lines);
}

TEST_CASE("a line is a row, however many blanks separate its numbers", "[core][number-table]") {
  const Table table = read(" 1 -2.5\t3e2 \n\n4   5 6\n   \n");
  REQUIRE(table.columns.size() == 3);
  CHECK(table.columns[0].numbers == std::vector<double>{1, 4});
  CHECK(table.columns[1].numbers == std::vector<double>{-2.5, 5});
  CHECK(table.columns[2].numbers == std::vector<double>{300, 6});
  CHECK(table.columns[2].name == "x2");
  CHECK(table.checksums.contains("numbers.txt"));
}

TEST_CASE("lines of a header are passed over, whatever they hold", "[core][number-table]") {
  const Table table = read("# a header, of words\n7\n8\n", 1);
  REQUIRE(table.columns.size() == 1);
  CHECK(table.columns[0].numbers == std::vector<double>{7, 8});
  CHECK_ERROR(read("1 2\n", 1), data, "numbers.txt", "has no row");
  CHECK_ERROR(read("", 1), data, "has no row");
}

TEST_CASE("a row of another length and a word that is no number are refused with their line", "[core][number-table]") {
  CHECK_ERROR(read("1 2\n3\n"), data, "numbers.txt', line 2", "expected 2 numbers as in the first row, found 1");
  CHECK_ERROR(read("1 2\n3 4 5\n"), data, "line 2", "expected 2 numbers as in the first row, found more");
  CHECK_ERROR(read("head\n1 2\n3 x\n", 1), data, "line 3", "expected a number, found 'x'");
  CHECK_ERROR(read("1 inf\n"), data, "line 1", "found 'inf'");
  CHECK_ERROR(read("1,2\n"), data, "line 1", "found '1,2'");
  CHECK_ERROR(read("1 1e999\n"), data, "line 1", "found '1e999'");
  CHECK_ERROR(read_number_table("/nowhere/numbers.txt"), data, "/nowhere/numbers.txt");
}

}  // namespace
}  // namespace stein
