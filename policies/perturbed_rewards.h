// Rewards with noise of every particle's own, the same whenever an interaction is seen again.
#pragma once

#include <stein/inference/batch.h>
#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace stein::policies {

/// Particle i sees the reward y_n of interaction n as y_n + ε_{n,i}, ε ~ N(0, 1/γ) with γ the precision of the arm's
/// noise (Lu & Van Roy 2017, "Ensemble sampling"): keyed by the seed, the interaction's number and the particle alone.
class PerturbedRewards {
 public:
  PerturbedRewards(std::uint64_t seed, std::int64_t particles)
      : seed_(seed), noise_(static_cast<std::size_t>(particles)) {}

  /// Gives the batch targets of every particle's own, [M·n], valid until the next call.
  /// @param precision_of  γ of an arm; an interaction of weight w has the precision w γ
  void apply(const InteractionBatch& interactions, const std::function<double(std::int64_t)>& precision_of,
             inference::Batch<float>& batch);

 private:
  std::uint64_t seed_;
  std::vector<float> noise_, targets_;
};

}  // namespace stein::policies
