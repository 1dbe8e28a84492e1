// Control tasks small enough to follow by hand.
#pragma once

#include <stein/agents/control/control_agent.h>
#include <stein/envs/classic_environment.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

namespace stein::test {

/// Two states and two actions: action 1 changes the state, action 0 in state 1 ends the episode. State 0 is the start
/// with probability 0.7, the observation is one-hot, and an episode has at most four steps.
class TwoStates {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr int state_size = 1, observation_size = 2, action_size = 1, horizon = 4;
  static constexpr double start_at_0 = 0.7;
  static constexpr double rewards[2][2] = {{0.5, -1}, {2, 1}};  ///< [state][action]

  explicit TwoStates(const Options&) {}
  envs::ControlSpec spec() const {
    return {.name = "two states",
            .source = "this test",
            .state = {{.name = "state", .low = 0, .high = 1}},
            .observation = {{.name = "is 0", .low = 0, .high = 1}, {.name = "is 1", .low = 0, .high = 1}},
            .choices = 2,
            .action = {{.name = "change", .low = 0, .high = 1}},
            .horizon = horizon,
            .step_seconds = 1,
            .reward_low = -1,
            .reward_high = 2};
  }
  void reset(Draws& draws, double (&state)[state_size]) const { state[0] = draws.uniform() < start_at_0 ? 0 : 1; }
  template <class Real>
  envs::Outcome<Real> step(Real (&state)[state_size], const Real (&action)[action_size]) const {
    const int s = state[0] > Real(0.5) ? 1 : 0, a = action[0] > Real(0.5) ? 1 : 0;
    state[0] = static_cast<Real>(a == 1 ? 1 - s : s);
    return {.reward = static_cast<Real>(rewards[s][a]), .terminated = s == 1 && a == 0 ? Real(1) : Real(0)};
  }
  template <class Real>
  void observe(const Real (&state)[state_size], Real (&observation)[observation_size]) const {
    observation[0] = 1 - state[0], observation[1] = state[0];
  }
};

/// Counts down from 1 … 9, drawn, by 1 a step, and ends at 0; the horizon is 6, so that some episodes are truncated.
/// The reward is the count before the step plus a tenth of the action; the observation is the count.
class Countdown {
 public:
  struct Options {
    bool breaks = false;     ///< the observation at 2 is not a number
    double threshold = 1e9;  ///< return from which on the task counts as solved
    template <class V>
    void describe(V& v) {
      v("breaks", breaks, "the observation at 2 is not a number");
      v("threshold", threshold, "return from which on the task counts as solved");
    }
  };
  static constexpr int state_size = 1, observation_size = 1, action_size = 1, horizon = 6, highest = 9;

  explicit Countdown(const Options& options) : breaks_(options.breaks), threshold_(options.threshold) {}
  envs::ControlSpec spec() const {
    return {.name = "countdown",
            .source = "this test",
            .state = {{.name = "count", .low = 0, .high = highest}},
            .observation = {{.name = "count", .low = 0, .high = highest}},
            .action = {{.name = "bonus", .low = -100, .high = 100}},
            .horizon = horizon,
            .step_seconds = 1,
            .reward_low = -10,
            .reward_high = 20,
            .threshold = threshold_};
  }
  void reset(Draws& draws, double (&state)[state_size]) const { state[0] = 1 + draws.integer(highest); }
  template <class Real>
  envs::Outcome<Real> step(Real (&state)[state_size], const Real (&action)[action_size]) const {
    const Real reward = state[0] + action[0] / 10;
    state[0] -= 1;
    return {.reward = reward, .terminated = state[0] < Real(0.5) ? Real(1) : Real(0)};
  }
  template <class Real>
  void observe(const Real (&state)[state_size], Real (&observation)[observation_size]) const {
    observation[0] = breaks_ && state[0] == Real(2) ? std::numeric_limits<Real>::quiet_NaN() : state[0];
  }

