// Many copies of one control task side by side, stepped together.
#pragma once

#include <stein/core/options.h>
#include <stein/core/registry.h>
#include <stein/core/rng.h>
#include <stein/core/snapshot.h>
#include <stein/envs/control_spec.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stein::envs {

/// How actions reach any task, and how long an episode lasts.
struct ControlOptions {
  bool normalize_actions = false;  ///< actions are in [−1, 1] and mapped to the task's bounds
  bool clip_actions = true;        ///< what lies outside the bounds acts as the bound does; false: it is an error
  std::int64_t horizon = 0;        ///< steps after which an episode is truncated; 0: as the task says

  template <class V>
  void describe(V& v) {
    v("normalize_actions", normalize_actions, "actions in [-1, 1] are mapped to the bounds of the task");
    v("clip_actions", clip_actions, "an action outside its bounds acts as the bound does; false: it is an error");
    v("horizon", horizon, "steps after which an episode is truncated; 0: as the environment says", between(0, 1e7),
      "steps");
  }
};

/// An episode that has ended.
struct Episode {
  std::int64_t slot;
  std::int64_t length;  ///< steps
  double total_reward;  ///< undiscounted
  bool terminated;      ///< false: truncated at the horizon
};

/// Slots 0 … n − 1, each with an episode of its own. Where a step ends one, the next begins at once: `observations` are
/// already those of its start, `final_observations` those of the end.
///
/// Everything random is keyed by (seed, step of this object, global slot), so slots differ and neither threads nor the
/// number of slots beside one change what happens in it.
class VectorEnvironment {
 public:
  virtual ~VectorEnvironment() = default;

  const ControlSpec& spec() const { return spec_; }
  std::int64_t slots() const { return slots_; }
  /// Global number of slot 0.
  std::int64_t first_slot() const { return first_slot_; }

  /// Begins an episode in every slot.
  void reset(std::uint64_t seed);
  /// Moves every slot by one step.
  /// @param actions  [slots, A]; a choice is its number
  /// @throws Error(usage)    unless there are slots·A actions, for a choice that is none, for an action outside its
  ///                         bounds unless they are clipped, and before the first `reset`
  /// @throws Error(numeric)  naming environment, slot and step of an action or observation that is not finite
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
  std::span<const Episode> episodes() const { return episodes_; }
  /// Taken since `reset`.
  std::int64_t steps() const { return steps_; }

  /// Sets the state of one slot, [states], as `ControlSpec::state` lists it; its episode goes on.
  void set_state(std::int64_t slot, std::span<const double> state);
  std::vector<double> state(std::int64_t slot) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) naming what differs: the environment, its version, the number of slots.
  void restore(const Snapshot& snapshot);

 protected:
  /// @param first_slot  global number of the first slot
  VectorEnvironment(ControlSpec spec, const ControlOptions& options, std::int64_t slots, std::int64_t first_slot);

  std::int64_t observation_size() const { return std::ssize(spec_.observation); }
  std::int64_t action_size() const { return std::ssize(spec_.action); }

  /// Moves every slot: writes rewards [slots], terminated [slots] and observations [slots, O].
  virtual void advance(std::span<const float> actions, std::span<float> rewards, std::span<float> terminated,
                       std::span<float> observations) = 0;
  /// Draws where the episode of a slot begins and writes its observation [O].
  virtual void begin(std::int64_t slot, Draws& draws, std::span<float> observation) = 0;
  virtual void write_state(std::int64_t slot, std::span<const double> state, std::span<float> observation) = 0;
  virtual void read_state(std::int64_t slot, std::span<double> state) const = 0;
  virtual void save_states(Snapshot& snapshot) const = 0;
  virtual void restore_states(const Snapshot& snapshot) = 0;

 private:
  std::span<const float> bounded(std::span<const float> actions);
  void check_actions(std::span<const float> actions) const;
  void finish_episodes();
  void begin_episode(std::int64_t slot);
  std::span<float> row(std::vector<float>& rows, std::int64_t slot) const;

  ControlSpec spec_;
  ControlOptions options_;
  std::int64_t slots_, first_slot_, horizon_;
  std::uint64_t seed_ = 0;
  std::int64_t steps_ = -1;  ///< −1: not reset yet
  std::vector<float> observations_, final_observations_, rewards_, terminated_, truncated_, actions_, ended_;
  std::vector<float> returns_, lengths_;  ///< of the episodes under way
  std::vector<Episode> episodes_;
};

/// A registered control task: how to describe it, which options it has, how to make it.
struct ControlEntry {
  std::string description;  ///< one line for `stein list`
  struct Builder {
    virtual ~Builder() = default;
    virtual void describe(OptionTable& table) = 0;
    virtual ControlSpec spec() const = 0;
    /// Throws Error(usage) unless slots ≥ 1.
    virtual std::unique_ptr<VectorEnvironment> make(std::int64_t slots, std::int64_t first_slot = 0) const = 0;
  };
  std::function<std::unique_ptr<Builder>()> builder;
};

/// All control tasks that are linked in.
Registry<ControlEntry>& controls();

}  // namespace stein::envs
