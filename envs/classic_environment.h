// The classic control tasks as vector environments: structure of arrays, stepped by one loop.
#pragma once

#include <stein/core/error.h>
#include <stein/envs/classic_slot.h>
#include <stein/envs/vector_environment.h>

namespace stein::envs {

/// What a step of a block of slots reads and writes.
struct SlotBlock {
  std::int64_t slots;
  float* state;          ///< [states, stride]: one quantity of all slots after the other
  std::int64_t stride;   ///< ≥ slots
  const float* actions;  ///< [slots, A]
  float* rewards;        ///< [slots]
  float* terminated;     ///< [slots]
  float* observations;   ///< [slots, O]
};

/// Steps a block of slots of a task.
template <class Task>
using StepSlots = void (*)(const Task&, const SlotBlock&);

namespace reference {
#include <stein/envs/step_slots.inc>
}  // namespace reference

/// A task of envs/dynamics.h in many slots; the states of a block lie together.
template <class Task>
class ClassicEnvironment final : public VectorEnvironment {
 public:
  /// @param chosen  `reference::step_slots`, or a faster form of it
  ClassicEnvironment(const typename Task::Options& task, const ControlOptions& options, StepSlots<Task> chosen,
                     std::int64_t slots, std::int64_t first_slot)
      : VectorEnvironment(Task(checked(task)).spec(), options, slots, first_slot),
        task_(task),
        step_(chosen),
        state_(static_cast<std::size_t>((slots + block_slots - 1) / block_slots * block_slots * Task::state_size)) {}

 private:
  void advance(std::int64_t first, std::span<const float> actions, std::span<float> rewards,
               std::span<float> terminated, std::span<float> observations) override {
    step_(task_, {.slots = std::ssize(rewards),
                  .state = &state_[place(first, 0)],
                  .stride = block_slots,
                  .actions = actions.data(),
                  .rewards = rewards.data(),
                  .terminated = terminated.data(),
                  .observations = observations.data()});
  }
  void begin(std::int64_t slot, Draws& draws, std::span<float> observation) override {
    double state[Task::state_size];
    task_.reset(draws, state);
    ClassicEnvironment::write_state(slot, state, observation);
  }
  void begin_several(std::span<const std::int32_t> slots, const NoiseKey& key, std::span<float> observations) override {
    constexpr std::size_t chunk = 64;
    std::uint32_t rows[chunk];
    OpeningWords words[chunk];
    for (std::size_t begin = 0; begin < slots.size(); begin += chunk) {
      const auto part = slots.subspan(begin, std::min(chunk, slots.size() - begin));
      for (std::size_t i = 0; i < part.size(); ++i) rows[i] = static_cast<std::uint32_t>(first_slot() + part[i]);
      opening_words(key, std::span(rows).first(part.size()), words);
      for (std::size_t i = 0; i < part.size(); ++i) {
        Draws draws(key, rows[i], words[i]);
        ClassicEnvironment::begin(part[i], draws,
                                  observations.subspan(static_cast<std::size_t>(part[i]) * Task::observation_size));
      }
    }
  }
  void write_state(std::int64_t slot, std::span<const double> state, std::span<float> observation) override {
    float here[Task::state_size], seen[Task::observation_size];
    for (int k = 0; k < Task::state_size; ++k) {
      here[k] = static_cast<float>(state[static_cast<std::size_t>(k)]);
      state_[place(slot, k)] = here[k];
    }
    task_.observe(here, seen);
    std::ranges::copy(seen, observation.begin());
  }
  void read_state(std::int64_t slot, std::span<double> state) const override {
    for (int k = 0; k < Task::state_size; ++k) state[static_cast<std::size_t>(k)] = state_[place(slot, k)];
  }
  void save_states(Snapshot& snapshot) const override { snapshot.put("state", state_); }
  void restore_states(const Snapshot& snapshot) override { snapshot.get("state", std::span(state_)); }

