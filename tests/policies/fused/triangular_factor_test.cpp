#include <stein/policies/fused/triangular_factor.h>

#include <stein/core/rng.h>
#include <stein/inference/storage/aligned_buffer.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace stein::policies {
namespace {

using Numbers = inference::AlignedBuffer<double>;

/// A factor whose diagonal is `diagonal`.
Numbers factor_of(const FactorShape& shape, double diagonal) {
  Numbers factor(shape.size());
  for (std::size_t j = 0; j < shape.columns; ++j) {
    factor.data()[(1 + j) * shape.stride() + j] = diagonal;
    factor.data()[j] = 1 / diagonal;
  }
  return factor;
}

void draw_row(Draws& draws, const FactorShape& shape, double* row) {
  for (std::size_t k = 0; k < shape.rows; ++k) row[k] = draws.uniform() < 0.2 ? 0 : draws.normal();
}

void check_close(const Numbers& a, const Numbers& b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(k);
    REQUIRE(a.data()[k] == Approx(b.data()[k]).epsilon(1e-12).margin(1e-12));
  }
}

TEST_CASE("rows are added and eliminated in SIMD as in the plain loops, in every shape", "[policies][linear]") {
  const std::size_t columns = GENERATE(1u, 2u, 6u, 7u, 8u, 9u, 15u, 17u, 37u);
  const std::size_t behind = GENERATE(0u, 1u, 5u, 37u);
  CAPTURE(columns, behind);
  const FactorShape shape{.columns = columns, .rows = columns + behind};
  Draws draws({.seed = columns, .step = behind, .stream = Stream::test}, 0);
  constexpr std::size_t arms = 5;
  std::vector<Numbers> simd(arms, factor_of(shape, 0.5)), plain = simd;
  for (int i = 0; i < 60; ++i) {
    Numbers row(shape.stride());
    draw_row(draws, shape, row.data());
    Numbers same = row;
    const std::size_t arm = draws.integer(arms);
    fused::rotate_in(simd[arm].data(), shape, row.data());
    reference::rotate_in(plain[arm].data(), shape, same.data());
    check_close(row, same);
  }
  std::vector<const double*> of_simd, of_plain;
  for (std::size_t arm = 0; arm < arms; ++arm) {
    check_close(simd[arm], plain[arm]);
    of_simd.push_back(simd[arm].data()), of_plain.push_back(plain[arm].data());
  }
  Numbers rows(arms * shape.stride());
  for (std::size_t arm = 0; arm < arms; ++arm) draw_row(draws, shape, rows.data() + arm * shape.stride());
  Numbers same = rows;
  const std::size_t eliminated = GENERATE_COPY(columns, columns - 1);
  std::vector<double> squares(arms, 0.25), same_squares(arms, 0.25);
  const bool one_row = GENERATE(true, false);
  const Numbers given = rows;
  const auto work = [&](std::span<const double* const> factors, Numbers& to, std::vector<double>& sums) {
    return Elimination{.factors = factors,
                       .columns = eliminated,
                       .stride = shape.stride(),
                       .from = one_row ? given.data() : to.data(),
                       .from_stride = one_row ? 0 : shape.stride(),
                       .rows = to.data(),
                       .squares = sums.data()};
  };
  fused::eliminate(work(of_simd, rows, squares));
  reference::eliminate(work(of_plain, same, same_squares));
  for (std::size_t arm = 0; arm < arms; ++arm) {
    CHECK(squares[arm] == Approx(same_squares[arm]).epsilon(1e-12));
    for (std::size_t k = eliminated; k < shape.stride(); ++k)
      REQUIRE(rows.data()[arm * shape.stride() + k] ==
              Approx(same.data()[arm * shape.stride() + k]).epsilon(1e-11).margin(1e-11));
  }
}

TEST_CASE("a factor times its transpose is the sum of its rows' squares", "[policies][linear]") {
  // L = ½ I of order 2; the rows (3, 4) and (0, 2) make L Lᵀ = [9.25 12; 12 20.25].
  const FactorShape shape{.columns = 2, .rows = 2};
  Numbers factor = factor_of(shape, 0.5);
  for (const auto& [first, second] : {std::pair{3.0, 4.0}, {0.0, 2.0}}) {
    Numbers row(shape.stride());
    row.data()[0] = first, row.data()[1] = second;
    fused::rotate_in(factor.data(), shape, row.data());
  }
  const double a = factor.data()[shape.stride()], b = factor.data()[shape.stride() + 1],
               c = factor.data()[2 * shape.stride() + 1];
  CHECK(a * a == Approx(9.25).epsilon(1e-14));
  CHECK(a * b == Approx(12).epsilon(1e-14));
  CHECK(b * b + c * c == Approx(20.25).epsilon(1e-14));
  CHECK(factor.data()[0] == Approx(1 / a).epsilon(1e-15));
  CHECK(factor.data()[1] == Approx(1 / c).epsilon(1e-15));
}

/// Rows [count · stride] of `shape`.
Numbers draw_rows(Draws& draws, const FactorShape& shape, std::size_t count) {
  Numbers rows(count * shape.stride());
  for (std::size_t i = 0; i < count; ++i) draw_row(draws, shape, rows.data() + i * shape.stride());
  return rows;
}

