// Published tables with classes have the rows and classes that their publishers say.
#include <stein/core/data/manifest.h>
#include <stein/supervised/tables/table_set.h>
#include <stein/supervised/tables/two_moons.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "skip.h"

namespace stein::supervised {
namespace {

TableSet read(const char* name) {
  return read_table_set({.data = name}, TargetKind::category);
}

std::int64_t rows_of_class(const TableSet& set, std::int32_t level) {
  return std::ranges::count(set.table.columns[set.target].levels, level);
}

TEST_CASE("a seventh of the first rows of Covertype is lodgepole pine", "[supervised][tables][data-set]") {
  if (!find_data_set("covertype")) test::skip("no data set covertype");
  const TableSet set = read("covertype-15120");
  CHECK(set.table.rows() == 15'120);
  CHECK(set.inputs.size() == 54);
  CHECK(set.table.columns[set.target].categories == std::vector<std::string>{"other", "lodgepole pine"});
  CHECK(rows_of_class(set, 1) == 2'160);
}

TEST_CASE("Shuttle and Adult have their test parts", "[supervised][tables][data-set]") {
  for (const char* const name : {"shuttle", "adult"})
    if (!find_data_set(name)) test::skip(std::string("no data set ") + name);
  const TableSet shuttle = read("shuttle"), adult = read("adult");
  CHECK(shuttle.table.rows() == 58'000);
  CHECK(shuttle.given_test == 43'500);
  CHECK(shuttle.table.columns[shuttle.target].categories.size() == 7);
  CHECK(adult.table.rows() == 48'842);
  CHECK(adult.given_test == 32'561);
  CHECK(adult.inputs.size() == 14);
  CHECK(adult.table.columns[adult.target].categories == std::vector<std::string>{"<=50K", ">50K"});
  CHECK(rows_of_class(adult, 1) == 7'841 + 3'846);  // as adult.names says: 24.08 % and 23.62 %
  CHECK(adult.table.columns[1].missing_cells() == 1'836 + 963);
}

TEST_CASE("two moons lie around their half circles", "[supervised][tables]") {
  const TableSet set = make_two_moons(2000, 1);
  double square = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    const bool lower = set.table.columns[2].levels[i] == 1;
    const double x = set.table.columns[0].numbers[i] - (lower ? 1 : 0),
                 y = set.table.columns[1].numbers[i] - (lower ? 0.5 : 0);
    square += std::pow(std::hypot(x, y) - 1, 2) / 2000;
  }
  // Across the circle noise has sd 0.2; curvature adds second-order terms. 6.1 standard errors of a mean square.
  CHECK(std::sqrt(square) == Approx(0.2).epsilon(0.1));
  CHECK(std::ranges::count(set.table.columns[2].levels, 1) == 1000);
}

}  // namespace
}  // namespace stein::supervised
