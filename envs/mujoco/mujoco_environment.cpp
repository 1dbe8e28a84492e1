#include <stein/core/error.h>
#include <stein/envs/mujoco/guarded_call.h>
#include <stein/envs/mujoco/mujoco_environment.h>

#include <bit>
#include <cmath>
#include <map>

namespace stein::envs {
namespace {

/// There are this many simulations at most, each with the memory that it touches; the slots of a block share one.
constexpr std::int64_t most_simulations = 64;
constexpr std::int64_t fewest_slots = 4;  ///< of a block: waking a thread costs about as much as a step

/// Slots that share a simulation, and that a thread takes at a time.
std::int64_t block_of(std::int64_t slots) {
  const std::int64_t wanted = std::max(fewest_slots, (slots + most_simulations - 1) / most_simulations);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
}

std::shared_ptr<const MujocoModel> model_of(const MujocoTask& task, const MujocoOptions& options) {
  return options.model.empty() ? MujocoModel::from_text(task.spec().name, std::string(task.model()))
                               : MujocoModel::from_file(options.model);
}

/// How often the model steps in a step of the task.
std::int64_t model_steps(const ControlSpec& spec, const MujocoModel& model) {
  const double steps = std::round(spec.step_seconds / model.timestep());
  if (!(steps >= 1 && std::abs(steps * model.timestep() - spec.step_seconds) <= 1e-9 * spec.step_seconds))
    fail(ErrorKind::data, "{}: a step takes {} s, and the timestep of the model {}, {} s, does not divide that",
         spec.name, spec.step_seconds, model.name(), model.timestep());
  return static_cast<std::int64_t>(steps);
}

/// The task's spec with the limits of the model's controls, if the model fits.
ControlSpec fitted(ControlSpec spec, const MujocoTask& task, const MujocoModel& model) {
  const auto controls = std::ssize(spec.action), states = std::ssize(spec.state);
  if (2 * model.positions() != states || 2 * model.velocities() != states || model.controls() != controls)
    fail(ErrorKind::data,
         "{}: expected a model of {} positions, {} velocities and {} controls, and {} has {}, {} and {}", spec.name,
         states / 2, states / 2, controls, model.name(), model.positions(), model.velocities(), model.controls());
  const std::string site(task.site());
  if (!site.empty() && model.site(site) != 0)
    fail(ErrorKind::data, "{}: expected a model whose first site is called '{}', which that of {} is not", spec.name,
         site, model.name());
  for (std::int64_t k = 0; k < controls; ++k) {
    const auto [low, high] = model.control_limits(k);
    if (low >= high)
      fail(ErrorKind::data, "{}: expected a model whose controls have a ctrlrange, and control {} of {} has none",
           spec.name, k, model.name());
    spec.action[static_cast<std::size_t>(k)].low = low;
    spec.action[static_cast<std::size_t>(k)].high = high;
  }
  model_steps(spec, model);
  spec.source += fmt::format("; MuJoCo {}", MujocoModel::version());
  if (model.name() != spec.name) spec.source += fmt::format(", model {}", model.name());
  return spec;
}

}  // namespace

ControlSpec MujocoEnvironment::spec_of(const MujocoTask& task, const MujocoOptions& options) {
  return fitted(task.spec(), task, *model_of(task, options));
}

StepReference MujocoEnvironment::raw_steps(std::unique_ptr<const MujocoTask> task, const MujocoOptions& model,
                                           const ControlOptions& options, std::int64_t slots) {
  struct Walk {
    std::unique_ptr<MujocoEnvironment> environment;
    MujocoSimulation simulation;
    std::vector<float> actions;                         ///< [steps, A]
    std::map<std::int64_t, std::vector<double>> start;  ///< of episodes, by the step that they begin with
    std::int64_t now = 0;
  };
  constexpr std::uint32_t steps = 4096;
  auto environment = std::make_unique<MujocoEnvironment>(std::move(task), model, options, 1, 0);
  MujocoSimulation simulation(environment->model_);
  const auto walk = std::make_shared<Walk>(
      Walk{.environment = std::move(environment), .simulation = std::move(simulation), .actions = {}, .start = {}});
  MujocoEnvironment& played = *walk->environment;
  const std::vector<Quantity>& ranges = played.spec().action;
  played.reset(0);
  for (std::uint32_t t = 0; t < steps; ++t) {
    if (t == 0 || !played.episodes().empty()) walk->start[t].assign(played.states_.begin(), played.states_.end());
    Draws draws({.seed = 1, .stream = Stream::decision}, t);
    for (const Quantity& range : ranges)
      walk->actions.push_back(static_cast<float>(draws.uniform(range.low, range.high)));
    played.step(std::span(walk->actions).last(ranges.size()));
  }
  return {.name = "mj_step", .step = [walk, slots, width = ranges.size()](std::span<const float>) {
            guarded_call(ErrorKind::numeric, [&] {
              for (std::int64_t slot = 0; slot < slots; ++slot, walk->now = (walk->now + 1) % steps) {
                if (const auto start = walk->start.find(walk->now); start != walk->start.end())
                  walk->simulation.load(start->second);
                walk->simulation.step_inside_guard(
                    std::span(walk->actions).subspan(static_cast<std::size_t>(walk->now) * width, width),
                    walk->environment->model_steps_);
              }
            });
          }};
}

MujocoEnvironment::MujocoEnvironment(std::unique_ptr<const MujocoTask> task, const MujocoOptions& model,
                                     const ControlOptions& options, std::int64_t slots, std::int64_t first_slot)
    : MujocoEnvironment(std::move(task), model_of(*task, model), options, slots, first_slot) {}

MujocoEnvironment::MujocoEnvironment(std::unique_ptr<const MujocoTask>&& task, std::shared_ptr<const MujocoModel> model,
                                     const ControlOptions& options, std::int64_t slots, std::int64_t first_slot)
    : VectorEnvironment(fitted(task->spec(), *task, *model), options, slots, first_slot, block_of(slots)),
      task_(std::move(task)),
      model_(std::move(model)),
      model_steps_(model_steps(spec(), *model_)),
      block_(block_of(slots)),
      states_(static_cast<std::size_t>(slots * model_->state_size())) {
  for (std::int64_t slot = 0; slot < slots; slot += block_) simulations_.emplace_back(model_);
  initial_.resize(static_cast<std::size_t>(model_->state_size()));
  simulations_.front().save(initial_);
}

std::span<double> MujocoEnvironment::state_of(std::int64_t slot) {
  const auto size = static_cast<std::size_t>(model_->state_size());
  return std::span(states_).subspan(static_cast<std::size_t>(slot) * size, size);
}

void MujocoEnvironment::advance(std::int64_t first, std::span<const float> actions, std::span<float> rewards,
                                std::span<float> terminated, std::span<float> observations) {
  const auto controls = static_cast<std::size_t>(action_size()), seen = static_cast<std::size_t>(observation_size());
  MujocoSimulation& simulation = simulation_of(first);
  const MujocoView physics = simulation.view();
  for (std::size_t i = 0; i < rewards.size(); ++i) {
    const std::int64_t slot = first + static_cast<std::int64_t>(i);
    const std::span<const float> action = actions.subspan(i * controls, controls);
    simulation.load(state_of(slot));
    try {
      simulation.step(action, model_steps_);
    } catch (const Error& error) {
      fail(error.kind(), "{}: slot {} at step {}: {}", spec().name, first_slot() + slot, steps() - 1, error.what());
    }
    task_->limit(physics);
    const Outcome<double> outcome = task_->outcome(physics, action);
    rewards[i] = static_cast<float>(outcome.reward);
    terminated[i] = static_cast<float>(outcome.terminated);
    task_->observe(physics, observations.subspan(i * seen, seen));
    simulation.save(state_of(slot));
  }
}

void MujocoEnvironment::settle(std::int64_t slot, std::span<float> observation) {
  MujocoSimulation& simulation = simulation_of(slot);
  simulation.forward();
  task_->observe(simulation.view(), observation);
  simulation.save(state_of(slot));
}

void MujocoEnvironment::begin(std::int64_t slot, Draws& draws, std::span<float> observation) {
  simulation_of(slot).load(initial_);
  task_->begin(draws, simulation_of(slot).view());
  settle(slot, observation);
}

void MujocoEnvironment::write_state(std::int64_t slot, std::span<const double> state, std::span<float> observation) {
  simulation_of(slot).load(initial_);
  task_->write_state(state, simulation_of(slot).view());
  settle(slot, observation);
}

void MujocoEnvironment::read_state(std::int64_t slot, std::span<double> state) const {
  const auto size = static_cast<std::size_t>(model_->state_size());
  simulation_of(slot).load(std::span(states_).subspan(static_cast<std::size_t>(slot) * size, size));
  task_->read_state(simulation_of(slot).view(), state);
}

void MujocoEnvironment::save_states(Snapshot& snapshot) const {
  snapshot.put_text("model", model_->checksum());
  snapshot.put("state", states_);
}

void MujocoEnvironment::restore_states(const Snapshot& snapshot) {
  if (snapshot.get_text("model") != model_->checksum())
    fail(ErrorKind::data, "the saved {} was on another model than {}, or on another version of MuJoCo", spec().name,
         model_->name());
  snapshot.get("state", std::span(states_));
}

}  // namespace stein::envs
