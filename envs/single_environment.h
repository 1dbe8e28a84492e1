// One copy of a control task, for those who look at single steps: a trace, a comparison with their own dynamics.
#pragma once

#include <stein/envs/control_spec.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stein::envs {

/// What a step did.
struct Transition {
  double reward;
  bool terminated;
  bool truncated;
};

/// A control task in one slot, in double precision where the task has it. Unlike a slot of a VectorEnvironment it stays
/// where its episode ended.
class SingleEnvironment {
 public:
  virtual ~SingleEnvironment() = default;

  virtual const ControlSpec& spec() const = 0;
  /// Begins an episode, where slot 0 of a VectorEnvironment begins its first.
  virtual void reset(std::uint64_t seed) = 0;
  /// Begins an episode at `state`, [states]. Throws Error(usage) unless it has as many numbers, and they are finite.
  virtual void set_state(std::span<const double> state) = 0;
  /// [states]
  virtual std::vector<double> state() const = 0;
  /// Observation of the current state, [O].
  virtual std::vector<double> observation() const = 0;
  /// Moves by one step; `action` [A] is checked, clipped and mapped as in a VectorEnvironment.
  /// Throws Error(usage) before `reset` or `set_state`, where the episode has ended, for a wrong number of numbers and
  /// for an action that its bounds refuse; Error(numeric) for an action, observation or reward that is not finite.
  virtual Transition step(std::span<const double> action) = 0;
};

class VectorEnvironment;

/// Slot 0 of `environment`, which is told not to begin anew by itself.
std::unique_ptr<SingleEnvironment> single_slot_of(std::unique_ptr<VectorEnvironment> environment);

/// Throws Error(usage) that lists what `spec.state` has unless `state` has as many numbers.
void check_state(const ControlSpec& spec, std::span<const double> state);
/// The same, and unless all of them are finite.
void check_finite_state(const ControlSpec& spec, std::span<const double> state);
/// Throws Error(numeric) naming the task, the step and the first of `observation`, or the reward, that is not
/// finite.
void check_outcome(const ControlSpec& spec, std::span<const double> observation, double reward, std::int64_t step);
/// Throws Error(usage) where an episode that has ended is to go on.
void check_not_ended(const ControlSpec& spec, bool ended);

}  // namespace stein::envs
