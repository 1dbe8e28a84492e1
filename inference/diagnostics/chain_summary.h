// What a table of a run prints of every coordinate.
#pragma once

#include <stein/inference/prediction/collected_samples.h>

#include <string>
#include <vector>

namespace stein::inference {

/// One quantity over chains and draws.
struct ChainSummary {
  std::string name;
  double mean, deviation;
  double effective_samples;  ///< bulk, of all chains together
  double r_hat;              ///< near 1 where chains agree; above 1.01 they do not
};

/// Of `draws` [chains, draws]; see chain_diagnostics.h. Throws Error(usage) unless there are at least 8 draws a chain.
ChainSummary summarise(std::string name, MatrixView<const double> draws);

/// Of every coordinate, particles taken as chains: "mu", "theta[3]".
template <class Scalar>
std::vector<ChainSummary> summarise(const CollectedSamples<Scalar>& samples);

/// A table with a line a quantity: name, mean, sd, ESS, R-hat.
std::string to_text(const std::vector<ChainSummary>& summaries);

}  // namespace stein::inference