  /// Of quantity k of a slot in `state_`, [blocks, states, block_slots].
  static std::size_t place(std::int64_t slot, int k) {
    const std::int64_t block = slot / block_slots;
    return static_cast<std::size_t>((block * Task::state_size + k) * block_slots + slot % block_slots);
  }

  Task task_;
  StepSlots<Task> step_;
  std::vector<float> state_;
};

/// A task of envs/dynamics.h in one slot, in double.
template <class Task>
class ClassicSingle final : public SingleEnvironment {
 public:
  ClassicSingle(const typename Task::Options& task, const ControlOptions& options)
      : task_(checked(task)), spec_(task_.spec()), bounds_(spec_, options), slot_(task_, options.of(spec_).horizon) {}

  const ControlSpec& spec() const override { return spec_; }
  void reset(std::uint64_t seed) override {
    Draws draws({.seed = seed, .step = 0, .stream = Stream::context}, 0);
    slot_.begin(draws);
    over_ = false;
  }
  void set_state(std::span<const double> state) override {
    check_finite_state(spec_, state);
    slot_.begin_at(state);
    over_ = false;
  }
  std::vector<double> state() const override { return {slot_.state().begin(), slot_.state().end()}; }
  std::vector<double> observation() const override {
    double seen[Task::observation_size];
    slot_.observe(seen);
    return {seen, seen + Task::observation_size};
  }
  Transition step(std::span<const double> action) override {
    check_not_ended(spec_, over_);
    STEIN_CHECK(action.size() == Task::action_size, "{}: expected an action of {} numbers, got {}", spec_.name,
                Task::action_size, action.size());
    bounds_.check(action, 0, slot_.length());
    double given[Task::action_size];
    std::ranges::copy(action, given);
    if (bounds_.maps()) bounds_.map<double>(action, given);
    const Transition transition = slot_.step(given);
    check_outcome(spec_, observation(), transition.reward, slot_.length() - 1);
    over_ = transition.terminated || transition.truncated;
    return transition;
  }

 private:
  Task task_;
  ControlSpec spec_;
  ActionBounds bounds_;
  ClassicSlot<Task, double> slot_;
  bool over_ = true;  ///< no episode is under way
};

/// Registers a task under its name; `step` may be a faster form of the loop over slots.
template <class Task>
bool register_control(const std::string& name, std::string description,
                      StepSlots<Task> step = reference::step_slots<Task>) {
  using Base = OptionsBuilder<ControlEntry::Builder, typename Task::Options, ControlOptions>;
  struct TaskBuilder final : Base {
    explicit TaskBuilder(StepSlots<Task> chosen) : Base({}, {}), step(chosen) {
      this->template part<1>().horizon = spec().horizon;
    }
    StepSlots<Task> step;
    const typename Task::Options& task() const { return this->template part<0>(); }
    const ControlOptions& options() const { return this->template part<1>(); }

    ControlSpec spec() const override { return Task(checked(task())).spec(); }
    std::unique_ptr<VectorEnvironment> make(std::int64_t slots, std::int64_t first_slot) const override {
      return std::make_unique<ClassicEnvironment<Task>>(task(), options(), step, slots, first_slot);
    }
    std::unique_ptr<SingleEnvironment> make_single() const override {
      return std::make_unique<ClassicSingle<Task>>(task(), options());
    }
    StepReference reference(std::int64_t slots) const override {
      const auto loop =
          std::make_shared<ClassicSlotLoop<Task>>(Task(checked(task())), options().of(spec()).horizon, slots, 0);
      return {.name = "a loop over the slots, one after the other",
              .step = [loop](std::span<const float> actions) { loop->step(actions); }};
    }
    std::optional<AnalyticTask> analytic() const override {
      return AnalyticTask{.dynamics = Task(checked(task())), .options = options().of(spec())};
    }
  };
  return controls().add(
      name, {std::move(description), [step] { return std::unique_ptr<ControlEntry::Builder>(new TaskBuilder(step)); }});
}

}  // namespace stein::envs
