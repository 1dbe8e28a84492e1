// Tables in memory: rows that are complete, and rows that are kept.
#include <stein/core/data/table.h>

#include <array>
#include <catch2/catch.hpp>
#include <limits>

namespace stein {
namespace {

Table animals() {
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  return {.columns = {{.name = "age", .numbers = {3, missing, 5, 7}},
                      {.name = "kind", .categories = {"ape", "bear", "cat"}, .levels = {2, 0, -1, 0}}}};
}

TEST_CASE("a complete row has a number and a category in every column", "[core][table]") {
  CHECK(animals().complete_rows() == std::vector<std::int64_t>{0, 3});
  CHECK(Table{}.complete_rows().empty());
}

TEST_CASE("rows that are kept come in the order asked for, with the categories that they have", "[core][table]") {
  Table table = animals();
  table.keep_rows(std::array<std::int64_t, 3>{3, 0, 3});
  CHECK(table.rows() == 3);
  CHECK(table.columns[0].numbers == std::vector<double>{7, 3, 7});
  CHECK(table.columns[1].categories == std::vector<std::string>{"ape", "cat"});
  CHECK(table.columns[1].levels == std::vector<std::int32_t>{0, 1, 0});

  table = animals();
  table.keep_rows(std::array<std::int64_t, 2>{2, 1});
  CHECK(table.columns[1].categories == std::vector<std::string>{"ape"});
  CHECK(table.columns[1].levels == std::vector<std::int32_t>{-1, 0});  // a missing cell stays one
  table.keep_rows({});
  CHECK(table.rows() == 0);
}

}  // namespace
}  // namespace stein
