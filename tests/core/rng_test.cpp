// Counter-based random numbers: known answers, identity of the scalar and the vector form, and the laws of the draws.
#include <stein/core/error.h>
#include <stein/core/rng.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;

namespace {

constexpr double critical_value = 6.1;  // two-sided 1e-9 a comparison

/// z of the mean of `values` against `mean` for independent values of known variance.
double z_of_mean(const std::vector<double>& values, double mean, double variance) {
  double sum = 0;
  for (const double value : values) sum += value;
  const double n = static_cast<double>(values.size());
  return (sum / n - mean) / std::sqrt(variance / n);
}

}  // namespace

TEST_CASE("Philox4x32-10 gives the known answers of its authors", "[core][rng]") {
  // Random123 distribution, kat_vectors: zero, all ones, digits of pi.
  CHECK(philox4x32_10({0, 0, 0, 0}, 0, 0) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32_10({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u) == PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a number depends on every part of its key", "[core][rng]") {
  const NoiseKey key{.seed = 7, .step = 11, .stream = Stream::test};
  const PhiloxBlock base = random_block(key, 3, 5);
  CHECK(base != random_block({8, 11, Stream::test}, 3, 5));
  CHECK(base != random_block({7 + (1ull << 40), 11, Stream::test}, 3, 5));
  CHECK(base != random_block({7, 12, Stream::test}, 3, 5));
  CHECK(base != random_block({7, 11 + (1ull << 40), Stream::test}, 3, 5));
  CHECK(base != random_block({7, 11, Stream::sampler}, 3, 5));
  CHECK(base != random_block(key, 4, 5));
  CHECK(base != random_block(key, 3, 6));
}

TEST_CASE("vector normals have the bits of scalar ones, wherever a block starts and ends", "[core][rng]") {
  const NoiseKey key{.seed = 0x123456789abcdef0, .step = (1ull << 33) + 5, .stream = Stream::sampler};
  for (const std::size_t size : {1, 3, 4, 7, 32, 33, 100, 1001}) {
    for (const std::uint64_t first : {0, 1, 2, 3, 1000003}) {
      std::vector<float> values(size);
      fill_normal(std::span<float>(values), key, 9, first);
      bool same = true;
      for (std::size_t i = 0; i < size; ++i) same = same && values[i] == normal_at<float>(key, 9, first + i);
      CHECK(same);
    }
  }
}

TEST_CASE("float normals follow the double ones to float precision", "[core][rng]") {
  const NoiseKey key{.seed = 3, .step = 1, .stream = Stream::test};
  const std::uint64_t n = 200'000;
  double worst = 0, square = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const double difference = normal_at<float>(key, 0, i) - normal_at<double>(key, 0, i);
    worst = std::max(worst, std::abs(difference));
    square += difference * difference;
  }
  CHECK(std::sqrt(square / n) < 3e-7);
  CHECK(worst < 3.5e-4);  // u = 1 − 2⁻²⁴ and 1 are neighbours: the radii √(2·2⁻²⁴) and 0 differ by this much at most
}

TEST_CASE("normals have the moments, the tails and the independence of the law", "[core][rng]") {
  const std::size_t n = 4'000'000;
  std::vector<float> values(n);
  fill_normal(std::span<float>(values), {.seed = 99, .step = 0, .stream = Stream::test}, 0);
  double sum = 0, square = 0, cube = 0, fourth = 0, neighbour = 0, next_block = 0;
  std::size_t above3 = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = values[i];
    sum += x, square += x * x, cube += x * x * x, fourth += x * x * x * x;
    if (i + 1 < n) neighbour += x * values[i + 1];
    if (i + 4 < n) next_block += x * values[i + 4];
    above3 += std::abs(x) > 3;
  }
  const double size = static_cast<double>(n), root = std::sqrt(size);
  CHECK(std::abs(sum / root) < critical_value);
  CHECK(std::abs((square - size) / std::sqrt(2.0) / root) < critical_value);       // Var x² = 2
  CHECK(std::abs(cube / std::sqrt(15.0) / root) < critical_value);                 // Var x³ = 15
  CHECK(std::abs((fourth - 3 * size) / std::sqrt(96.0) / root) < critical_value);  // Var x⁴ = 96
  CHECK(std::abs(neighbour / root) < critical_value);
  CHECK(std::abs(next_block / root) < critical_value);
  const double tail = 0.002699796063260207;  // P(|x| > 3)
  CHECK(std::abs((static_cast<double>(above3) - size * tail) / std::sqrt(size * tail * (1 - tail))) < critical_value);
}

