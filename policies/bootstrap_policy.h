// Bootstrapped Thompson sampling: every particle learns from a resampled history of its own.
#pragma once

#include <stein/policies/bootstrap_counts.h>
#include <stein/policies/particle_policy.h>

namespace stein::policies {

/// Particles that count interactions as BootstrapCounts says (Osband et al. 2016 for networks). What they are sure of
/// before data comes from the prior functions and anchors alone, if there are any.
class BootstrapPolicy final : public ParticlePolicy {
 public:
  /// Arguments and errors are those of ParticlePolicy.
  BootstrapPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                  inference::Device device = {});

 protected:
  void shape(const InteractionBatch& interactions, inference::Batch<float>& batch) override;

 private:
  BootstrapCounts counts_;
};

}  // namespace stein::policies
