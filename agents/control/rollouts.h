// Episodes under the present policies: every particle plays its own.
#pragma once

#include <stein/agents/control/rollout_shard.h>
#include <stein/agents/control/valued_by.h>
#include <stein/core/snapshot.h>
#include <stein/distributed/communicator.h>
#include <stein/envs/vector_environment.h>
#include <stein/inference/storage/device.h>
#include <stein/policies/control_policy.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stein::agents {

/// How much is collected at a time.
struct RolloutShape {
  std::int64_t particles = 1;
  std::int64_t slots = 8;    ///< of every particle, side by side
  std::int64_t steps = 5;    ///< of every slot
  bool whole_paths = false;  ///< begin anew each time, and play every path that began within `steps` to its end
  double discount = 0.99;    ///< of `discounted_reward`
  bool staggered = false;    ///< where paths go on: slots begin at different ages of an episode
};

/// Steps that the first episode of every slot counts as old, [particles · slots]: where the shape is staggered evenly
/// spread from 0 to the horizon, within a particle and over all. Tasks whose episodes all last to the horizon would
/// else have all slots at the same time of an episode for ever: an update sees one part of the episode alone, and
/// forgets what the last one taught of another. (rsl_rl, Rudin et al. 2022, draws such ages: `init_at_random_ep_len`.)
std::vector<float> ages_at_start(const RolloutShape& shape, std::int64_t horizon);

class DeviceRollouts;

/// Collects steps of many slots under the policies of all particles, in parallel over shards of them.
class Rollouts {
 public:
  /// @param device        where the slots are played. On another than the host a task has to be data, and all of a
  ///                      collection is one launch, with the same draws; rows differ where the networks' outputs do,
  ///                      whose sums are rounded otherwise
  /// @throws Error(usage) for a shape that makes no sense, where there is no such device, and what the environment
  ///                      throws
  Rollouts(const envs::ControlEntry::Builder& builder, const RolloutShape& shape, std::uint64_t seed,
           inference::Device device = {});
  Rollouts(Rollouts&&) noexcept;
  ~Rollouts();

  /// From here on `collect` is a collective call of `ranks`, which have to outlive this object: each plays some of the
  /// shards, and what all of them collected is there on all. On a device each rank plays all of them.
  void share_with(distributed::Communicator& ranks) { ranks_ = &ranks; }

  /// The next steps; those of the last call are gone.
  /// @param valued  networks that a device values the steps with as it makes them, if there is room for them beside
  ///                the policies'; null: none do. On the host whoever learns values them.
  void collect(const policies::ControlPolicy& policy, const ValuedBy* valued = nullptr);

  const RolloutShape& shape() const { return shape_; }
  /// Whether they are made on a device.
  bool on_device() const { return on_device_ != nullptr; }
  const envs::ControlSpec& spec() const { return shards_.front().environment->spec(); }
  /// By particle, and within a particle by slot.
  std::span<const RolloutShard> shards() const { return shards_; }
  /// Environment steps of all particles so far that count.
  std::int64_t total_steps() const { return total_steps_; }

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) saying what differs.
  void restore(const Snapshot& snapshot);

 private:
  void play(RolloutShard& shard, const policies::ControlPolicy& policy) const;
  NoiseKey decisions(std::int64_t step) const;
  std::string identity() const;

  RolloutShape shape_;
  std::uint64_t seed_;
  std::int64_t collections_ = 0;
  std::int64_t total_steps_ = 0;
  std::vector<RolloutShard> shards_;
  distributed::Communicator* ranks_ = &distributed::single_process();
  std::unique_ptr<DeviceRollouts> on_device_;  ///< none on the host
};

}  // namespace stein::agents
