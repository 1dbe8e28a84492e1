// What the actions of an agent become before a task sees them.
#pragma once

#include <stein/core/options.h>
#include <stein/envs/control_spec.h>

#include <span>

namespace stein::envs {

/// How actions reach any task, and how long an episode lasts.
struct ControlOptions {
  bool normalize_actions = false;  ///< actions are in [−1, 1] and mapped to the task's bounds
  bool clip_actions = true;        ///< what lies outside the bounds acts as the bound does; false: it is an error
  std::int64_t horizon = 0;        ///< steps after which an episode is truncated; 0: see `of`

  /// These, with the horizon of the task where none was set. Throws Error(usage) if the task has none, or a value is
  /// out of range.
  ControlOptions of(const ControlSpec& spec) const;

  template <class V>
  void describe(V& v) {
    v("normalize_actions", normalize_actions,
      "actions in [-1, 1] are mapped to the bounds of the task; a run sets it where every action has bounds");
    v("clip_actions", clip_actions, "an action outside its bounds acts as the bound does; false: it is an error");
    v("horizon", horizon, "steps after which an episode is truncated", between(1, 1e7), "steps");
  }
};

/// The action space of a task with the options that stand in front of it.
class ActionBounds {
 public:
  /// Throws Error(usage) for choices, or actions without bounds, that are to be normalised.
  ActionBounds(const ControlSpec& spec, const ControlOptions& options);

  std::int64_t width() const { return static_cast<std::int64_t>(actions_.size()); }
  bool maps() const { return maps_; }

  /// Whether all `actions` [slots, A] may be taken: the fast form of `check`.
  bool allow(std::span<const float> actions) const;
  /// @param first_slot, step  what errors call the first row and the step
  /// @throws Error(numeric)   for an action that is not finite
  /// @throws Error(usage)     for a choice that is none, and for an action outside its bounds unless they are clipped
  template <class Real>
  void check(std::span<const Real> actions, std::int64_t first_slot, std::int64_t step) const;
  /// What the task is given for `actions`, [slots, A] both: from [−1, 1] to the bounds, nothing beyond them.
  template <class Real>
  void map(std::span<const Real> actions, std::span<Real> given) const;
  /// What the task acts by for `actions` that it allows, [slots, A] both: mapped where they are, and within the bounds.
  void effective(std::span<const float> actions, std::span<float> acted) const;

 private:
  std::string name_;
  std::vector<Quantity> actions_;
  std::int64_t choices_;
  bool maps_, clips_;
};

}  // namespace stein::envs
