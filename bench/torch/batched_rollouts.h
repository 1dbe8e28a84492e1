// Rollouts of all particles in LibTorch: a step of all of them is one batched product a layer. What `stein bench
// rollout` and `svpg` measure ours against.
#pragma once

#include <ATen/ATen.h>
#include <stein/agents/control/rollouts.h>
#include <stein/policies/control_policy.h>

#include <memory>
#include <vector>

namespace stein::bench {

/// The weights of M perceptrons as batched products take them.
struct BatchedNetwork {
  std::vector<at::Tensor> weights, biases;  ///< by layer, [M, inputs, outputs] and [M, 1, outputs]
  at::Tensor constants;                     ///< [M, 1, A], or undefined where there are none

  /// Views of `rows` [M, P], the weights of networks with this layout.
  BatchedNetwork(const inference::Layout& layout, inference::MatrixView<const float> rows);
  /// Views of networks first … first + count.
  BatchedNetwork block(std::int64_t first, std::int64_t count) const;
};

/// What `agents::Rollouts` collects, from the same starts with the same random numbers. Particles are split into as
/// many groups as there are threads; a group has one environment for the slots of all its particles and keeps every
/// tensor of a step from one collection to the next.
class BatchedRollouts {
 public:
  /// @param initial_deviation  of policies::ControlPolicy::Options, for actions that are numbers
  BatchedRollouts(const envs::ControlEntry::Builder& builder, const agents::RolloutShape& shape,
                  const std::vector<std::int64_t>& hidden, double initial_deviation, std::uint64_t seed);

  /// The next steps under networks with tanh layers; those of the last call are gone.
  void collect(const BatchedNetwork& network);

  /// Steps of the last collection: the most of any group.
  std::int64_t steps() const;
  /// Of the last collection, [steps, M, S, ·]; a group that took fewer steps has zeros in `counts` last.
  at::Tensor observations() const { return observations_.narrow(0, 0, steps()); }
  at::Tensor actions() const { return actions_.narrow(0, 0, steps()); }
  /// [steps, M, S]
  at::Tensor rewards() const { return rewards_.narrow(0, 0, steps()); }
  at::Tensor ends() const { return ends_.narrow(0, 0, steps()); }      ///< 1 where the step was the last of an episode
  at::Tensor counts() const { return counts_.narrow(0, 0, steps()); }  ///< as in RolloutShard
  at::Tensor times() const { return times_.narrow(0, 0, steps()); }    ///< as in RolloutShard

 private:
  /// What a group reads and writes in one step: views of the tensors of all steps and particles.
  struct Step {
    at::Tensor observations, actions, rewards, ends, counts, times;
  };
  struct Group {
    std::int64_t first, particles, steps = 0;
    std::unique_ptr<envs::VectorEnvironment> environment;
    std::vector<Step> views;         ///< by step
    std::vector<at::Tensor> layers;  ///< [m, S, outputs] of every layer
    at::Tensor deviation;            ///< [m, 1, A] of actions that are numbers
    at::Tensor chances, reached;     ///< of choices: [m, S, 1] uniform in (0, 1), and [m, S, choices]
    std::vector<float> episode_times;
  };
  void play(Group& group, const BatchedNetwork& all);
  void draw(Group& group, std::int64_t t, const at::Tensor& actions) const;
  /// Records what the environment says of a step. Returns whether a path that began within the steps goes on.
  bool record(Group& group, std::int64_t t) const;

  agents::RolloutShape shape_;
  bool discrete_;
  double initial_deviation_;
  std::uint64_t seed_;
  std::int64_t collections_ = 0;
  at::Tensor observations_, actions_, rewards_, ends_, counts_, times_;
  std::vector<Group> groups_;
};

/// The largest difference between the first `steps` of what both have collected, of any number; later steps magnify the
/// rounding of earlier ones. Throws Error(usage) where ours has several shards a particle.
double largest_difference(const agents::Rollouts& ours, const BatchedRollouts& reference, std::int64_t steps);

}  // namespace stein::bench