/// Sums whose factor is `factor_of(shape, 0.5)`.
Numbers sums_of_half(const FactorShape& shape) {
  Numbers sums = factor_of(shape, 0.5);
  for (std::size_t j = 0; j < shape.columns; ++j) sums.data()[(1 + j) * shape.stride() + j] = 0.25;
  return sums;
}

TEST_CASE("sums of products are added and factorised in SIMD as in the plain loops, in every shape",
          "[policies][linear]") {
  const std::size_t columns = GENERATE(1u, 2u, 6u, 7u, 8u, 9u, 15u, 17u, 37u, 52u);
  const std::size_t behind = GENERATE(0u, 1u, 5u, 37u);
  const std::size_t count = GENERATE(1u, 3u, 100u);
  CAPTURE(columns, behind, count);
  const FactorShape shape{.columns = columns, .rows = columns + behind};
  Draws draws({.seed = columns, .step = behind, .stream = Stream::test}, 1);
  Numbers simd = sums_of_half(shape), plain = simd;
  const Numbers rows = draw_rows(draws, shape, count);
  fused::add_products(simd.data(), shape, rows.data(), count);
  reference::add_products(plain.data(), shape, rows.data(), count);
  REQUIRE(fused::factorise(simd.data(), shape));
  REQUIRE(reference::factorise(plain.data(), shape));
  check_close(simd, plain);
}

TEST_CASE("the factor of sums of products is the one that rotations of the rows give", "[policies][linear]") {
  const std::size_t columns = GENERATE(1u, 7u, 8u, 52u), behind = GENERATE(0u, 1u, 5u);
  CAPTURE(columns, behind);
  const FactorShape shape{.columns = columns, .rows = columns + behind};
  Draws draws({.seed = columns, .step = behind, .stream = Stream::test}, 2);
  constexpr std::size_t count = 1000;
  Numbers sums = sums_of_half(shape), rotated = factor_of(shape, 0.5);
  Numbers rows = draw_rows(draws, shape, count);
  fused::add_products(sums.data(), shape, rows.data(), count);
  REQUIRE(fused::factorise(sums.data(), shape));
  for (std::size_t i = 0; i < count; ++i) fused::rotate_in(rotated.data(), shape, rows.data() + i * shape.stride());
  // Pivots are about √1000 · 0.9: what stands beside them is compared on their scale.
  for (std::size_t k = 0; k < sums.size(); ++k) {
    CAPTURE(k);
    REQUIRE(sums.data()[k] == Approx(rotated.data()[k]).epsilon(1e-9).margin(28 * 1e-9));
  }
}

TEST_CASE("the worse the condition, the fewer digits a factor of sums has, down to half of them",
          "[policies][linear]") {
  // The second column is the first and a share of noise: the square of its pivot is about share² of its diagonal
  // number, which has a relative rounding of at most 500 ε, in practice far less.
  const double share = GENERATE(1e-1, 1e-2, 1e-3);
  CAPTURE(share);
  const FactorShape shape{.columns = 2, .rows = 2};
  Numbers sums(shape.size()), rotated(shape.size());
  Draws draws({.seed = 1, .step = 0, .stream = Stream::test}, 3);
  for (int i = 0; i < 500; ++i) {
    Numbers row(shape.stride());
    row.data()[0] = draws.normal(), row.data()[1] = row.data()[0] + share * draws.normal();
    fused::add_products(sums.data(), shape, row.data(), 1);
    fused::rotate_in(rotated.data(), shape, row.data());
  }
  REQUIRE(fused::factorise(sums.data(), shape));
  const std::size_t last = 2 * shape.stride() + 1;
  CHECK(sums.data()[last] == Approx(rotated.data()[last]).epsilon(1e-13 / (share * share)).margin(0));
}

TEST_CASE("a pivot that would keep less than half of its digits is refused, a column of zeros is not",
          "[policies][linear]") {
  // S = [1 1; 1 1 + 2⁻ᵐ] has the factor [1 0; 1 2^(−m/2)].
  const FactorShape shape{.columns = 2, .rows = 2};
  const auto factorise = [&](double last, auto&& factorised) {
    Numbers sums(shape.size());
    double* const columns = sums.data() + shape.stride();
    columns[0] = columns[1] = 1, columns[shape.stride() + 1] = last;
    const bool done = factorised(sums.data(), shape);
    return std::pair(done, columns[shape.stride() + 1]);
  };
  for (const auto& factorised : {fused::factorise, reference::factorise}) {
    CHECK(factorise(1 + 0x1p-24, factorised) == std::pair(true, 0x1p-12));
    CHECK_FALSE(factorise(1 + 0x1p-28, factorised).first);
    CHECK_FALSE(factorise(1, factorised).first);
    CHECK_FALSE(factorise(std::nan(""), factorised).first);
    Numbers zeros(shape.size());
    zeros.data()[shape.stride()] = 4;
    REQUIRE(factorised(zeros.data(), shape));
    CHECK(zeros.data()[shape.stride()] == 2);
    CHECK(zeros.data()[2 * shape.stride() + 1] == 0);
  }
}

}  // namespace
}  // namespace stein::policies
