// How often an interaction counts to a particle that learns from a resampled history of its own.
#pragma once

#include <stein/inference/batch.h>
#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <vector>

namespace stein::policies {

/// Interaction n counts k_{n,i} ~ Poisson(1) times to particle i, the same whenever it is drawn: the bootstrap of a
/// stream (Oza & Russell 2001; Eckles & Kaptein 2014, "Thompson sampling with the online bootstrap"). Keyed by the
/// seed, the interaction's number and the particle alone.
class BootstrapCounts {
 public:
  BootstrapCounts(std::uint64_t seed, std::int64_t particles) : seed_(seed), particles_(particles) {}

  /// Multiplies the row weights of a batch, which become those of every particle's own, [M·n], valid until the next
  /// call.
  void apply(const InteractionBatch& interactions, inference::Batch<float>& batch);

 private:
  std::uint64_t seed_;
  std::int64_t particles_;
  std::vector<float> weights_;
};

}  // namespace stein::policies