TEST_CASE("uniform, integer, gamma and categorical draws have their means and variances", "[core][rng]") {
  const int n = 400'000;
  std::vector<double> uniform, square, integer, gamma_small, gamma_large, category;
  for (int i = 0; i < n; ++i) {
    Draws draws({.seed = 5, .step = static_cast<std::uint64_t>(i), .stream = Stream::test}, 2);
    const double u = draws.uniform();
    REQUIRE((u > 0 && u < 1));
    uniform.push_back(u);
    square.push_back(u * u);
    integer.push_back(draws.integer(7));
    gamma_small.push_back(draws.gamma(0.5));
    gamma_large.push_back(draws.gamma(4));
    const double weights[] = {1, 0, 3};
    category.push_back(static_cast<double>(draws.categorical(weights)));
  }
  CHECK(std::abs(z_of_mean(uniform, 0.5, 1.0 / 12)) < critical_value);
  CHECK(std::abs(z_of_mean(square, 1.0 / 3, 4.0 / 45)) < critical_value);
  CHECK(std::abs(z_of_mean(integer, 3, 4)) < critical_value);  // (49 − 1)/12
  CHECK(std::abs(z_of_mean(gamma_small, 0.5, 0.5)) < critical_value);
  CHECK(std::abs(z_of_mean(gamma_large, 4, 4)) < critical_value);
  CHECK(std::abs(z_of_mean(category, 1.5, 0.75)) < critical_value);  // 2 with probability ¾
  CHECK(std::ranges::count(category, 1.0) == 0);
}

TEST_CASE("draws go on behind an opening that was made for many rows at once", "[core][rng]") {
  const NoiseKey key{.seed = 0x1234567890ABCDEF, .step = 0x123456789A, .stream = Stream::context};
  for (const std::size_t count : {1, 3, 4, 5, 64}) {
    std::vector<std::uint32_t> rows(count);
    for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<std::uint32_t>(0xFFFFFFF0 + 7 * i);
    std::vector<OpeningWords> words(count);
    opening_words(key, rows, words);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(words[i][0] == random_block(key, rows[i], 0));
      CHECK(words[i][1] == random_block(key, rows[i], 1));
      Draws plain(key, rows[i]), opened(key, rows[i], words[i]);
      for (int k = 0; k < 9; ++k) CHECK(plain.uniform() == opened.uniform());
    }
  }
}

TEST_CASE("a uniform number at an index is that of the sequence", "[core][rng]") {
  const NoiseKey key{.seed = 5, .step = 6, .stream = Stream::test};
  Draws draws(key, 7);
  for (std::uint64_t index = 0; index < 41; ++index) CHECK(uniform_at(key, 7, index) == draws.uniform());
}

TEST_CASE("draws refuse what has no law", "[core][rng]") {
  Draws draws({}, 0);
  CHECK_THROWS_AS(draws.integer(0), Error);
  CHECK_THROWS_AS(draws.gamma(0), Error);
  const double none[] = {0, 0}, negative[] = {1, -1};
  CHECK_THROWS_AS(draws.categorical(none), Error);
  CHECK_THROWS_AS(draws.categorical(negative), Error);
}

TEST_CASE("a gamma variable of shape below 1 is a larger one, then a uniform, in this order", "[core][rng]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Draws whole({.seed = seed}, 0), parts({.seed = seed}, 0);
    const double larger = parts.gamma(1.25), uniform = parts.uniform();
    CHECK(whole.gamma(0.25) == larger * std::pow(uniform, 4));
  }
}

TEST_CASE("a row of random numbers ends where its counter does", "[core][rng]") {
  const NoiseKey key{.seed = 1};
  std::array<float, 8> values{};
  std::array<double, 1> one{};
  CHECK_NOTHROW(fill_normal(std::span<float>(values), key, 0, numbers_in_a_row - 8));
  CHECK(values[7] == normal_at<float>(key, 0, numbers_in_a_row - 1));
  CHECK_ERROR(fill_normal(std::span<float>(values), key, 0, numbers_in_a_row - 7), usage, "2^34", "17179869177");
  CHECK_ERROR(fill_normal(std::span<double>(one), key, 0, numbers_in_a_row), usage, "2^34");
  CHECK_ERROR(normal_at<float>(key, 0, numbers_in_a_row), usage, "2^34", "17179869184");
}
