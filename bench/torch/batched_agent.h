// REINFORCE under a Stein posterior as a user of LibTorch writes it: all particles and steps in one tensor. What
// `stein bench svpg` measures ours against.
#pragma once

#include <stein/agents/control/control_agent.h>
#include <stein/bench/torch/batched_rollouts.h>

namespace stein::bench {

/// The iterations of an `agents::ControlAgent` with learner reinforce, a linear baseline, actions that are numbers and
/// an sd that no observation moves; from the same start, with the same random numbers. The gradient is LibTorch
/// autograd's, batched over particles; the Stein step is the library's own.
class BatchedAgent {
 public:
  /// @param options  of that agent, with reference arithmetic
  /// Throws Error(usage) for options that it does not have.
  BatchedAgent(const agents::ControlAgentOptions& options, const envs::ControlEntry::Builder& environment,
               std::uint64_t seed);

  void iterate();
  const inference::Particles<float>& particles() const { return policy_.particles(); }

 private:
  void collect();
  void take_rows();
  at::Tensor discounted_returns() const;
  void make_features();
  void make_advantages();
  void move();
  void refit();

  agents::ControlAgentOptions options_;
  policies::ControlPolicy policy_;
  BatchedRollouts rollouts_;
  agents::PolicyObjective objective_;
  inference::RollbackSampler<float> sampler_;
  inference::Matrix<float> weights_;  ///< [M, P] of the networks
  at::Tensor coefficients_;           ///< [M, 2 O + 4, 1] of the baseline, in double
  /// The rows of the last collection that count, particle by particle, zeros after the last: [M, n, ·] and [M, n].
  at::Tensor observations_, actions_, times_, counts_, returns_, features_, advantages_;
};

/// How far the particles of `ours` and of the reference are apart after some iterations of both, as a share of the way
/// that they have gone.
double difference_after(std::int64_t iterations, agents::ControlAgent& ours, BatchedAgent& reference);

}  // namespace stein::bench
