// Randomised maximum a posteriori: particles that each climb to the mode of a perturbed posterior of their own.
#pragma once

#include <stein/policies/particle_policy.h>

#include <vector>

namespace stein::policies {

/// Anchored, perturbed particles (Lu & Van Roy 2017, "Ensemble sampling"; Osband, Aslanides & Cassirer 2018; Pearce,
/// Leibfried & Brintrup 2020): particle i has the prior N(c_i, Σ₀) with an anchor c_i ~ N(0, Σ₀) of its own, where it
/// starts, and sees reward y_n as y_n + ε_{n,i}, ε ~ N(0, 1/γ), the same whenever interaction n is drawn. Without
/// hidden layers and with γ the precision of the noise, modes of these posteriors are draws from the posterior itself.
class AnchoredPolicy final : public ParticlePolicy {
 public:
  /// Those of particles. Throws Error(usage) for a Bernoulli likelihood and for precisions that are learned.
  AnchoredPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

 protected:
  void shape(const InteractionBatch& interactions, inference::Batch<float>& batch) override;

 private:
  std::vector<float> perturbed_, noise_;
};

}  // namespace stein::policies
