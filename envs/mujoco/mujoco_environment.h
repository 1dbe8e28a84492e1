// Control tasks that MuJoCo moves (Todorov, Erez & Tassa 2012), as vector environments.
#pragma once

#include <stein/envs/mujoco/mujoco_task.h>
#include <stein/envs/vector_environment.h>

namespace stein::envs {

/// What the tasks on MuJoCo have in common.
struct MujocoOptions {
  std::filesystem::path model;  ///< an MJCF file in place of the task's own model

  template <class V>
  void describe(V& v) {
    v("model", model, "an MJCF file with the task's joints and control in the task's order; empty: the task's own");
  }
};

/// A task on a MuJoCo model in many slots. A slot is its integration state, with time and warm start; a few simulations
/// take turns with the slots, which therefore go on with the same bits on any thread and after `restore`.
class MujocoEnvironment final : public VectorEnvironment {
 public:
  /// @throws Error(data) for a model that is missing, that MuJoCo refuses, or that is not one for the task: number of
  ///         coordinates and controls, a control without limits, a timestep that does not divide the task's
  MujocoEnvironment(std::unique_ptr<const MujocoTask> task, const MujocoOptions& model, const ControlOptions& options,
                    std::int64_t slots, std::int64_t first_slot);

  /// Of `task` on the model that `options` name; throws as the constructor does.
  static ControlSpec spec_of(const MujocoTask& task, const MujocoOptions& options);
  /// Nothing but `mj_step`, and a new state where an episode begins: a walk of one slot under drawn actions, played
  /// again and again, so that what MuJoCo is asked to do is the same. Actions that are given are not looked at.
  static StepReference raw_steps(std::unique_ptr<const MujocoTask> task, const MujocoOptions& model,
                                 const ControlOptions& options, std::int64_t slots);

 private:
  MujocoEnvironment(std::unique_ptr<const MujocoTask>&& task, std::shared_ptr<const MujocoModel> model,
                    const ControlOptions& options, std::int64_t slots, std::int64_t first_slot);

  void advance(std::int64_t first, std::span<const float> actions, std::span<float> rewards,
               std::span<float> terminated, std::span<float> observations) override;
  void begin(std::int64_t slot, Draws& draws, std::span<float> observation) override;
  void write_state(std::int64_t slot, std::span<const double> state, std::span<float> observation) override;
  void read_state(std::int64_t slot, std::span<double> state) const override;
  void save_states(Snapshot& snapshot) const override;
  void restore_states(const Snapshot& snapshot) override;

  MujocoSimulation& simulation_of(std::int64_t slot) const {
    return simulations_[static_cast<std::size_t>(slot / block_)];
  }
  /// Makes the positions and velocities of its simulation the state of `slot`.
  void settle(std::int64_t slot, std::span<float> observation);
  std::span<double> state_of(std::int64_t slot);

  std::unique_ptr<const MujocoTask> task_;
  std::shared_ptr<const MujocoModel> model_;
  std::int64_t model_steps_;                           ///< of the model in a step of the task
  std::int64_t block_;                                 ///< slots that share a simulation
  mutable std::vector<MujocoSimulation> simulations_;  ///< scratch: what counts is in `states_`
  std::vector<double> states_;                         ///< [slots, state_size]
  std::vector<double> initial_;                        ///< [state_size] the model's own, with nothing done yet
};

/// Registers a task on a MuJoCo model: a `MujocoTask` with Options that it is made from.
template <class Task>
bool register_mujoco(const std::string& name, const std::string& description) {
  using Base = OptionsBuilder<ControlEntry::Builder, typename Task::Options, MujocoOptions, ControlOptions>;
  struct TaskBuilder final : Base {
    TaskBuilder() : Base({}, {}, {}) {
      this->template part<2>().horizon = Task(typename Task::Options{}).spec().horizon;
    }
    std::unique_ptr<Task> task() const { return std::make_unique<Task>(checked(this->template part<0>())); }
    const MujocoOptions& model() const { return this->template part<1>(); }
    const ControlOptions& options() const { return this->template part<2>(); }

    ControlSpec spec() const override { return MujocoEnvironment::spec_of(*task(), model()); }
    std::unique_ptr<VectorEnvironment> make(std::int64_t slots, std::int64_t first_slot) const override {
      return std::make_unique<MujocoEnvironment>(task(), model(), options(), slots, first_slot);
    }
    StepReference reference(std::int64_t slots) const override {
      return MujocoEnvironment::raw_steps(task(), model(), options(), slots);
    }
  };
  return controls().add(name, {description, [] { return std::unique_ptr<ControlEntry::Builder>(new TaskBuilder); }});
}

}  // namespace stein::envs
