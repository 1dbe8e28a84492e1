// Effective sample size and R-hat where they are known: independent draws, AR(1) chains, chains that disagree.
#include <stein/core/rng.h>
#include <stein/inference/diagnostics/chain_diagnostics.h>

#include <cmath>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// Chains of x ← ρ x + √(1 − ρ²) n, started in their law N(0, 1).
struct Autoregression {
  std::vector<double> values;
  std::int64_t chains, draws;

  Autoregression(double correlation, std::int64_t chain_count, std::int64_t draw_count)
      : values(static_cast<std::size_t>(chain_count * draw_count)), chains(chain_count), draws(draw_count) {
    for (std::int64_t i = 0; i < chains; ++i) {
      const auto at = [&](std::int64_t t) -> double& { return values[static_cast<std::size_t>(i * draws + t)]; };
      const auto noise = [&](std::int64_t t) {
        return normal_at<double>({.seed = 4}, static_cast<std::uint32_t>(i), static_cast<std::uint64_t>(t));
      };
      at(0) = noise(0);
      for (std::int64_t t = 1; t < draws; ++t)
        at(t) = correlation * at(t - 1) + std::sqrt(1 - correlation * correlation) * noise(t);
    }
  }
  MatrixView<double> view() { return {values.data(), chains, draws}; }
};

}  // namespace

TEST_CASE("AR(1) chains are worth (1 − ρ)/(1 + ρ) of their draws", "[inference][diagnostics]") {
  for (const double correlation : {-0.5, 0.0, 0.5, 0.9}) {
    Autoregression chains(correlation, 4, 20'000);
    const double law = 80'000 * (1 - correlation) / (1 + correlation);
    CAPTURE(correlation);
    CHECK(effective_sample_size(chains.view()) == Approx(law).epsilon(0.06));
    CHECK(bulk_effective_sample_size(chains.view()) == Approx(law).epsilon(0.08));
    CHECK(split_r_hat(chains.view()) < 1.01);
  }
}

TEST_CASE("ranks do not care how draws are stretched, moments do", "[inference][diagnostics]") {
  Autoregression chains(0.3, 4, 2000), stretched = chains;
  for (double& value : stretched.values) value = std::exp(6 * value);
  CHECK(bulk_effective_sample_size(stretched.view()) == bulk_effective_sample_size(chains.view()));
  CHECK(split_r_hat(stretched.view()) == Approx(split_r_hat(chains.view())).epsilon(0.01));
}

TEST_CASE("chains in different places or of different widths show in R-hat", "[inference][diagnostics]") {
  Autoregression apart(0, 4, 500), wide(0, 4, 500), drifting(0, 4, 500);
  for (std::int64_t t = 0; t < 500; ++t) {
    apart.view()(0, t) += 2;
    wide.view()(0, t) *= 4;
    for (std::int64_t i = 0; i < 4; ++i) drifting.view()(i, t) += t < 250 ? 0 : 1.5;
  }
  CHECK(split_r_hat(apart.view()) > 1.1);
  CHECK(split_r_hat(wide.view()) > 1.05);
  CHECK(split_r_hat(drifting.view()) > 1.1);
  CHECK(effective_sample_size(apart.view()) < 100);
}

TEST_CASE("draws that are no numbers or all the same have no effective size", "[inference][diagnostics]") {
  Autoregression chains(0, 2, 100);
  chains.view()(1, 50) = NAN;
  CHECK(std::isnan(effective_sample_size(chains.view())));
  CHECK(std::isnan(split_r_hat(chains.view())));
  std::vector<double> same(200, 3.0);
  CHECK(std::isnan(effective_sample_size({same.data(), 2, 100})));
  CHECK_ERROR(effective_sample_size({same.data(), 2, 3}), usage, "at least 4 draws a chain, got 3");
}
