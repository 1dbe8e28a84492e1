// Products in bfloat16, by the processor's instructions or as rounded floats, against sums of the rounded terms in
// double precision.
#include <stein/core/parallel.h>
#include <stein/core/rng.h>
#include <stein/inference/fused/matrix_product.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "inference/fused/product_sides.h"

namespace stein::inference::fused {
namespace {

using test::ProductSizes;
using test::turned;

std::vector<float> factor(std::int64_t count, std::uint32_t row) {
  std::vector<float> made(static_cast<std::size_t>(count));
  fill_normal(std::span(made), {.seed = 3}, row);
  return made;
}

/// To the nearest number of 8 bits of mantissa, a tie to the even one.
double rounded(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

/// Below a vector, whole tiles, parts of them, odd depths, more than one task and more than one depth.
const std::vector<ProductSizes> bfloat16_sizes{{1, 1, 1},      {1, 200, 33},   {3, 17, 5},     {6, 64, 512},
                                               {13, 65, 1025}, {20, 800, 200}, {121, 300, 71}, {250, 130, 1400}};

TEST_CASE("a product in bfloat16 is the sum of the rounded terms, however its sides lie", "[inference][product]") {
  for (const auto& [m, n, k] : bfloat16_sizes) {
    CAPTURE(m, n, k);
    const std::vector<float> a = factor(m * k, 0), b = factor(k * n, 1), a_turned = turned(a, m, k),
                             b_turned = turned(b, k, n);
    for (const bool add : {false, true}) {
      const std::vector<float> before = factor(m * n, 2);
      std::vector<double> expected(before.size()), allowed(before.size());
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = add ? before[i * n + j] : 0, size = std::abs(sum);
          for (std::int64_t p = 0; p < k; ++p) {
            const double term = rounded(a[i * k + p]) * rounded(b[p * n + j]);
            sum += term, size += std::abs(term);
          }
          expected[i * n + j] = sum;
          allowed[i * n + j] = size * 0x1p-23 * static_cast<double>(k + 1);  // two roundings a term at most
        }
      for (const bool turn_a : {false, true})
        for (const bool turn_b : {false, true}) {
          PackedMatrix packed(Precision::bfloat16);
          packed.pack(k, n, turn_b ? MatrixOperand{b_turned.data(), 1, k} : MatrixOperand{b.data(), n, 1});
          std::vector<float> c = before;
          multiply(m, turn_a ? MatrixOperand{a_turned.data(), 1, m} : MatrixOperand{a.data(), k, 1}, packed, c.data(),
                   n, add ? ProductStart::add : ProductStart::zero);
          std::int64_t wrong = 0;
          for (std::size_t i = 0; i < c.size(); ++i) wrong += !(std::abs(c[i] - expected[i]) <= allowed[i]);
          CHECK(wrong == 0);
        }
    }
  }
}

TEST_CASE("a product in bfloat16 has the same bits at any number of threads, and touches nothing beside its columns",
          "[inference][product]") {
  const int threads = thread_count();
  const std::vector<float> a = factor(300 * 401, 0), b = factor(401 * 699, 1);
  std::vector<std::vector<float>> results;
  for (const int count : {1, 2, 5}) {
    set_thread_count(count);
    PackedMatrix packed(Precision::bfloat16);
    packed.pack(401, 699, {b.data(), 699, 1});
    multiply(300, {a.data(), 401, 1}, packed, results.emplace_back(300 * 720, 7.0F).data(), 720, ProductStart::zero);
  }
  set_thread_count(threads);
  const bool same = results[0] == results[1] && results[0] == results[2];
  CHECK(same);
  for (std::int64_t i = 0; i < 300; ++i)
    for (std::int64_t j = 699; j < 720; ++j) REQUIRE(results[0][i * 720 + j] == 7);
}

TEST_CASE("a packed matrix of bfloat16 can hold another one after the first", "[inference][product]") {
  PackedMatrix packed(Precision::bfloat16);
  const std::vector<float> large = factor(50 * 90, 0), small{1, 2, 3, 4, 5, 6}, a{1, 2};
  packed.pack(50, 90, {large.data(), 90, 1});
  packed.pack(2, 3, {small.data(), 3, 1});
  float c[3];
  multiply(1, {a.data(), 2, 1}, packed, c, 3, ProductStart::zero);
  for (int j = 0; j < 3; ++j) CHECK(c[j] == small[j] + 2 * small[3 + j]);  // small whole numbers have no rounding
}

TEST_CASE("what is not finite stays so in a product in bfloat16", "[inference][product]") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float largest = std::numeric_limits<float>::max();  // rounds to infinity
  PackedMatrix packed(Precision::bfloat16);
  for (const float number : {infinity, nan, largest}) {
    const float b[]{number, 1}, a[]{1, 1};
    packed.pack(2, 1, {b, 1, 1});
    float c[1];
    multiply(1, {a, 2, 1}, packed, c, 1, ProductStart::zero);
    CHECK(!std::isfinite(c[0]));
  }
}

}  // namespace
}  // namespace stein::inference::fused
