// What the threads of the CUDA kernel that steps slots do, run on the host by a loop over threads, against
// VectorEnvironment: the same bits.
#include <stein/envs/analytic_tasks.h>
#include <stein/envs/cuda/step_slots_body.h>
#include <stein/envs/vector_environment.h>

#include <catch2/catch.hpp>
#include <map>
#include <type_traits>

namespace stein::envs {
namespace {

constexpr std::int64_t slots = 300, first_slot = 41;  // blocks of 256 slots, and a part of one
constexpr std::uint64_t seed = 6;

std::unique_ptr<ControlEntry::Builder> builder_of(const std::string& name,
                                                  const std::map<std::string, std::string>& options) {
  auto builder = controls().at(name).builder();
  OptionTable table;
  builder->describe(table);
  for (const auto& [key, value] : options) table.set(key, value);
  return builder;
}

std::vector<std::string> analytic_names() {
  std::vector<std::string> names;
  for (const std::string& name : controls().names())
    if (controls().at(name).builder()->analytic()) names.push_back(name);
  return names;
}

/// Uniform actions a fifth beyond their bounds, [steps, slots, A]: what is clipped is met.
std::vector<float> actions_of(const ControlSpec& spec, bool normalized, std::int64_t steps, std::uint64_t launch) {
  std::vector<float> actions;
  for (std::uint32_t row = 0; row < steps * slots; ++row) {
    Draws draws({.seed = 5, .step = launch, .stream = Stream::test}, row);
    for (const Quantity& range : spec.action)
      actions.push_back(spec.discrete() ? static_cast<float>(draws.integer(static_cast<std::uint32_t>(spec.choices)))
                        : normalized    ? static_cast<float>(draws.uniform(-1.2, 1.2))
                                        : static_cast<float>(draws.uniform(1.2 * range.low, 1.2 * range.high)));
  }
  return actions;
}

/// The kernels on the host: threads one after the other, the last slot first, since no order is promised.
template <class Task>
class SlotsOnHost {
 public:
  SlotsOnHost(const Task& task, const ControlOptions& options)
      : task_(task),
        rules_(task, options),
        state_(Task::state_size * slots),
        total_rewards_(slots),
        lengths_(slots),
        observations(slots * Task::observation_size) {
    const cuda::BeginSlots<Task> body{task_, key(), memory(), observations.data()};
    for (std::int64_t slot = slots - 1; slot >= 0; --slot) body(slot);
  }

  /// @returns for every slot how many steps it went
  std::vector<std::int64_t> step(std::int64_t steps, const std::vector<float>& actions) {
    const auto rows = static_cast<std::size_t>(steps * slots);
    for (auto* numbers : {&rewards, &terminated, &truncated, &ended_rewards, &ended_lengths})
      numbers->assign(rows, -7.0F);
    for (auto* numbers : {&observations, &final_observations}) numbers->assign(rows * Task::observation_size, -7.0F);
    const cuda::StepSlots<Task> body{task_,
                                     rules_,
                                     key(),
                                     memory(),
                                     steps,
                                     actions.data(),
                                     {.observations = observations.data(),
                                      .final_observations = final_observations.data(),
                                      .rewards = rewards.data(),
                                      .terminated = terminated.data(),
                                      .truncated = truncated.data(),
                                      .total_rewards = ended_rewards.data(),
                                      .lengths = ended_lengths.data()}};
    std::vector<std::int64_t> made(slots);
    for (std::int64_t slot = slots - 1; slot >= 0; --slot) made[static_cast<std::size_t>(slot)] = body(slot);
    steps_ += steps;
    return made;
  }

 private:
  SlotKey key() const { return {.seed = seed, .first_slot = first_slot, .steps = steps_}; }
  SlotMemory memory() { return {slots, state_.data(), total_rewards_.data(), lengths_.data()}; }

  Task task_;
  cuda::SlotRules<Task> rules_;
  std::int64_t steps_ = 0;
  std::vector<float> state_, total_rewards_, lengths_;

