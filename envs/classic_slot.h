// The classic control tasks one slot at a time, written to be read: what VectorEnvironment does for many at once.
#pragma once

#include <stein/envs/dynamics.h>
#include <stein/envs/vector_environment.h>

#include <algorithm>

namespace stein::envs {

/// An episode of a task of envs/dynamics.h, in float or double.
template <class Task, class Real>
class ClassicSlot {
 public:
  ClassicSlot(const Task& task, std::int64_t horizon) : task_(task), horizon_(horizon) {}

  void begin(Draws& draws) {
    double state[Task::state_size];
    task_.reset(draws, state);
    begin_at(state);
  }
  void begin_at(std::span<const double> state) {
    std::ranges::transform(state, state_, [](double number) { return static_cast<Real>(number); });
    length_ = 0;
    total_reward_ = 0;
  }

  Transition step(const Real (&action)[Task::action_size]) {
    const Outcome<Real> outcome = task_.step(state_, action);
    ++length_;
    total_reward_ += outcome.reward;
    const bool terminated = outcome.terminated != 0;
    return {.reward = outcome.reward, .terminated = terminated, .truncated = !terminated && length_ >= horizon_};
  }

  std::span<const Real> state() const { return state_; }
  void observe(Real (&observation)[Task::observation_size]) const { task_.observe(state_, observation); }
  std::int64_t length() const { return length_; }
  Real total_reward() const { return total_reward_; }

 private:
  Task task_;
  std::int64_t horizon_;
  Real state_[Task::state_size]{};
  std::int64_t length_ = 0;
  Real total_reward_ = 0;
};

/// Many of them, one after the other: what the tests hold a VectorEnvironment to, and its speed is measured against.
template <class Task>
class ClassicSlotLoop {
 public:
  ClassicSlotLoop(const Task& task, std::int64_t horizon, std::int64_t slots, std::uint64_t seed)
      : seed_(seed),
        slots_(static_cast<std::size_t>(slots), ClassicSlot<Task, float>(task, horizon)),
        observations_(static_cast<std::size_t>(slots)),
        final_observations_(observations_),
        transitions_(static_cast<std::size_t>(slots)) {
    for (std::size_t i = 0; i < slots_.size(); ++i) begin(i);
  }

  /// @param actions  [slots, A]
  void step(std::span<const float> actions) {
    ++steps_;
    episodes_.clear();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      float action[Task::action_size];
      for (std::size_t a = 0; a < Task::action_size; ++a) action[a] = actions[i * Task::action_size + a];
      const Transition& made = transitions_[i] = slots_[i].step(action);
      slots_[i].observe(observations_[i].numbers);
      if (!made.terminated && !made.truncated) continue;
      episodes_.push_back({.slot = static_cast<std::int64_t>(i),
                           .length = slots_[i].length(),
                           .total_reward = slots_[i].total_reward(),
                           .terminated = made.terminated});
      final_observations_[i] = observations_[i];
      begin(i);
    }
  }

  std::span<const float> observation(std::int64_t slot) const { return at(observations_, slot).numbers; }
  std::span<const float> final_observation(std::int64_t slot) const { return at(final_observations_, slot).numbers; }
  const Transition& transition(std::int64_t slot) const { return at(transitions_, slot); }
  std::span<const Episode> episodes() const { return episodes_; }

 private:
  struct Observation {
    float numbers[Task::observation_size];
  };

  template <class T>
  static const T& at(const std::vector<T>& values, std::int64_t slot) {
    return values[static_cast<std::size_t>(slot)];
  }
  void begin(std::size_t i) {
    Draws draws({.seed = seed_, .step = steps_, .stream = Stream::context}, static_cast<std::uint32_t>(i));
    slots_[i].begin(draws);
    slots_[i].observe(observations_[i].numbers);
  }

  std::uint64_t seed_, steps_ = 0;
  std::vector<ClassicSlot<Task, float>> slots_;
  std::vector<Observation> observations_, final_observations_;
  std::vector<Transition> transitions_;
  std::vector<Episode> episodes_;
};

}  // namespace stein::envs
