#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/supervised/tables/regression_toy.h>

#include <cmath>

namespace stein::supervised {

TableSet make_regression_toy(std::int64_t rows, std::uint64_t seed) {
  STEIN_CHECK(rows >= 20, "regression-toy needs at least 20 rows, got {}", rows);
  Draws draws({.seed = seed, .stream = Stream::data}, 0);
  TableSet set{.name = "regression-toy", .synthetic = true};
  Column x{.name = "x"}, y{.name = "y"};
  for (std::int64_t i = 0; i < rows; ++i) {
    const double place = i % 20 < 12 ? draws.uniform(0, 0.6) : draws.uniform(0.8, 1);
    const double moved = place + 0.03 * draws.normal();
    x.numbers.push_back(place);
    y.numbers.push_back(moved + std::sin(4 * moved) + std::sin(13 * moved));
  }
  set.table.columns = {std::move(x), std::move(y)};
  set.target = 1, set.inputs = {0};
  return set;
}

}  // namespace stein::supervised
