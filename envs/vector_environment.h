// Many copies of one control task side by side, stepped together.
#pragma once

#include <stein/core/options.h>
#include <stein/core/options_builder.h>
#include <stein/core/registry.h>
#include <stein/core/rng.h>
#include <stein/core/snapshot.h>
#include <stein/envs/action_bounds.h>
#include <stein/envs/single_environment.h>

#include <algorithm>
#include <any>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stein::envs {

/// An episode that has ended.
struct Episode {
  std::int64_t slot;
  std::int64_t length;  ///< steps
  double total_reward;  ///< undiscounted
  bool terminated;      ///< false: truncated at the horizon
};

/// Where the episodes of all slots are: what another form of the same slots (on a GPU) goes on from.
struct SlotProgress {
  std::uint64_t seed = 0;                     ///< of the last reset
  std::int64_t steps = 0;                     ///< taken since
  std::vector<double> states;                 ///< [slots, states], as ControlSpec::state lists them
  std::vector<float> observations;            ///< [slots, O]
  std::vector<float> total_rewards, lengths;  ///< [slots] of the episodes under way, undiscounted, in steps
};

/// Slots 0 … n − 1, each with an episode of its own. Where a step ends one, the next begins at once: `observations` are
/// already those of its start, `final_observations` those of the end.
///
/// Everything random is keyed by (seed, step of this object, global slot), so slots differ and neither threads nor the
/// number of slots beside one change what happens in it. A step of many slots is shared out among threads.
class VectorEnvironment {
 public:
  virtual ~VectorEnvironment() = default;

  const ControlSpec& spec() const { return spec_; }
  std::int64_t slots() const { return slots_; }
  /// Global number of slot 0.
  std::int64_t first_slot() const { return first_slot_; }
  /// Steps after which an episode is truncated.
  std::int64_t horizon() const { return horizon_; }
  const ActionBounds& action_bounds() const { return bounds_; }

  /// Begins an episode in every slot.
  void reset(std::uint64_t seed);
  /// Moves every slot by one step.
  /// @param actions  [slots, A]; a choice is its number
  /// @throws Error(usage)    unless there are slots·A actions, for a choice that is none, for an action outside its
  ///                         bounds unless they are clipped, and before the first `reset`
  /// @throws Error(numeric)  naming environment, slot and step of an action, observation or reward that is not
  ///                         finite
  void step(std::span<const float> actions);

  /// [slots, O]
  std::span<const float> observations() const { return observations_; }
  /// [slots, O]; rows of slots whose episode ended in the last step, the others hold older numbers
  std::span<const float> final_observations() const { return final_observations_; }
  /// [slots] of the last step
  std::span<const float> rewards() const { return rewards_; }
  /// [slots] 1 where the last step reached a terminal state, else 0
  std::span<const float> terminated() const { return terminated_; }
  /// [slots] 1 where the last step was the last of the horizon and its state is not terminal, else 0
  std::span<const float> truncated() const { return truncated_; }
  /// That ended in the last step, by slot.
  std::span<const Episode> episodes() const { return std::span(episodes_).first(episode_count_); }
  /// Taken since `reset`.
  std::int64_t steps() const { return steps_; }

  /// Whether the next episode of a slot begins where one ends (so it does unless told otherwise). Without it a slot
  /// stays where it ended, for those who look at the state there, and must not be stepped on.
  void set_auto_reset(bool on) { auto_reset_ = on; }
  /// Sets the state of one slot, [states], as `ControlSpec::state` lists it; its episode goes on.
  /// Throws Error(usage) for a slot that is none, or unless there are as many numbers.
  void set_state(std::int64_t slot, std::span<const double> state);
  std::vector<double> state(std::int64_t slot) const;

  /// Makes the episodes under way count as so many steps old, [slots]: so much before the horizon they are truncated.
  /// Throws Error(usage) unless there are as many lengths, all of them below the horizon.
  void set_lengths(std::span<const float> lengths);

  SlotProgress progress() const;
  /// Goes on from where another form of these slots is. Rewards and ends of its last step are not known then.
  /// Throws Error(usage) unless its numbers are of as many slots.
  void set_progress(const SlotProgress& progress);

  /// Rewards, ends and final observations of the last step are included.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) naming what differs: the environment, its version, the slots, the horizon.
  void restore(const Snapshot& snapshot);

 protected:
  /// Slots are moved in blocks of so many, which stay in the cache until all is done with them.
  static constexpr std::int64_t block_slots = 256;

