#include <stein/policies/fused/student_t_draws.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <vector>

namespace stein::policies {
namespace {

/// Distribution function for 1 degree, and for an even number of them (Abramowitz & Stegun 26.7.3, 26.7.4).
double distribution(const StudentT& variable, double t) {
  const double theta = std::atan((t - variable.location) / (variable.scale * std::sqrt(variable.degrees)));
  if (variable.degrees == 1) return 0.5 + theta / std::numbers::pi;
  const double cosine2 = std::cos(theta) * std::cos(theta);
  double term = 1, sum = 0;
  for (double k = 0; k < variable.degrees; k += 2) {
    sum += term;
    term *= (k + 1) / (k + 2) * cosine2;
  }
  return 0.5 + 0.5 * std::sin(theta) * sum;
}

std::vector<std::uint32_t> row_numbers(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<std::uint32_t>(7 * i + 3);
  return rows;
}

TEST_CASE("draws in SIMD are those of the plain loop, bit for bit, for any number of variables", "[policies][lints]") {
  Draws draws({.seed = 4, .step = 0, .stream = Stream::test}, 0);
  for (std::size_t count = 1; count <= 40; ++count) {
    const auto rows = row_numbers(count);
    std::vector<StudentT> variables(count);
    for (StudentT& variable : variables)
      variable = {1 + std::exp(6 * draws.uniform() - 1), draws.normal(), std::exp(draws.normal())};
    variables.front().degrees = 1;
    std::vector<double> simd(count), plain(count);
    for (std::uint64_t step = 0; step < 200; ++step) {
      const NoiseKey key{.seed = 9, .step = step, .stream = Stream::decision};
      fused::draw_each({variables, key, rows, simd});
      reference::draw_each({variables, key, rows, plain});
      REQUIRE(simd == plain);
    }
  }
}

// F(draw) is uniform. The empirical distribution function of n draws stays within z / √n of it but for a chance of
// 2 exp(−2 z²) (Massart 1990): 3e-8 at z = 3, for 24 variables.
TEST_CASE("draws follow Student-t's distribution function, in the bulk and in the tails", "[policies][lints]") {
  const std::vector<double> all_degrees{1, 2, 4, 12, 100, 1000};
  constexpr std::size_t repeated = 4;
  constexpr int count = 200'000, bins = 1000;
  std::vector<StudentT> variables;
  for (std::size_t i = 0; i < repeated; ++i)
    for (const double degrees : all_degrees) variables.push_back({degrees, static_cast<double>(i) - 1, 0.5 + degrees});
  const auto rows = row_numbers(variables.size());
  std::vector<double> values(variables.size());
  std::vector<std::vector<int>> counts(variables.size(), std::vector<int>(bins));
  for (std::uint64_t step = 0; step < count; ++step) {
    fused::draw_each({variables, {.seed = 11, .step = step, .stream = Stream::test}, rows, values});
    for (std::size_t i = 0; i < variables.size(); ++i)
      ++counts[i][static_cast<std::size_t>(std::min(bins - 1.0, bins * distribution(variables[i], values[i])))];
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    CAPTURE(variables[i].degrees, variables[i].location);
    double below = 0, distance = 0;
    for (int bin = 0; bin < bins; ++bin) {
      below += counts[i][static_cast<std::size_t>(bin)];
      distance = std::max(distance, std::abs(below / count - (bin + 1.0) / bins));
    }
    CHECK(distance * std::sqrt(count) < 3.0);
    // 200 are expected beyond the outer thousandth on each side; 100 more or fewer have a chance below 1e-9.
    for (const int bin : {0, bins - 1}) CHECK(std::abs(counts[i][static_cast<std::size_t>(bin)] - 200) < 100);
  }
}

TEST_CASE("draws of different rows and of different steps are uncorrelated", "[policies][lints]") {
  const std::vector<StudentT> variables(20, {.degrees = 100});
  const auto rows = row_numbers(variables.size());
  std::vector<double> values(variables.size()), before(variables.size());
  constexpr int count = 50'000;
  double neighbours = 0, steps = 0;
  for (std::uint64_t step = 0; step < count; ++step) {
    fused::draw_each({variables, {.seed = 12, .step = step, .stream = Stream::test}, rows, values});
    for (std::size_t i = 0; i + 1 < values.size(); ++i) neighbours += values[i] * values[i + 1];
    for (std::size_t i = 0; i < values.size(); ++i) steps += values[i] * before[i];
    before = values;
  }
  const double variance = 100.0 / 98;
  CHECK(std::abs(neighbours) < 6.1 * variance * std::sqrt(19.0 * count));
  CHECK(std::abs(steps) < 6.1 * variance * std::sqrt(20.0 * count));
}

}  // namespace
}  // namespace stein::policies