 public:
  std::vector<float> observations, final_observations, rewards, terminated, truncated, ended_rewards, ended_lengths;
};

bool same_bits(std::span<const float> numbers, const std::vector<float>& rows, std::int64_t first) {
  return std::ranges::equal(numbers, std::span(rows).subspan(static_cast<std::size_t>(first), numbers.size()));
}

/// All that the environment says of its last step is what stands in the rows of step t.
template <class Task>
bool same_step(const VectorEnvironment& environment, const SlotsOnHost<Task>& found, std::int64_t t) {
  constexpr std::int64_t width = Task::observation_size;
  const std::int64_t row = t * slots;
  bool same = same_bits(environment.rewards(), found.rewards, row) &&
              same_bits(environment.terminated(), found.terminated, row) &&
              same_bits(environment.truncated(), found.truncated, row) &&
              same_bits(environment.observations(), found.observations, row * width);
  for (const Episode& episode : environment.episodes()) {
    const std::int64_t at = row + episode.slot;
    const auto end = environment.final_observations().subspan(static_cast<std::size_t>(episode.slot * width), width);
    same = same && episode.total_reward == found.ended_rewards[static_cast<std::size_t>(at)] &&
           static_cast<float>(episode.length) == found.ended_lengths[static_cast<std::size_t>(at)] &&
           same_bits(end, found.final_observations, at * width);
  }
  return same;
}

/// 2,000 steps in launches of several lengths. @returns the episodes that were terminated, and those truncated
template <class Task>
std::pair<std::int64_t, std::int64_t> check_steps(const Task& task, const ControlEntry::Builder& builder) {
  const ControlOptions options = builder.analytic()->options;
  const auto environment = builder.make(slots, first_slot);
  environment->reset(seed);
  SlotsOnHost<Task> found(task, options);
  REQUIRE(same_bits(environment->observations(), found.observations, 0));
  std::pair<std::int64_t, std::int64_t> ends{0, 0};
  std::uint64_t launch = 0;
  for (const std::int64_t steps : {1, 3, 96, 500, 1400}) {
    const std::vector<float> actions = actions_of(environment->spec(), options.normalize_actions, steps, launch++);
    const std::size_t width = actions.size() / static_cast<std::size_t>(steps);
    CHECK(found.step(steps, actions) == std::vector<std::int64_t>(slots, steps));
    for (std::int64_t t = 0; t < steps; ++t) {
      environment->step(std::span(actions).subspan(static_cast<std::size_t>(t) * width, width));
      REQUIRE(same_step(*environment, found, t));
      for (const Episode& episode : environment->episodes()) ++(episode.terminated ? ends.first : ends.second);
    }
  }
  return ends;
}

}  // namespace

TEST_CASE("every task that is data is one that kernels know", "[envs][control][cuda]") {
  CHECK(analytic_names() == std::vector<std::string>{"Acrobot-v1", "CartPole-v1", "Pendulum-v1", "cartpole",
                                                     "cartpole-swingup", "cartpole-swingup-sparse", "deep-sea",
                                                     "double-pendulum"});
  for (const std::string& name : analytic_names()) {
    CAPTURE(name);
    CHECK(with_task(controls().at(name).builder()->analytic()->dynamics, [](const auto&) {}));
  }
  CHECK_FALSE(with_task(std::any(1), [](const auto&) {}));
}

TEST_CASE("a thread of a kernel does to its slot what a vector environment does, bit for bit",
          "[envs][control][cuda]") {
  // A horizon within which random actions end some episodes and not others, where they end any.
  struct Case {
    std::string horizon;
    bool terminates, truncates;
  };
  const std::map<std::string, Case> cases{
      {"Acrobot-v1", {"60", false, true}},      {"CartPole-v1", {"30", true, true}},
      {"Pendulum-v1", {"60", false, true}},     {"cartpole", {"12", true, true}},
      {"cartpole-swingup", {"60", true, true}}, {"cartpole-swingup-sparse", {"400", true, true}},
      {"deep-sea", {"60", true, false}},  // it has 10 steps
      {"double-pendulum", {"60", false, true}}};
  for (const std::string& name : analytic_names()) DYNAMIC_SECTION(name) {
      const Case& expected = cases.at(name);
      const auto builder = builder_of(name, {{"horizon", expected.horizon}});
      std::pair<std::int64_t, std::int64_t> ends;
      REQUIRE(with_task(builder->analytic()->dynamics, [&](const auto& task) { ends = check_steps(task, *builder); }));
      CHECK((ends.first > 0) == expected.terminates);
      CHECK((ends.second > 0) == expected.truncates);
    }
}

TEST_CASE("a kernel maps actions to the bounds of a task as its options say", "[envs][control][cuda]") {
  for (const auto& [name, options] : std::map<std::string, std::map<std::string, std::string>>{
           {"Pendulum-v1", {{"normalize_actions", "true"}}},
           {"double-pendulum", {{"normalize_actions", "true"}, {"reward", "rllab"}}},
           {"cartpole", {{"normalize_actions", "true"}, {"horizon", "35"}}},
           {"deep-sea", {{"size", "37"}, {"move_cost", "0.3"}}},
           {"cartpole-swingup-sparse", {{"height", "-0.9"}, {"move_cost", "0.2"}}}})
    DYNAMIC_SECTION(name) {
      const auto builder = builder_of(name, options);
      REQUIRE(with_task(builder->analytic()->dynamics, [&](const auto& task) { check_steps(task, *builder); }));
    }
}

TEST_CASE("a slot stops at the first action that is not allowed, and at the first state that is not finite",
          "[envs][control][cuda]") {
  const auto stopped_at = [](const auto& task, const ControlOptions& options, float wrong) {
    SlotsOnHost slots_here(task, options);
    std::vector<float> actions(5 * slots, 1.0F);
    actions[2 * slots + 17] = wrong;
    const std::vector<std::int64_t> made = slots_here.step(5, actions);
    CHECK(std::ranges::count(made, 5) == (made[17] == 5 ? slots : slots - 1));
    return made[17];
  };
  const ControlOptions clipped{.horizon = 100}, bounded{.clip_actions = false, .horizon = 100},
      mapped{.normalize_actions = true, .clip_actions = false, .horizon = 100};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float wrong : {2.0F, -1.0F, 0.5F, nan}) CHECK(stopped_at(CartPole({}), clipped, wrong) == 2);
  CHECK(stopped_at(CartPole({}), clipped, 0.0F) == 5);
  CHECK(stopped_at(Pendulum({}), clipped, nan) == 2);
  CHECK(stopped_at(Pendulum({}), clipped, 2.5F) == 5);
  CHECK(stopped_at(Pendulum({}), bounded, 2.5F) == 2);
  CHECK(stopped_at(Pendulum({}), bounded, -2.0F) == 5);
  CHECK(stopped_at(Pendulum({}), mapped, 1.5F) == 2);
  CHECK(stopped_at(RllabCartPole({}), clipped, 1e30F) == 2);  // its square is in the reward
}

}  // namespace stein::envs
