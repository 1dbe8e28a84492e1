// How much better an action turned out than expected.
#pragma once

#include <cstdint>
#include <span>

namespace stein::agents {

/// Consecutive steps of some slots; every span is [steps · slots], step by step.
struct StepsOfSlots {
  std::int64_t slots = 0;
  std::span<const float> rewards{};
  std::span<const float> values{};       ///< V(s_t), or another baseline
  std::span<const float> next_values{};  ///< V(s_{t+1}); 0 where nothing follows that counts
  std::span<const float> ends{};         ///< 1 where the step was the last of its episode, else 0
};

/// Generalised advantage estimation (Schulman et al. 2016, eq. 16), backwards from the last step:
///   δ_t = r_t + γ V(s_{t+1}) − V(s_t),   A_t = δ_t + γ λ (1 − end_t) A_{t+1}.
/// With λ = 1 it is the return that follows minus V; with next values of 0 at the ends, the return to go.
/// @param advantages  [steps · slots], written
/// @throws Error(usage) if the spans do not have the same whole number of steps, or γ or λ is outside [0, 1]
void generalised_advantages(const StepsOfSlots& steps, double discount, double lambda, std::span<float> advantages);

/// Shifts and divides values to mean 0 and sd 1, counting only those whose `scale` is not 0; others become 0. Of fewer
/// than two, or equal, values only the mean is taken away.
void standardise(std::span<float> values, std::span<const float> scale);

/// 1 − Var(target − value)/Var(target): how much of the returns a baseline foresaw. 1: all; 0: no more than their mean;
/// below 0: it made them harder to foresee. Counts only entries whose `scale` is not 0; 0 where the targets are equal.
/// @param residuals  target − value
double explained_variance(std::span<const float> targets, std::span<const float> residuals,
                          std::span<const float> scale);

}  // namespace stein::agents
