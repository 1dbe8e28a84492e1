// Published tables with classes have the rows and classes that their publishers say.
#include <stein/core/data/manifest.h>
#include <stein/supervised/tables/ages_synthetic.h>
#include <stein/supervised/tables/table_set.h>
#include <stein/supervised/tables/two_moons.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
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

TEST_CASE("made-up ages have the shares that are said, and neighbours are alike", "[supervised][tables]") {
  constexpr std::int64_t rows = 4000;
  const TableSet set = make_ages(rows, 1);
  REQUIRE(set.inputs.size() == 512);
  const Column& age = set.table.columns[set.target];
  const std::vector<double> shares{0.14, 0.12, 0.12, 0.10, 0.28, 0.14, 0.05, 0.05};
  REQUIRE(age.categories.size() == shares.size());
  for (std::int32_t c = 0; c < std::ssize(shares); ++c) {
    const double share = shares[static_cast<std::size_t>(c)];
    CAPTURE(c);
    CHECK(static_cast<double>(rows_of_class(set, c)) / rows ==
          Approx(share).margin(6 * std::sqrt(share * (1 - share) / rows)));
  }
  const auto mean = [&](std::int32_t c, std::size_t feature) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i)
      if (age.levels[i] == c) sum += set.table.columns[feature].numbers[i];
    return sum / static_cast<double>(rows_of_class(set, c));
  };
  double near = 0, far = 0, square = 0;
  for (std::size_t feature = 0; feature < 512; ++feature) {
    const double middle = mean(4, feature);
    near += std::pow(middle - mean(5, feature), 2), far += std::pow(middle - mean(0, feature), 2);
    for (std::size_t i = 0; i < rows; ++i)
      if (age.levels[i] == 4) square += std::pow(set.table.columns[feature].numbers[i] - middle, 2);
  }
  // Within a class the noise has variance 1, and ages bring ½ (1 − E exp(−w² 0.36)) = 0.04 besides.
  CHECK(square / 512 / static_cast<double>(rows_of_class(set, 4)) == Approx(1.04).epsilon(0.02));
  CHECK(far > 4 * near);
  CHECK_ERROR(make_ages(19, 0), usage, "at least 20 rows, got 19");
}

}  // namespace
}  // namespace stein::supervised
