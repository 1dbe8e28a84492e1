// The SIMD pass of stochastic-gradient MCMC against its reference: the same bits in float for every dynamics, over
// shapes that leave remainders everywhere.
#include <stein/core/flush_denormals.h>
#include <stein/core/parallel.h>
#include <stein/inference/fused/diffusion_pass.h>
#include <stein/inference/samplers/diffusion_pass.h>

#include <catch2/catch.hpp>
#include <limits>

#include "inference/diffusion_rows.h"

using namespace stein;
using namespace stein::inference;
using test::every_dynamics, test::flat;

namespace {

template <class Scalar>
using Rows = test::DiffusionRows<Scalar>;

}  // namespace

TEST_CASE("a step in SIMD has the bits of the reference", "[inference][diffusion][parity]") {
  for (const Dynamics dynamics : every_dynamics) {
    for (const std::int64_t size : {1, 3, 17, 64, 131, 4097, 9000}) {
      Rows<float> simd(flat(size), 3, 7), expected(flat(size), 3, 7);
      for (std::uint64_t t = 0; t < 3; ++t) {
        DiffusionResult one{.momentum_squares = simd.squares}, other{.momentum_squares = expected.squares};
        fused::diffuse(simd.step(dynamics, t), one);
        const FlushDenormals flush;  // as in all tasks
        reference::diffuse(expected.step(dynamics, t), other);
        CHECK(one.finite);
        CHECK(other.finite);
      }
      CAPTURE(static_cast<int>(dynamics), size);
      CHECK(simd.everything() == expected.everything());
      if (dynamics == Dynamics::sgnht_scalar) CHECK(simd.squares == expected.squares);
    }
  }
}

TEST_CASE("a step in float is that in double to float precision", "[inference][diffusion][parity]") {
  for (const Dynamics dynamics : every_dynamics) {
    Rows<float> narrow(flat(131), 3, 7);
    Rows<double> wide(flat(131), 3, 7);
    DiffusionResult one{.momentum_squares = narrow.squares}, other{.momentum_squares = wide.squares};
    fused::diffuse(narrow.step(dynamics, 0), one);
    reference::diffuse(wide.step(dynamics, 0), other);
    const auto found = narrow.everything();
    const auto expected = wide.everything();
    CAPTURE(static_cast<int>(dynamics));
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(2e-5).margin(2e-6));
    if (dynamics == Dynamics::sgnht_scalar)
      for (std::size_t i = 0; i < 3; ++i) CHECK(narrow.squares[i] == Approx(wide.squares[i]).epsilon(1e-5));
  }
}

TEST_CASE("a value that leaves the finite numbers is seen wherever it stands", "[inference][diffusion]") {
  for (const std::int64_t place : {0, 31, 63, 100, 4096, 4100}) {
    Rows<float> rows(flat(4101), 2, 0);
    rows.particles.gradients()(1, place) = std::numeric_limits<float>::infinity();
    Rows<float> same = rows;
    DiffusionResult simd, expected;
    fused::diffuse(rows.step(Dynamics::sgld, 0), simd);
    reference::diffuse(same.step(Dynamics::sgld, 0), expected);
    CHECK_FALSE(simd.finite);
    CHECK_FALSE(expected.finite);
  }
}

TEST_CASE("what lies between the rows stays zero", "[inference][diffusion]") {
  Rows<float> rows(flat(13), 3, 0);
  DiffusionResult result;
  fused::diffuse(rows.step(Dynamics::sghmc, 0), result);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t q = 13; q < 16; ++q) CHECK(rows.particles.values().data[i * 16 + q] == 0);
}
