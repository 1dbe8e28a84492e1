#include <stein/core/error.h>
#include <stein/core/median.h>
#include <stein/core/parallel.h>
#include <stein/inference/diagnostics/chain_agreement.h>
#include <stein/inference/diagnostics/chain_diagnostics.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace stein::inference {

void ChainAgreement::save(Snapshot& snapshot) const {
  snapshot.put("counts", std::vector<std::int64_t>{chains, draws, quantities});
  snapshot.put("numbers",
               std::vector<double>{median_r_hat, worst_r_hat, median_effective_samples, least_effective_samples});
}

void ChainAgreement::restore(const Snapshot& snapshot) {
  const auto counts = snapshot.get_vector<std::int64_t>("counts");
  const auto numbers = snapshot.get_vector<double>("numbers");
  *this = {.chains = counts.at(0),
           .draws = counts.at(1),
           .quantities = counts.at(2),
           .median_r_hat = numbers.at(0),
           .worst_r_hat = numbers.at(1),
           .median_effective_samples = numbers.at(2),
           .least_effective_samples = numbers.at(3)};
}

std::optional<ChainAgreement> chain_agreement(MatrixView<const double> draws, std::int64_t chains) {
  STEIN_CHECK(chains >= 1 && draws.columns % chains == 0, "expected draws of {} chains in turn, got {} in all", chains,
              draws.columns);
  const std::int64_t length = draws.columns / chains;
  if (length < 8) return std::nullopt;
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> r_hats(static_cast<std::size_t>(draws.rows), unknown), sizes = r_hats;
  parallel_blocks(draws.rows, 1, [&](std::int64_t begin, std::int64_t end) {
    Matrix<double> by_chain(chains, length);
    for (std::int64_t q = begin; q < end; ++q) {
      for (std::int64_t k = 0; k < draws.columns; ++k) by_chain.view()(k % chains, k / chains) = draws(q, k);
      r_hats[static_cast<std::size_t>(q)] = split_r_hat(by_chain.view());
      sizes[static_cast<std::size_t>(q)] = bulk_effective_sample_size(by_chain.view());
    }
  });
  std::vector<double> found_r_hats, found_sizes;
  for (std::size_t q = 0; q < r_hats.size(); ++q) {
    if (!std::isfinite(r_hats[q]) || !std::isfinite(sizes[q])) continue;
    found_r_hats.push_back(r_hats[q]), found_sizes.push_back(sizes[q]);
  }
  if (found_r_hats.empty()) return std::nullopt;
  return ChainAgreement{.chains = chains,
                        .draws = length,
                        .quantities = std::ssize(found_r_hats),
                        .median_r_hat = median(found_r_hats),
                        .worst_r_hat = std::ranges::max(found_r_hats),
                        .median_effective_samples = median(found_sizes),
                        .least_effective_samples = std::ranges::min(found_sizes)};
}

}  // namespace stein::inference
