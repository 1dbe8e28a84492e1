// Bootstrapped Thompson sampling: every particle learns from a resampled history of its own.
#pragma once

#include <stein/policies/particle_policy.h>

#include <vector>

namespace stein::policies {

/// Interaction n counts k_{n,i} ~ Poisson(1) times to particle i, the same whenever it is drawn: the bootstrap of a
/// stream (Oza & Russell 2001; Eckles & Kaptein 2014, "Thompson sampling with the online bootstrap"; Osband et al. 2016
/// for networks). What it is sure of before data comes from the prior functions alone, if there are any.
class BootstrapPolicy final : public ParticlePolicy {
 public:
  /// Those of particles.
  BootstrapPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

 protected:
  void shape(const InteractionBatch& interactions, inference::Batch<float>& batch) override;

 private:
  std::vector<float> counts_;
};

}  // namespace stein::policies
