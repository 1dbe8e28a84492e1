#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/supervised/tables/ages_synthetic.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

namespace stein::supervised {

TableSet make_ages(std::int64_t rows, std::uint64_t seed) {
  STEIN_CHECK(rows >= 20, "ages-synthetic needs at least 20 rows, got {}", rows);
  constexpr std::size_t features = 512;
  constexpr std::array share{0.14, 0.12, 0.12, 0.10, 0.28, 0.14, 0.05, 0.05};
  constexpr double age_deviation = 0.6, frequency_deviation = 0.5;
  std::vector<double> frequency, phase;
  Draws waves({.seed = seed, .stream = Stream::data}, 0), draws({.seed = seed, .stream = Stream::data}, 1);
  TableSet set{.name = "ages-synthetic", .target = features, .synthetic = true};
  for (std::size_t j = 0; j < features; ++j) {
    frequency.push_back(frequency_deviation * waves.normal());
    phase.push_back(waves.uniform(0, 2 * std::numbers::pi));
    set.table.columns.push_back({.name = fmt::format("x{}", j)});
    set.inputs.push_back(j);
  }
  Column label{.name = "age", .categories = {"0-2", "4-6", "8-13", "15-20", "25-32", "38-43", "48-53", "60-"}};
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto level = static_cast<std::int32_t>(draws.categorical(share));
    const double age = level + age_deviation * draws.normal();
    for (std::size_t j = 0; j < features; ++j)
      set.table.columns[j].numbers.push_back(std::cos(frequency[j] * age + phase[j]) + draws.normal());
    label.levels.push_back(level);
  }
  set.table.columns.push_back(std::move(label));
  return set;
}

}  // namespace stein::supervised
