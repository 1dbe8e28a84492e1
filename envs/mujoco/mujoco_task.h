// What a control task adds to a MuJoCo model: where episodes begin, what is seen of the state, what a step is worth.
#pragma once

#include <stein/core/rng.h>
#include <stein/envs/control_spec.h>
#include <stein/envs/dynamics.h>
#include <stein/envs/mujoco/mujoco_simulation.h>

#include <algorithm>

namespace stein::envs {

/// A control task on a MuJoCo model. Its functions are pure: they are called for any slot, from any thread.
class MujocoTask {
 public:
  virtual ~MujocoTask() = default;

  /// All but the limits of the actions, which are those of the model's controls.
  virtual ControlSpec spec() const = 0;
  /// Its own model, MJCF.
  virtual std::string_view model() const = 0;
  /// A site of the model that `outcome` looks at, as the first one; empty: none.
  virtual std::string_view site() const { return {}; }

  /// Draws positions and velocities of the start of an episode; they are the model's initial ones before.
  virtual void begin(Draws& draws, const MujocoView& physics) const = 0;
  /// Limits the state after a step, where the model itself cannot.
  virtual void limit(const MujocoView&) const {}
  /// Of the state after a step under `action`.
  virtual Outcome<double> outcome(const MujocoView& physics, std::span<const float> action) const = 0;
  virtual void observe(const MujocoView& physics, std::span<float> observation) const = 0;

  /// The state as `ControlSpec::state` lists it: positions, then velocities.
  virtual void read_state(const MujocoView& physics, std::span<double> state) const {
    const auto velocities = std::ranges::copy(physics.positions, state.begin()).out;
    std::ranges::copy(physics.velocities, velocities);
  }
  virtual void write_state(std::span<const double> state, const MujocoView& physics) const {
    const auto split = static_cast<std::ptrdiff_t>(physics.positions.size());
    std::copy(state.begin(), state.begin() + split, physics.positions.begin());
    std::copy(state.begin() + split, state.end(), physics.velocities.begin());
  }
};

}  // namespace stein::envs
