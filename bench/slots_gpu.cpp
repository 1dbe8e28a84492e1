#include <stein/agents/control/device_rollouts.h>
#include <stein/bench/gpu.h>
#include <stein/bench/slots_gpu.h>
#include <stein/core/error.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/storage/device_memory.h>

#include <algorithm>

namespace stein::bench {
namespace {

using namespace stein::agents;
using inference::Device, inference::Matrix;

constexpr std::uint64_t seed = 3;

/// Uniform actions within their bounds, [steps, slots, A].
std::vector<float> random_actions(const envs::ControlSpec& spec, std::int64_t steps, std::int64_t slots) {
  std::vector<float> actions;
  actions.reserve(static_cast<std::size_t>(steps * slots) * spec.action.size());
  Draws draws({.seed = 1, .stream = Stream::decision}, 0);
  for (std::int64_t row = 0; row < steps * slots; ++row)
    for (const envs::Quantity& range : spec.action)
      actions.push_back(spec.discrete() ? static_cast<float>(draws.integer(static_cast<std::uint32_t>(spec.choices)))
                                        : static_cast<float>(draws.uniform(range.low, range.high)));
  return actions;
}

/// Slots of a task on a device, and what is kept of a launch.
class SlotsOnDevice {
 public:
  SlotsOnDevice(const envs::ControlEntry::Builder& builder, std::int64_t slots, std::int64_t steps, Device device)
      : device_(device),
        task_(builder.analytic().value()),
        slots_(slots),
        steps_(steps),
        state_(1, std::ssize(builder.spec().state) * slots, device),
        total_rewards_(1, slots, device),
        lengths_(1, slots, device),
        observations_(1, steps * slots * std::ssize(builder.spec().observation), device),
        final_observations_(1, observations_.columns(), device) {
    for (auto* rows : {&rewards_, &terminated_, &truncated_, &ended_rewards_, &ended_lengths_})
      *rows = Matrix<float>(1, steps * slots, device);
    const std::vector<float> actions = random_actions(builder.spec(), steps, slots);
    actions_ = Matrix<float>(1, std::ssize(actions), device);
    inference::device_memory(device.kind)
        .copy_in(device.index, actions_.view().data, actions.data(), actions.size() * sizeof(float));
    rollout_driver(device).begin(device.index, task_, key(), memory(), observations_.view().data);
  }

  /// All slots by all steps of a launch.
  void step() {
    const auto failure =
        rollout_driver(device_).step(device_.index, task_, key(), memory(), steps_, actions_.view().data,
                                     {.observations = observations_.view().data,
                                      .final_observations = final_observations_.view().data,
                                      .rewards = rewards_.view().data,
                                      .terminated = terminated_.view().data,
                                      .truncated = truncated_.view().data,
                                      .total_rewards = ended_rewards_.view().data,
                                      .lengths = ended_lengths_.view().data});
    if (failure)
      fail(ErrorKind::numeric, "benchmark envs-gpu: slot {} failed in step {}", failure->slot, failure->step);
    taken_ += steps_;
  }
  /// At home, by step.
  Matrix<float> observations() const { return observations_.to({}); }
  Matrix<float> rewards() const { return rewards_.to({}); }

 private:
  envs::SlotKey key() const { return {.seed = seed, .first_slot = 0, .steps = taken_}; }
  envs::SlotMemory memory() {
    return {.slots = slots_,
            .state = state_.view().data,
            .total_rewards = total_rewards_.view().data,
            .lengths = lengths_.view().data};
  }

  Device device_;
  envs::AnalyticTask task_;
  std::int64_t slots_, steps_, taken_ = 0;
  Matrix<float> state_, total_rewards_, lengths_, observations_, final_observations_, rewards_, terminated_, truncated_,
      ended_rewards_, ended_lengths_, actions_;
};

/// Throws Error(numeric) unless the slots of a device have the observations and rewards of those on the host.
void check_same(const std::string& name, const envs::ControlEntry::Builder& builder, Device device) {
  constexpr std::int64_t slots = 300, steps = 50;
  SlotsOnDevice ours(builder, slots, steps, device);
  const auto reference = builder.make(slots);
  reference->reset(seed);
  const std::vector<float> actions = random_actions(builder.spec(), steps, slots);
  const std::size_t width = actions.size() / steps;
  for (int launch = 0; launch < 2; ++launch) {
    ours.step();
    const Matrix<float> observations = ours.observations(), rewards = ours.rewards();
    const auto same = [](std::span<const float> a, std::span<const float> rows, std::int64_t t) {
      return std::ranges::equal(a, rows.subspan(static_cast<std::size_t>(t) * a.size(), a.size()));
    };
    for (std::int64_t t = 0; t < steps; ++t) {
      reference->step(std::span(actions).subspan(static_cast<std::size_t>(t) * width, width));
      if (!same(reference->observations(), observations.row(0), t) || !same(reference->rewards(), rewards.row(0), t))
        fail(ErrorKind::numeric, "benchmark envs-gpu: {} on the device is not what it is on the host in step {}", name,
             launch * steps + t);
    }
  }
}

/// A policy and value networks of 64-64 for one particle.
class ActorAndCritic {
 public:
  explicit ActorAndCritic(const envs::ControlSpec& spec)
      : policy_(options(), spec, 1),
        critic_(
            {.inputs = std::ssize(spec.observation), .hidden = {64, 64}, .activation = inference::Activation::tanh}),
        weights_(1, critic_.layout().size()) {
    fill_normal(weights_.row(0), {.seed = 2}, 0);
    for (float& weight : weights_.row(0)) weight *= 0.1F;
  }
  const policies::ControlPolicy& policy() const { return policy_; }
  ValuedBy valued() const {
    return {.layout = critic_.layout(),
            .activation = inference::Activation::tanh,
            .weights = weights_.view(),
            .units = {0, 1},
            .advantage = agents::AdvantageStep::of(0.99, 0.95)};
  }