 private:
  bool breaks_;
  double threshold_;
};

/// A crossroads, a good and a bad place, drawn alike, and one step from there: choice 1 leads from the crossroads to
/// the good place, choice 0 to the bad one, and one stays in either. Only a step from the good place pays, 1. Every
/// episode is over after its step, at the horizon or, where `terminates`, for good.
class Crossroads {
 public:
  struct Options {
    bool terminates = false;
    template <class V>
    void describe(V& v) {
      v("terminates", terminates, "a step ends in a terminal state, not at the horizon");
    }
  };
  static constexpr int state_size = 1, observation_size = 3, action_size = 1;

  explicit Crossroads(const Options& options) : terminates_(options.terminates) {}
  envs::ControlSpec spec() const {
    return {.name = "crossroads",
            .source = "this test",
            .state = {{.name = "place", .low = 0, .high = 2}},
            .observation = {{.name = "at the crossroads", .low = 0, .high = 1},
                            {.name = "at the good place", .low = 0, .high = 1},
                            {.name = "at the bad place", .low = 0, .high = 1}},
            .choices = 2,
            .action = {{.name = "way", .low = 0, .high = 1}},
            .horizon = 1,
            .step_seconds = 1,
            .reward_low = 0,
            .reward_high = 1};
  }
  void reset(Draws& draws, double (&state)[state_size]) const { state[0] = draws.integer(3); }
  template <class Real>
  envs::Outcome<Real> step(Real (&state)[state_size], const Real (&action)[action_size]) const {
    const Real reward = state[0] == Real(1) ? Real(1) : Real(0);
    if (state[0] == Real(0)) state[0] = action[0] > Real(0.5) ? Real(1) : Real(2);
    return {.reward = reward, .terminated = terminates_ ? Real(1) : Real(0)};
  }
  template <class Real>
  void observe(const Real (&state)[state_size], Real (&observation)[observation_size]) const {
    for (int k = 0; k < 3; ++k) observation[k] = state[0] == static_cast<Real>(k) ? Real(1) : Real(0);
  }

 private:
  bool terminates_;
};

template <class Task>
std::unique_ptr<envs::ControlEntry::Builder> builder_of(const std::string& name) {
  static const bool registered = envs::register_control<Task>(name, "of the tests");
  static_cast<void>(registered);
  return envs::controls().at(name).builder();
}
inline std::unique_ptr<envs::ControlEntry::Builder> two_states() {
  return builder_of<TwoStates>("two states");
}
inline std::unique_ptr<envs::ControlEntry::Builder> countdown() {
  return builder_of<Countdown>("countdown");
}
/// Policies of one hidden layer for it, under a flat prior.
inline policies::ControlPolicy countdown_policy(std::int64_t particles) {
  policies::ControlPolicy::Options options{.particles = particles, .hidden = {4}, .output_spread = 1};
  options.posterior.flat_prior = true;
  return {options, countdown()->spec(), 3};
}
inline std::unique_ptr<envs::ControlEntry::Builder> crossroads() {
  return builder_of<Crossroads>("crossroads");
}

/// Sets options of a task or an agent by name.
template <class Options>
void set(Options& options, const std::vector<std::pair<std::string, std::string>>& values) {
  OptionTable table;
  options.describe(table);
  for (const auto& [key, value] : values) table.set(key, value);
}

/// Whether two snapshots hold the same bytes under the same names.
inline bool same_bytes(const Snapshot& first, const Snapshot& second) {
  if (first.texts() != second.texts() || first.arrays().size() != second.arrays().size()) return false;
  return std::ranges::all_of(first.arrays(), [&](const auto& entry) {
    const auto other = second.arrays().find(entry.first);
    return other != second.arrays().end() && other->second.bytes == entry.second.bytes &&
           other->second.shape == entry.second.shape;
  });
}

template <class Component>
Snapshot snapshot_of(const Component& component) {
  Snapshot snapshot;
  component.save(snapshot);
  return snapshot;
}

}  // namespace stein::test
