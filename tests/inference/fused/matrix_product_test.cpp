#include <stein/core/parallel.h>
#include <stein/core/rng.h>
#include <stein/core/simd_target.h>
#include <stein/inference/fused/matrix_product.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "inference/fused/product_sides.h"

namespace stein::inference::fused {
namespace {

using test::ProductSizes;
using test::turned;

std::vector<float> numbers(std::int64_t count, std::uint32_t row) {
  std::vector<float> made(static_cast<std::size_t>(count));
  fill_normal(std::span(made), {.seed = 2}, row);
  return made;
}

bool rounds_once() {
  return simd_target() != "SCALAR" && simd_target() != "SSE2";
}

/// Below a vector, whole tiles, parts of them, more than one task and more than one depth.
const std::vector<ProductSizes> all_sizes{{1, 1, 1},     {1, 200, 33},   {3, 17, 5},     {12, 64, 256},
                                          {13, 65, 257}, {20, 800, 200}, {121, 300, 70}, {250, 130, 600}};

TEST_CASE("a product of any size is the sum of its terms, in order, however its sides lie", "[inference][product]") {
  for (const auto& [m, n, k] : all_sizes) {
    CAPTURE(m, n, k);
    const std::vector<float> a = numbers(m * k, 0), b = numbers(k * n, 1), a_turned = turned(a, m, k),
                             b_turned = turned(b, k, n);
    for (const bool add : {false, true}) {
      std::vector<float> expected = numbers(m * n, 2);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          float sum = add ? expected[i * n + j] : 0;
          for (std::int64_t p = 0; p < k; ++p) sum = std::fma(a[i * k + p], b[p * n + j], sum);
          expected[i * n + j] = sum;
        }
      for (const bool turn_a : {false, true})
        for (const bool turn_b : {false, true}) {
          PackedMatrix packed;
          packed.pack(k, n, turn_b ? MatrixOperand{b_turned.data(), 1, k} : MatrixOperand{b.data(), n, 1});
          std::vector<float> c = numbers(m * n, 2);
          multiply(m, turn_a ? MatrixOperand{a_turned.data(), 1, m} : MatrixOperand{a.data(), k, 1}, packed, c.data(),
                   n, add ? ProductStart::add : ProductStart::zero);
          // Where a target multiplies and adds in two roundings, each of k terms has one more.
          std::int64_t wrong = 0;
          for (std::size_t i = 0; i < c.size(); ++i)
            wrong +=
                rounds_once() ? c[i] != expected[i] : std::abs(c[i] - expected[i]) > 6e-8F * static_cast<float>(k) * 16;
          CHECK(wrong == 0);
        }
    }
  }
}

TEST_CASE("nothing beside a product's columns is touched", "[inference][product]") {
  const std::vector<float> a = numbers(5 * 30, 0), b = numbers(30 * 19, 1);
  PackedMatrix packed;
  packed.pack(30, 19, {b.data(), 19, 1});
  std::vector<float> c(5 * 40, 7);
  multiply(5, {a.data(), 30, 1}, packed, c.data(), 40, ProductStart::zero);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 19; j < 40; ++j) CHECK(c[i * 40 + j] == 7);
}

TEST_CASE("a product has the same bits at any number of threads", "[inference][product]") {
  const int threads = thread_count();
  const std::vector<float> a = numbers(300 * 400, 0), b = numbers(400 * 700, 1);
  std::vector<std::vector<float>> results;
  for (const int count : {1, 2, 5}) {
    set_thread_count(count);
    PackedMatrix packed;
    packed.pack(400, 700, {b.data(), 700, 1});
    multiply(300, {a.data(), 400, 1}, packed, results.emplace_back(300 * 700).data(), 700, ProductStart::zero);
  }
  set_thread_count(threads);
  const bool same = results[0] == results[1] && results[0] == results[2];
  CHECK(same);
}

TEST_CASE("a packed matrix can hold another one after the first", "[inference][product]") {
  PackedMatrix packed;
  const std::vector<float> large = numbers(50 * 90, 0), small = numbers(6, 1), a{1, 2};
  packed.pack(50, 90, {large.data(), 90, 1});
  packed.pack(2, 3, {small.data(), 3, 1});
  float c[3];
  multiply(1, {a.data(), 2, 1}, packed, c, 3, ProductStart::zero);
  for (int j = 0; j < 3; ++j) CHECK(c[j] == Approx(std::fma(2.0f, small[3 + j], small[j])).epsilon(1e-6));
}

}  // namespace
}  // namespace stein::inference::fused