 private:
  static policies::ControlPolicy::Options options() {
    policies::ControlPolicy::Options options{.hidden = {64, 64}};
    options.posterior.flat_prior = true;
    return options;
  }

  policies::ControlPolicy policy_;
  inference::ParticleMlp critic_;
  Matrix<float> weights_;
};

/// Visits the tasks that are data and whose name begins with `only`: visit(name, builder).
template <class Visit>
std::vector<Row> rows_of_tasks(const std::string& benchmark, const std::string& only, const Visit& visit) {
  std::vector<Row> rows;
  for (const auto& [name, entry] : envs::controls().entries()) {
    const auto builder = entry.builder();
    if (name.starts_with(only) && builder->analytic()) rows.push_back(visit(name, *builder));
  }
  STEIN_CHECK(!rows.empty(), "benchmark {}: no control task that is data begins with '{}'", benchmark, only);
  return rows;
}

/// A row of steps a second of so many slots that make `steps` in the seconds measured.
Row row_of(const std::string& name, const SlotCounts& slots, std::int64_t steps, const Pair& seconds,
           const std::string& reference, Device device) {
  const auto count = [&](std::int64_t of) { return static_cast<double>(of * steps); };
  return {.name = name,
          .ours = count(slots.on_device) / seconds.ours,
          .reference = count(slots.on_host) / seconds.reference,
          .unit = "steps/s",
          .better = Better::higher,
          .extra = {{"reference_is", reference},
                    {"device", inference::device_memory(device.kind).model(device.index)},
                    {"slots", static_cast<double>(slots.on_device)},
                    {"slots_of_reference", static_cast<double>(slots.on_host)},
                    {"steps_a_launch", static_cast<double>(steps)}}};
}

template <std::int64_t default_slots, std::int64_t default_host_slots>
struct SlotsOptions {
  std::int64_t slots = default_slots, slots_of_reference = default_host_slots, steps = 16;
  std::string device = "cuda", only = "CartPole-v1";

  template <class V>
  void describe(V& v) {
    v("slots", slots, "on the GPU", between(1, 1e8));
    v("slots_of_reference", slots_of_reference, "on the processor", between(1, 1e6));
    v("steps", steps, "of every slot in a launch", between(1, 1e4));
    v("device", device, "the GPU: cuda, or cuda:INDEX");
    v("only", only, "measure the tasks whose name begins so; empty: all");
  }
};
using EnvsOptions = SlotsOptions<2'097'152, 65'536>;
using RolloutsOptions = SlotsOptions<65'536, 4'096>;

std::vector<Row> measure_envs(const EnvsOptions& options) {
  return measure_slots_on(gpu_named(options.device, "envs"), {options.slots, options.slots_of_reference}, options.steps,
                          options.only);
}

std::vector<Row> measure_rollouts(const RolloutsOptions& options) {
  return measure_rollouts_on(gpu_named(options.device, "rollout"), {options.slots, options.slots_of_reference},
                             options.steps, options.only);
}

[[maybe_unused]] const bool registered =
    register_benchmark("envs-gpu", "steps a second of control tasks on a GPU, millions of slots a launch", measure_envs,
                       Cores::all, check_gpu) &&
    register_benchmark("rollouts-gpu", "agent steps a second on a GPU: task, policy, values and advantages in a launch",
                       measure_rollouts, Cores::all, check_gpu);

}  // namespace

std::vector<Row> measure_slots_on(Device device, const SlotCounts& slots, std::int64_t steps, const std::string& only,
                                  const PairSettings& settings) {
  check_present(device);
  return rows_of_tasks("envs-gpu", only, [&](const std::string& name, const envs::ControlEntry::Builder& builder) {
    check_same(name, builder, device);
    SlotsOnDevice ours(builder, slots.on_device, steps, device);
    const auto reference = builder.make(slots.on_host);
    reference->reset(seed);
    const std::vector<float> actions = random_actions(builder.spec(), steps, slots.on_host);
    const std::size_t width = actions.size() / static_cast<std::size_t>(steps);
    const auto step_host = [&] {
      for (std::size_t t = 0; t < static_cast<std::size_t>(steps); ++t)
        reference->step(std::span(actions).subspan(t * width, width));
    };
    return row_of(name, slots, steps, measure_pair([&] { ours.step(); }, step_host, settings),
                  "VectorEnvironment on all cores", device);
  });
}

std::vector<Row> measure_rollouts_on(Device device, const SlotCounts& slots, std::int64_t steps,
                                     const std::string& only, const PairSettings& settings) {
  check_present(device);
  return rows_of_tasks("rollouts-gpu", only, [&](const std::string& name, const envs::ControlEntry::Builder& builder) {
    const ActorAndCritic networks(builder.spec());
    const ValuedBy valued = networks.valued();
    DeviceRollouts ours(device, builder, {.slots = slots.on_device, .steps = steps}, seed);
    Rollouts reference(builder, {.slots = slots.on_host, .steps = steps}, seed);
    std::uint64_t launch = 0;
    const auto launch_next = [&] {
      ours.launch(networks.policy(), seed, {.seed = seed, .step = launch++ << 24, .stream = Stream::decision}, &valued);
    };
    return row_of(name, slots, steps,
                  measure_pair(
                      launch_next, [&] { reference.collect(networks.policy()); }, settings),
                  "Rollouts on all cores, without values", device);
  });
}

}  // namespace stein::bench
