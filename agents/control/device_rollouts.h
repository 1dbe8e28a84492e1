// The slots of all particles on a device: collected there in one launch, brought home shard by shard.
#pragma once

#include <stein/agents/control/rollout_driver.h>
#include <stein/agents/control/rollouts.h>
#include <stein/agents/control/valued_by.h>
#include <stein/inference/storage/matrix.h>

#include <cstdint>
#include <span>

namespace stein::agents {

/// Where the episodes under way of a shard are.
struct ShardProgress {
  envs::SlotProgress slots;
  std::vector<double> discounted, factor;  ///< as RolloutShard has them
};

/// What Rollouts has on a device other than the host: the episodes under way, and room for what a launch collects.
class DeviceRollouts {
 public:
  /// Begins an episode in every slot, as VectorEnvironment::reset(environment_seed) does.
  /// Throws Error(usage) for a task that a simulator moves, and where there is no such device.
  DeviceRollouts(inference::Device device, const envs::ControlEntry::Builder& builder, const RolloutShape& shape,
                 std::uint64_t environment_seed);

  /// Collects under the policies in one launch, and leaves everything on the device.
  /// @param environment_seed  whole paths begin anew from it
  /// @param decisions         key of the first step's draws
  /// @param valued            networks that value the steps in the same launch; null: none do
  /// @throws Error(numeric)   naming slot and step of an action that is not allowed, or a reward or an observation that
  ///                          is not finite
  /// @throws Error(usage)     where the networks are too large for the device
  void launch(const policies::ControlPolicy& policy, std::uint64_t environment_seed, const NoiseKey& decisions,
              const ValuedBy* valued = nullptr);
  /// Whether a launch has room for networks that value its steps beside those of the policies.
  bool fits(const policies::ControlPolicy& policy, const ValuedBy& valued) const;
  /// Writes what the shards have of the last launch, values included where it made some.
  void bring_home(std::span<RolloutShard> shards) const;
  /// What the last launch valued. Throws Error(usage) where it valued nothing.
  ValuedRows valued_rows() const;

  /// Where the episodes under way are, shard by shard: the host goes on from there with the same steps.
  std::vector<ShardProgress> progress(std::span<const RolloutShard> shards) const;
  /// Goes on from where the environments and sums of the shards are.
  void go_on_from(std::span<const RolloutShard> shards);

 private:
  template <class Scalar>
  using Numbers = inference::Matrix<Scalar>;  ///< one row

  envs::SlotMemory memory();
  PolicyPlan policy_plan(const policies::ControlPolicy& policy);
  ValuePlan value_plan(const ValuedBy& valued);
  RolloutRows rows();
  std::int64_t slots() const { return shape_.particles * shape_.slots; }
  /// The number of a shard's first slot among the slots of all particles.
  std::int64_t first_slot_of(const RolloutShard& shard) const {
    return shard.particle * shape_.slots + shard.first_slot;
  }

  inference::Device device_;
  envs::AnalyticTask task_;
  envs::ControlSpec spec_;
  RolloutShape shape_;
  std::uint64_t seed_;      ///< of the last reset
  std::int64_t steps_ = 0;  ///< since then
  std::int64_t capacity_;   ///< steps that a shard has room for
  Numbers<float> state_, total_rewards_, lengths_;
  Numbers<double> discounted_, factor_;
  Numbers<float> weights_, units_;  ///< of the policies
  Numbers<std::int64_t> taken_;     ///< [shards] steps
  Numbers<float> observations_, actions_, rewards_, terminated_, truncated_, counts_, times_, end_observations_,
      ended_rewards_, next_observations_;
  Numbers<double> ended_discounted_;
  bool has_valued_ = false;                                                                      ///< the last launch
  bool has_advantages_ = false;                                                                  ///< the same
  Numbers<float> value_weights_, value_units_, values_, end_values_, next_values_, advantages_;  ///< once valued
};

}  // namespace stein::agents
