// The classic control tasks as vector environments: structure of arrays, stepped by one loop.
#pragma once

#include <stein/core/error.h>
#include <stein/envs/dynamics.h>
#include <stein/envs/vector_environment.h>

#include <algorithm>

namespace stein::envs {

/// What a step of all slots reads and writes.
struct SlotBlock {
  std::int64_t slots;
  float* state;          ///< [states, stride]: one quantity of all slots after the other
  std::int64_t stride;   ///< ≥ slots
  const float* actions;  ///< [slots, A]
  float* rewards;        ///< [slots]
  float* terminated;     ///< [slots]
  float* observations;   ///< [slots, O]
};

/// Steps all slots of a task.
template <class Task>
using StepSlots = void (*)(const Task&, const SlotBlock&);

namespace plain {
#include <stein/envs/step_slots-inl.h>
}  // namespace plain

/// A task of envs/dynamics.h in many slots.
template <class Task>
class ClassicEnvironment final : public VectorEnvironment {
 public:
  /// @param chosen  `plain::step_slots`, or a faster form of it
  ClassicEnvironment(const typename Task::Options& task, const ControlOptions& options, StepSlots<Task> chosen,
                     std::int64_t slots, std::int64_t first_slot)
      : VectorEnvironment(Task(checked(task)).spec(), options, slots, first_slot),
        task_(task),
        step_(chosen),
        state_(static_cast<std::size_t>(slots * Task::state_size)) {}

 private:
  void advance(std::span<const float> actions, std::span<float> rewards, std::span<float> terminated,
               std::span<float> observations) override {
    step_(task_, {.slots = slots(),
                  .state = state_.data(),
                  .stride = slots(),
                  .actions = actions.data(),
                  .rewards = rewards.data(),
                  .terminated = terminated.data(),
                  .observations = observations.data()});
  }
  void begin(std::int64_t slot, Draws& draws, std::span<float> observation) override {
    double state[Task::state_size];
    task_.reset(draws, state);
    write_state(slot, state, observation);
  }
  void write_state(std::int64_t slot, std::span<const double> state, std::span<float> observation) override {
    float here[Task::state_size], seen[Task::observation_size];
    for (int k = 0; k < Task::state_size; ++k) {
      here[k] = static_cast<float>(state[static_cast<std::size_t>(k)]);
      state_[static_cast<std::size_t>(k * slots() + slot)] = here[k];
    }
    task_.observe(here, seen);
    std::ranges::copy(seen, observation.begin());
  }
  void read_state(std::int64_t slot, std::span<double> state) const override {
    for (std::size_t k = 0; k < state.size(); ++k)
      state[k] = state_[k * static_cast<std::size_t>(slots()) + static_cast<std::size_t>(slot)];
  }
  void save_states(Snapshot& snapshot) const override { snapshot.put("state", state_); }
  void restore_states(const Snapshot& snapshot) override { snapshot.get("state", std::span(state_)); }

  Task task_;
  StepSlots<Task> step_;
  std::vector<float> state_;
};

/// Registers a task under its name; `step` may be a faster form of the loop over slots.
template <class Task>
bool register_control(const std::string& name, std::string description, StepSlots<Task> step = plain::step_slots<Task>) {
  struct OptionsBuilder final : ControlEntry::Builder {
    explicit OptionsBuilder(StepSlots<Task> chosen) : step(chosen) {}
    StepSlots<Task> step;
    typename Task::Options task;
    ControlOptions options;
    void describe(OptionTable& table) override {
      task.describe(table);
      options.describe(table);
    }
    ControlSpec spec() const override { return Task(checked(task)).spec(); }
    std::unique_ptr<VectorEnvironment> make(std::int64_t slots, std::int64_t first_slot) const override {
      return std::make_unique<ClassicEnvironment<Task>>(task, options, step, slots, first_slot);
    }
  };
  return controls().add(name, {std::move(description), [step] {
                                            return std::unique_ptr<ControlEntry::Builder>(new OptionsBuilder(step));
                                          }});
}

}  // namespace stein::envs