  /// @param first_slot  global number of the first slot
  /// @param share       slots that a thread takes at a time: a multiple of `block_slots`, or a divisor of it where
  ///                    a step of a slot takes long
  VectorEnvironment(ControlSpec spec, const ControlOptions& options, std::int64_t slots, std::int64_t first_slot,
                    std::int64_t share = 16 * block_slots);

  std::int64_t observation_size() const { return std::ssize(spec_.observation); }
  std::int64_t action_size() const { return std::ssize(spec_.action); }

  /// Moves slots first, first + 1, …, as many as there are rewards, all of one block: writes rewards [n], terminated
  /// [n] and observations [n, O]. Several threads call it at once, for different slots.
  virtual void advance(std::int64_t first, std::span<const float> actions, std::span<float> rewards,
                       std::span<float> terminated, std::span<float> observations) = 0;
  /// Draws where the episode of a slot begins and writes its observation [O]; called as `advance` is.
  virtual void begin(std::int64_t slot, Draws& draws, std::span<float> observation) = 0;
  /// Begins the episodes of `slots`: a form of `begin` for many, which it calls for each.
  /// @param key           of the draws; the row is first_slot() + slot
  /// @param observations  [slots(), O]
  virtual void begin_several(std::span<const std::int32_t> slots, const NoiseKey& key, std::span<float> observations);
  virtual void write_state(std::int64_t slot, std::span<const double> state, std::span<float> observation) = 0;
  virtual void read_state(std::int64_t slot, std::span<double> state) const = 0;
  virtual void save_states(Snapshot& snapshot) const = 0;
  virtual void restore_states(const Snapshot& snapshot) = 0;

 private:
  template <class Self>
  static auto kept_numbers(Self& self);
  void step_block(std::int64_t first, std::int64_t count, std::span<const float> actions);
  void finish_episodes(std::int64_t first, std::int64_t count);
  void gather_episodes();
  void begin_episodes(std::span<const std::int32_t> slots);
  [[noreturn]] void fail_outcome() const;
  std::int64_t unit() const { return std::min(share_, block_slots); }

  ControlSpec spec_;
  ActionBounds bounds_;
  std::int64_t slots_, first_slot_, horizon_, share_;
  bool auto_reset_ = true;
  std::uint64_t seed_ = 0;
  std::int64_t steps_ = -1;  ///< −1: not reset yet
  std::vector<float> observations_, final_observations_, rewards_, terminated_, truncated_, actions_;
  std::vector<float> returns_, lengths_;  ///< of the episodes under way
  std::vector<std::int32_t> ended_;       ///< [slots] from the first slot of a block on: those of it that have ended
  std::vector<std::int64_t> counts_;  ///< [blocks] how many; −1: an observation or a reward of the block is not finite
  std::vector<Episode> episodes_;     ///< [slots] likewise, then one after the other
  std::size_t episode_count_ = 0;
};

/// Another way to move so many slots by one step, and what to call it: "mj_step".
struct StepReference {
  std::string name;
  std::function<void(std::span<const float> actions)> step;  ///< [slots, A]
};

/// A control task as data: what a kernel needs to move its slots itself.
struct AnalyticTask {
  std::any dynamics;       ///< a task of envs/dynamics.h, by value
  ControlOptions options;  ///< with the horizon that is meant
};

/// A registered control task: how to describe it, which options it has, how to make it.
struct ControlEntry {
  std::string description;  ///< one line for `stein list`
  /// Options that are set one by one, and the environment that they describe.
  struct Builder {
    virtual ~Builder() = default;
    virtual void describe(OptionTable& table) = 0;
    virtual ControlSpec spec() const = 0;
    /// Throws Error(usage) unless there are 1 to 10,000,000 slots and first_slot ≥ 0.
    virtual std::unique_ptr<VectorEnvironment> make(std::int64_t slots, std::int64_t first_slot = 0) const = 0;
    /// One copy to look at, in double precision where the dynamics have it; a slot of `make` otherwise.
    virtual std::unique_ptr<SingleEnvironment> make_single() const;
    /// What the speed of a step is measured against: one slot of `make` after the other unless a task knows better.
    virtual StepReference reference(std::int64_t slots) const;
    /// The task as data; nothing where a simulator moves it.
    virtual std::optional<AnalyticTask> analytic() const { return std::nullopt; }
  };
  std::function<std::unique_ptr<Builder>()> builder;
};

/// All control tasks that are linked in.
Registry<ControlEntry>& controls();

}  // namespace stein::envs
