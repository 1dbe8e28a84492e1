// Whether the chains of a network agree about what they predict for held-out data.
#pragma once

#include <stein/inference/diagnostics/chain_agreement.h>
#include <stein/training/network_weights.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace stein::training {

/// Of so many rows, at equal distances, agreement is looked at.
inline constexpr std::int64_t most_rows_of_agreement = 100;

/// Of a method that is a chain, of what its samples predict; nothing of others, and where `chain_agreement` has none.
/// @param samples  has `traces(at_most)`: [rows, samples], a sample of every chain in turn
template <class Samples>
std::optional<inference::ChainAgreement> predictive_agreement(const NetworkWeights& weights, const Samples& samples) {
  if (weights.kind() != MethodKind::chain) return std::nullopt;
  return inference::chain_agreement(samples.traces(most_rows_of_agreement).view(), weights.particles().rows());
}

/// Adds `agreement` to what a summary says of a part, where every seed has it: {chains, draws, rows, r_hat,
/// worst_r_hat, effective_samples, least_effective_samples}, the last four as `measured`: of the median row and of the
/// worst.
void add_agreement(nlohmann::ordered_json& part, const std::vector<std::optional<inference::ChainAgreement>>& seeds,
                   const char* each = "per_seed");

/// The line of a summary's part that has `agreement`; "" of others.
std::string agreement_line(const nlohmann::ordered_json& part);

}  // namespace stein::training
