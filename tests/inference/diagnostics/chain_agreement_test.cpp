// R-hat and effective sample sizes over many quantities, of chains whose draws come in turn.
#include <stein/core/rng.h>
#include <stein/inference/diagnostics/chain_agreement.h>
#include <stein/inference/diagnostics/chain_diagnostics.h>

#include <catch2/catch.hpp>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr std::int64_t chains = 3, draws = 40;

/// Chain c of quantity q lies `apart`[q] · c away from the first; draws are independent.
Matrix<double> interleaved(const std::vector<double>& apart) {
  Matrix<double> all(std::ssize(apart), chains * draws);
  Draws random({.seed = 7, .stream = Stream::data}, 0);
  for (std::int64_t q = 0; q < all.rows(); ++q)
    for (std::int64_t t = 0; t < draws; ++t)
      for (std::int64_t c = 0; c < chains; ++c)
        all.view()(q, t * chains + c) = random.normal() + apart[static_cast<std::size_t>(q)] * static_cast<double>(c);
  return all;
}

/// The draws of one quantity, a row a chain.
Matrix<double> by_chain(const Matrix<double>& all, std::int64_t q) {
  Matrix<double> rows(chains, draws);
  for (std::int64_t c = 0; c < chains; ++c)
    for (std::int64_t t = 0; t < draws; ++t) rows.view()(c, t) = all.view()(q, t * chains + c);
  return rows;
}

}  // namespace

TEST_CASE("the median and the worst quantity are those of the single ones", "[inference][diagnostics]") {
  const Matrix<double> all = interleaved({0, 0.5, 3});
  const auto found = chain_agreement(all.view(), chains);
  REQUIRE(found);
  CHECK(found->chains == chains);
  CHECK(found->draws == draws);
  CHECK(found->quantities == 3);
  std::vector<double> r_hats, sizes;
  for (std::int64_t q = 0; q < 3; ++q) {
    r_hats.push_back(split_r_hat(by_chain(all, q).view()));
    sizes.push_back(bulk_effective_sample_size(by_chain(all, q).view()));
  }
  REQUIRE((r_hats[0] < r_hats[1] && r_hats[1] < r_hats[2]));
  REQUIRE((sizes[0] > sizes[1] && sizes[1] > sizes[2]));
  CHECK(found->median_r_hat == r_hats[1]);
  CHECK(found->worst_r_hat == r_hats[2]);
  CHECK(found->worst_r_hat > 1.5);
  CHECK(found->median_effective_samples == sizes[1]);
  CHECK(found->least_effective_samples == sizes[2]);

  Snapshot snapshot;
  found->save(snapshot);
  ChainAgreement restored;
  restored.restore(snapshot);
  CHECK(restored.chains == chains);
  CHECK(restored.draws == draws);
  CHECK(restored.quantities == 3);
  CHECK(restored.median_r_hat == found->median_r_hat);
  CHECK(restored.worst_r_hat == found->worst_r_hat);
  CHECK(restored.median_effective_samples == found->median_effective_samples);
  CHECK(restored.least_effective_samples == found->least_effective_samples);
}

TEST_CASE("quantities that stay where they are tell nothing of chains, and few draws tell nothing",
          "[inference][diagnostics]") {
  Matrix<double> all = interleaved({0, 0});
  for (double& value : all.view().row(1)) value = 2;
  const auto found = chain_agreement(all.view(), chains);
  REQUIRE(found);
  CHECK(found->quantities == 1);
  CHECK(found->worst_r_hat == split_r_hat(by_chain(all, 0).view()));
  for (double& value : all.view().row(0)) value = 1;
  CHECK_FALSE(chain_agreement(all.view(), chains));
  const Matrix<double> few(2, chains * 7);
  CHECK_FALSE(chain_agreement(few.view(), chains));
  CHECK_ERROR(chain_agreement(all.view(), 7), usage, "draws of 7 chains in turn", "got 120");
}

TEST_CASE("traces are of rows at equal distances", "[inference][diagnostics]") {
  const auto number = [](std::int64_t sample, std::int64_t row) { return static_cast<double>(100 * sample + row); };
  const Matrix<double> some = traces_of(10, 2, 4, number), all = traces_of(3, 2, 4, number);
  REQUIRE(some.rows() == 4);
  REQUIRE(some.columns() == 2);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t k = 0; k < 2; ++k) CHECK(some.view()(i, k) == static_cast<double>(100 * k + i * 10 / 4));
  REQUIRE(all.rows() == 3);
  CHECK(all.view()(2, 1) == 102);
}
