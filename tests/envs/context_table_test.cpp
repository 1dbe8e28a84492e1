#include <stein/envs/context_table.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/error_matcher.h"

namespace stein::envs {
namespace {

constexpr std::array<std::size_t, 2> both{0, 1};

/// Ages 1, 2, 3, 6 (mean 3, mean square of the differences 14/4) and kinds a, b, a, a; nobody is of kind c.
Table people() {
  return {.columns = {{.name = "age", .numbers = {1, 2, 3, 6}},
                      {.name = "kind", .categories = {"a", "b", "c"}, .levels = {0, 1, 0, 0}},
                      {.name = "planet", .categories = {"earth"}, .levels = {0, 0, 0, 0}}}};
}

std::vector<float> row_of(const ContextTable& contexts, std::int64_t row) {
  std::vector<float> context(static_cast<std::size_t>(contexts.size()), -1);
  contexts.write(row, context);
  return context;
}

TEST_CASE("numbers and every category are standardised, with one over the number of rows", "[envs][context-table]") {
  const ContextTable contexts(people(), both, Scaling::standardized);
  CHECK(contexts.rows() == 4);
  REQUIRE(contexts.size() == 4);
  // Kind a: share ¾, so deviation √3/4; 1 becomes (1/4)/(√3/4) = 1/√3 and 0 becomes −√3. Kind b is its negative.
  const double age = std::sqrt(14.0 / 4), root = std::sqrt(3.0);
  const auto first = row_of(contexts, 0), second = row_of(contexts, 1);
  CHECK(first[0] == Approx(-2 / age).epsilon(1e-6));
  CHECK(first[1] == Approx(1 / root).epsilon(1e-6));
  CHECK(first[2] == Approx(-1 / root).epsilon(1e-6));
  CHECK(second[0] == Approx(-1 / age).epsilon(1e-6));
  CHECK(second[1] == Approx(-root).epsilon(1e-6));
  CHECK(second[2] == Approx(root).epsilon(1e-6));
  CHECK(row_of(contexts, 3)[0] == Approx(3 / age).epsilon(1e-6));
  CHECK(row_of(contexts, 3)[1] == first[1]);
  // A category that nobody has is the same in all rows.
  CHECK(first[3] == 0);
  CHECK(second[3] == 0);
}

TEST_CASE("a context says what its numbers are, and how a value of the table becomes one", "[envs][context-table]") {
  for (const Scaling scaling : {Scaling::standardized, Scaling::as_they_are}) {
    const ContextTable contexts(people(), both, scaling);
    const std::vector<ContextNumber>& numbers = contexts.numbers();
    REQUIRE(std::ssize(numbers) == contexts.size());
    CHECK(numbers[0].column == "age");
    CHECK_FALSE(numbers[0].category);
    for (std::size_t k = 1; k < 4; ++k) {
      CHECK(numbers[k].column == "kind");
      CHECK(numbers[k].category == std::string(1, static_cast<char>('a' + k - 1)));
    }
    const auto second = row_of(contexts, 1);  // age 2, kind b
    CHECK(second == std::vector<float>{numbers[0].standard(2), numbers[1].standard(0), numbers[2].standard(1),
                                       numbers[3].standard(0)});
  }
}

TEST_CASE("as they are, numbers are those of the table and categories 0 or 1", "[envs][context-table]") {
  const ContextTable contexts(people(), both, Scaling::as_they_are);
  CHECK(row_of(contexts, 0) == std::vector<float>{1, 1, 0, 0});
  CHECK(row_of(contexts, 1) == std::vector<float>{2, 0, 1, 0});
}

TEST_CASE("what is the same in all rows becomes 0", "[envs][context-table]") {
  Table table = people();
  table.columns[0].numbers = {.1, .1, .1, .1};
  constexpr std::array<std::size_t, 2> constant{2, 0};
  const ContextTable contexts(table, constant, Scaling::standardized);
  for (std::int64_t row = 0; row < 4; ++row) CHECK(row_of(contexts, row) == std::vector<float>{0, 0});
}

TEST_CASE("a number far from zero keeps its spread", "[envs][context-table]") {
  Table table = people();
  table.columns[0].numbers = {1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3};
  const ContextTable contexts(table, both, Scaling::standardized);
  CHECK(row_of(contexts, 0)[0] == Approx(-1.5 / std::sqrt(1.25)).epsilon(1e-6));
}

TEST_CASE("a table that gives no contexts is refused with the column and the row", "[envs][context-table]") {
  const auto made = [](const Table& table, Scaling scaling = Scaling::standardized) {
    return ContextTable(table, both, scaling);
  };
  Table table = people();
  table.columns[0].numbers[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK_ERROR(made(table), data, "'age' has no value in row 3");
  table = people();
  table.columns[1].levels[3] = -1;
  CHECK_ERROR(made(table), data, "'kind' has no value in row 4");
  table = people();
  table.columns[0].numbers[1] = 1e300;
  CHECK_ERROR(made(table), data, "'age' cannot be standardised", "1e+300");
  CHECK_ERROR(made(table, Scaling::as_they_are), data, "'age', row 2: 1e+300 is too large");
  table = people();
  table.columns[1].categories.resize(65'536);
  CHECK_ERROR(made(table), data, "'kind' has 65536 categories, expected at most 65535");
  CHECK_ERROR(made(Table{}), usage, "a table with rows");
  CHECK_ERROR(ContextTable(people(), {}, Scaling::standardized), usage, "need a column");
}

}  // namespace
}  // namespace stein::envs
