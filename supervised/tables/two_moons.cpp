#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/supervised/tables/two_moons.h>

#include <cmath>
#include <numbers>

namespace stein::supervised {

TableSet make_two_moons(std::int64_t rows, std::uint64_t seed) {
  STEIN_CHECK(rows >= 20, "two-moons needs at least 20 rows, got {}", rows);
  constexpr double noise = 0.2;
  Draws draws({.seed = seed, .stream = Stream::data}, 0);
  Column first{.name = "x1"}, second{.name = "x2"}, label{.name = "class", .categories = {"upper", "lower"}};
  for (std::int64_t i = 0; i < rows; ++i) {
    const bool lower = i % 2 == 1;
    const double angle = draws.uniform(0, std::numbers::pi);
    const double x = lower ? 1 - std::cos(angle) : std::cos(angle), y = lower ? 0.5 - std::sin(angle) : std::sin(angle);
    first.numbers.push_back(x + noise * draws.normal());
    second.numbers.push_back(y + noise * draws.normal());
    label.levels.push_back(lower);
  }
  TableSet set{.name = "two-moons", .target = 2, .inputs = {0, 1}, .synthetic = true};
  set.table.columns = {std::move(first), std::move(second), std::move(label)};
  return set;
}

}  // namespace stein::supervised
