// Whether chains agree about many quantities at once, such as what they predict for held-out rows.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/storage/matrix.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace stein::inference {

/// R̂ and effective sample sizes over quantities (chain_diagnostics.h). Weights of networks do not tell whether chains
/// agree, as many of them make the same function; predictions do (Izmailov et al. 2021, section 4).
struct ChainAgreement {
  std::int64_t chains = 1;
  std::int64_t draws = 0;       ///< of each chain, 8 at least
  std::int64_t quantities = 0;  ///< of which draws differ
  double median_r_hat = 1;      ///< near 1 where chains agree; of one chain, whether its halves do
  double worst_r_hat = 1;
  double median_effective_samples = 0;  ///< bulk, of all chains together
  double least_effective_samples = 0;

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
};

/// Of `draws` [quantities, draws · chains], the chains' draws in turn: draw t of chain c is number t · chains + c.
/// @returns nothing where there are fewer than 8 draws a chain, or no quantity has finite draws that differ in every
///          half of every chain
/// @throws Error(usage) unless there are so many draws of every chain
std::optional<ChainAgreement> chain_agreement(MatrixView<const double> draws, std::int64_t chains);

/// [rows, samples] numbers of some rows at equal distances, `at_most` of them. @param number  (sample, row) → double
template <class Number>
Matrix<double> traces_of(std::int64_t rows, std::int64_t samples, std::int64_t at_most, const Number& number) {
  const std::int64_t shown = std::min(rows, at_most);
  Matrix<double> traces(shown, samples);
  for (std::int64_t i = 0; i < shown; ++i)
    for (std::int64_t k = 0; k < samples; ++k) traces.view()(i, k) = number(k, i * rows / shown);
  return traces;
}

}  // namespace stein::inference
