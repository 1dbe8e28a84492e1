// Long vectors in SIMD against sums in double.
#include <stein/core/rng.h>
#include <stein/inference/fused/vector_arithmetic.h>
#include <stein/inference/samplers/gradient_clip.h>
#include <stein/inference/storage/matrix.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace stein;
using namespace stein::inference;

TEST_CASE("sums and scaled differences agree with double at every length", "[inference][parity]") {
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<float> x(size), g(size);
    fill_normal(std::span<float>(x), {.seed = 1}, 0);
    fill_normal(std::span<float>(g), {.seed = 2}, 0);
    std::vector<float> moved = g;
    const double square = subtract_scaled(x, 0.3f, moved);
    double expected = 0;
    for (std::size_t i = 0; i < size; ++i) {
      expected += double{x[i]} * x[i];
      CHECK(moved[i] == Approx(g[i] - 0.3 * x[i]).epsilon(1e-6).margin(1e-6));
    }
    CHECK(square == Approx(expected).epsilon(1e-6));
    CHECK(sum_of_squares(std::span<const float>(x)) == Approx(expected).epsilon(1e-6));
  }
}

TEST_CASE("gradients are clipped to the same bits in SIMD as in plain loops", "[inference][parity]") {
  for (const ClipRule rule : {ClipRule::clip, ClipRule::rescale}) {
    for (const std::int64_t columns : {1, 7, 64, 1001}) {
      Matrix<float> plain(5, columns);
      for (std::int64_t i = 0; i < 4; ++i) {  // the last row stays zero
        fill_normal(plain.row(i), {.seed = 3}, static_cast<std::uint32_t>(i));
        for (float& value : plain.row(i)) value *= i == 3 ? 1e30f : std::pow(10.0f, static_cast<float>(i) - 1);
      }
      Matrix<float> simd = plain;
      const GradientClipOptions options{.clip_norm = 2, .clip_rule = rule};
      reference::clip_rows(plain.view(), options);
      fused::clip_rows(simd.view(), options);
      CAPTURE(columns);
      for (std::int64_t i = 0; i < 5; ++i) CHECK(std::ranges::equal(plain.row(i), simd.row(i)));
    }
  }
}

TEST_CASE("sums over millions of floats are as good as those over a few", "[inference]") {
  std::vector<float> x(8'000'000, 0.1f), moved = x;
  const double exact = 8e6 * (double{0.1f} * 0.1f);  // one float accumulator a lane gave 1 % less
  CHECK(sum_of_squares(std::span<const float>(x)) == Approx(exact).epsilon(2e-6));
  CHECK(subtract_scaled(x, 0.5f, moved) == Approx(exact).epsilon(2e-6));
  CHECK(std::ranges::count(moved, 0.05f) == std::ssize(x));
}

TEST_CASE("sums and scaled differences have the same bits on every SIMD target", "[inference][parity]") {
  for (const std::size_t size : {1u, 7u, 16u, 37u, 4095u, 4096u, 4097u, 4117u, 20'011u}) {
    std::vector<float> memory(size + 1), g(size);
    fill_normal(std::span<float>(memory), {.seed = 3}, 0);
    fill_normal(std::span<float>(g), {.seed = 4}, 0);
    const std::span<const float> x(memory.data() + 1, size);  // on no vector's boundary
    std::vector<float> expected = g;
    std::array<double, 16> totals{};
    for (std::size_t first = 0; first < size; first += 4096) {
      std::array<float, 16> lanes{};
      for (std::size_t i = first; i < std::min(first + 4096, size); ++i) {
        lanes[i % 16] += x[i] * x[i];
        expected[i] -= 0.3f * x[i];
      }
      for (std::size_t l = 0; l < 16; ++l) totals[l] += static_cast<double>(lanes[l]);
    }
    const double sum = std::accumulate(totals.begin(), totals.end(), 0.0);
    CAPTURE(size);
    CHECK(sum_of_squares(x) == sum);
    CHECK(subtract_scaled(x, 0.3f, g) == sum);
    CHECK(g == expected);
  }
}

TEST_CASE("rows spread out have zeros between them, and packed again are the same rows", "[inference]") {
  for (std::int64_t columns = 1; columns < 40; ++columns) {
    for (const std::int64_t stride : {columns + 1, columns + 5, columns + 16}) {
      std::vector<float> from(static_cast<std::size_t>(3 * columns)), back(from.size());
      fill_normal(std::span<float>(from), {.seed = 1}, 0);
      std::vector<float> spread(static_cast<std::size_t>(3 * stride), -1);
      spread_rows(from.data(), 3, columns, spread.data(), stride);
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t q = columns; q < stride; ++q) REQUIRE(spread[i * stride + q] == 0);
      pack_rows(spread.data(), stride, 3, columns, back.data());
      REQUIRE(back == from);
    }
  }
}

TEST_CASE("one number of many that is not finite is seen, wherever it stands", "[inference]") {
  std::vector<float> x(200'000, 1e30f);  // whose sum of squares overflows
  CHECK(all_finite(x));
  for (const std::size_t place : {0, 65'535, 65'536, 150'000, 199'999}) {
    x[place] = std::numeric_limits<float>::quiet_NaN();
    CHECK_FALSE(all_finite(x));
    x[place] = 1e30f;
  }
}

TEST_CASE("one number that is not finite shows in the sum of squares, wherever it stands", "[inference]") {
  for (std::size_t place = 0; place < 37; ++place) {
    std::vector<float> x(37, 1.0f);
    x[place] = std::numeric_limits<float>::quiet_NaN();
    CHECK_FALSE(std::isfinite(sum_of_squares(std::span<const float>(x))));
    x[place] = std::numeric_limits<float>::infinity();
    CHECK_FALSE(std::isfinite(sum_of_squares(std::span<const float>(x))));
  }
}
