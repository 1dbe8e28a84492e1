// The probabilities of the slab in SIMD against the plain loop.
#include <stein/core/parallel.h>
#include <stein/core/rng.h>
#include <stein/inference/fused/slab_shares.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace stein;
using namespace stein::inference;

namespace {

/// σ = 1, v₀ = 0.1, v₁ = 10, δ = ½.
constexpr SpikeOdds odds{.constant = 3.68, .absolute = 10, .square = 0.05};

struct MovedShares {
  double sum;
  std::vector<double> rho;
};

template <class Move>
MovedShares moved(const Move& move, std::span<const double> weights, double omega, const SpikeOdds& by = odds) {
  MovedShares result{0, std::vector<double>(weights.size())};
  for (std::size_t j = 0; j < weights.size(); ++j) result.rho[j] = static_cast<double>(j % 11) / 10;
  result.sum = move(by, weights, omega, std::span<double>(result.rho));
  return result;
}

}  // namespace

TEST_CASE("the SIMD slab probabilities are the plain ones to the last bits, at every length and for any weight",
          "[inference][slab_shares]") {
  for (const std::size_t size : {1, 3, 4, 9, 8192, 8195, 70000}) {
    std::vector<double> numbers(size + 1);  // at an address that no vector is aligned to
    fill_normal(std::span<double>(numbers), {.seed = 3}, 0);
    for (std::size_t j = 0; j < numbers.size(); ++j) numbers[j] *= j % 3 == 0 ? 0.01 : j % 3 == 1 ? 0.5 : 200;
    const std::span<const double> weights = std::span<const double>(numbers).subspan(1);
    for (const double omega : {1.0, 0.3}) {
      const MovedShares found = moved(fused::move_slab_shares, weights, omega);
      const MovedShares plain = moved(reference::move_slab_shares, weights, omega);
      CHECK(found.sum == Approx(plain.sum).epsilon(1e-12));
      for (std::size_t j = 0; j < size; ++j) {
        const double error = std::abs(found.rho[j] - plain.rho[j]);
        if (!(error <= 1e-14)) CHECK(found.rho[j] == Approx(plain.rho[j]));
      }
    }
  }
}

TEST_CASE("the SIMD slab probabilities are 0 and 1 where a density is nothing beside the other",
          "[inference][slab_shares]") {
  const std::vector<double> weights{0, 1e200, -1e200, 1e3, 1e-300};
  const SpikeOdds narrow{.constant = 900, .absolute = 0, .square = 0};  // the slab is nothing anywhere
  for (const double rho : moved(fused::move_slab_shares, weights, 1, narrow).rho) {
    CHECK(rho >= 0);
    CHECK(rho < 1e-300);
  }
  const SpikeOdds wide{.constant = -900, .absolute = 10, .square = 0};
  for (const double rho : moved(fused::move_slab_shares, weights, 1, wide).rho) CHECK(rho == 1);
}

TEST_CASE("the SIMD slab probabilities have the same bits at any thread count", "[inference][slab_shares]") {
  std::vector<double> weights(700'000);
  fill_normal(std::span<double>(weights), {.seed = 5}, 0);
  const int threads = thread_count();
  set_thread_count(1);
  const MovedShares one = moved(fused::move_slab_shares, weights, 0.4);
  for (const int count : {2, 3, 7}) {
    set_thread_count(count);
    const MovedShares several = moved(fused::move_slab_shares, weights, 0.4);
    CHECK(several.sum == one.sum);
    CHECK(several.rho == one.rho);
  }
  set_thread_count(threads);
}
