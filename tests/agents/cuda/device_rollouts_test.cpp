// Rollouts on a device against those on the host: the same bits where the outputs of the networks are the same, and
// actions as the host's networks would draw them elsewhere.
#include <stein/agents/control/rollouts.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "agents/cuda/fenced_rollouts.h"
#include "agents/toy_control.h"
#include "core/error_matcher.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::agents;
using inference::Device;

namespace {

constexpr std::uint64_t seed = 11;
constexpr RolloutShape paths{.particles = 3, .slots = 70, .steps = 20, .whole_paths = true, .discount = 0.9},
    stretch{.particles = 3, .slots = 70, .steps = 25, .discount = 0.9},
    staggered{.particles = 3, .slots = 70, .steps = 25, .discount = 0.9, .staggered = true};

std::unique_ptr<envs::ControlEntry::Builder> builder_of(const std::string& name,
                                                        const std::map<std::string, std::string>& options = {}) {
  auto builder = envs::controls().at(name).builder();
  OptionTable table;
  builder->describe(table);
  for (const auto& [key, value] : options) table.set(key, value);
  return builder;
}

/// With biases of the outputs that differ between particles. An `output_spread` of 0 makes them the outputs, exactly.
policies::ControlPolicy policy_of(const envs::ControlEntry::Builder& builder,
                                  const policies::ControlPolicy::Options& given) {
  policies::ControlPolicy::Options options = given;
  options.particles = 3;
  options.posterior.flat_prior = true;
  policies::ControlPolicy policy(options, builder.spec(), 5);
  const std::string bias = "layer" + std::to_string(options.hidden.size()) + ".bias";
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto biases = policy.particles().view(bias, i);
    for (std::int64_t k = 0; k < biases.columns; ++k)
      biases(0, k) = 0.2F * static_cast<float>(i) - 0.1F * static_cast<float>(k);
  }
  policy.refresh();
  return policy;
}

/// All that a shard holds.
std::vector<std::vector<double>> contents(const RolloutShard& shard) {
  const auto rows = static_cast<std::size_t>(shard.rows()), width = shard.environment->spec().observation.size(),
             acts = shard.environment->spec().action.size();
  std::vector<std::vector<double>> all{{static_cast<double>(shard.steps)},
                                       {shard.final_rows.begin(), shard.final_rows.end()}};
  const auto add = [&](const std::vector<float>& numbers, std::size_t count) {
    all.emplace_back(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count));
  };
  add(shard.observations, rows * width), add(shard.actions, rows * acts);
  for (const auto* numbers : {&shard.rewards, &shard.terminated, &shard.truncated, &shard.counts, &shard.times})
    add(*numbers, rows);
  for (const auto* numbers : {&shard.final_observations, &shard.next_observations, &shard.episode_times})
    add(*numbers, numbers->size());
  for (const FinishedEpisode& episode : shard.episodes)
    all.push_back({static_cast<double>(episode.particle), static_cast<double>(episode.length), episode.total_reward,
                   episode.discounted_reward, episode.terminated ? 1.0 : 0.0});
  return all;
}

void check_same(const Rollouts& found, const Rollouts& expected) {
  CHECK(found.total_steps() == expected.total_steps());
  REQUIRE(found.shards().size() == expected.shards().size());
  for (std::size_t i = 0; i < found.shards().size(); ++i) {
    const auto ours = contents(found.shards()[i]), theirs = contents(expected.shards()[i]);
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t part = 0; part < ours.size(); ++part) {
      CAPTURE(i, part);
      REQUIRE(std::ranges::equal(ours[part], theirs[part]));
    }
  }
}

/// Tasks with horizons that end some paths; sizes that make one shard of 64 slots and one of 6.
const std::map<std::string, std::map<std::string, std::string>> tasks{
    {"Acrobot-v1", {{"horizon", "60"}}},
    {"CartPole-v1", {{"horizon", "18"}}},
    {"Pendulum-v1", {{"horizon", "30"}, {"normalize_actions", "true"}}},
    {"cartpole", {{"horizon", "14"}}},
    {"cartpole-swingup", {{"horizon", "33"}, {"normalize_actions", "true"}}},
    {"cartpole-swingup-sparse", {{"horizon", "20"}}},
    {"deep-sea", {{"size", "8"}, {"horizon", "100"}}},
    {"double-pendulum", {{"horizon", "27"}}}};

void check_bits(Device device) {
  for (const auto& [name, options] : tasks)
    for (const RolloutShape& shape : {stretch, staggered, paths}) {
      CAPTURE(name, shape.whole_paths);
      const auto builder = builder_of(name, options);
      const policies::ControlPolicy policy = policy_of(*builder, {.hidden = {5}, .output_spread = 0});
      Rollouts found(*builder, shape, seed, device), expected(*builder, shape, seed);
      for (int collection = 0; collection < 3; ++collection) {
        found.collect(policy), expected.collect(policy);
        check_same(found, expected);
      }
    }
}

/// Rows whose action is not what the host draws at the observation that the device saw.
std::int64_t unlike_rows(const Rollouts& rollouts, const policies::ControlPolicy& policy, std::int64_t collection) {
  const std::int64_t seen = policy.observation_size(), acts = policy.distribution().actions();
  std::int64_t unlike = 0;
  for (const RolloutShard& shard : rollouts.shards())
    for (std::int64_t t = 0; t < shard.steps; ++t) {
      inference::Matrix<float> presented(shard.slots, seen), outputs(shard.slots, policy.distribution().outputs()),
          drawn(shard.slots, acts);
      policy.present({shard.observations.data() + t * shard.slots * seen, shard.slots, seen}, presented.view());
      const auto parameters = policy.parameters(shard.particle, presented.view(), outputs.view());
      policy.distribution().draw(
          parameters,
          {.seed = seed,
           .step = (static_cast<std::uint64_t>(collection) << 24) + static_cast<std::uint64_t>(t),
           .stream = Stream::decision},
          static_cast<std::uint32_t>(shard.particle), shard.first_slot, drawn.view());
      for (std::int64_t s = 0; s < shard.slots; ++s)
        for (std::int64_t a = 0; a < acts; ++a) {
          const float action = shard.actions[static_cast<std::size_t>(((t * shard.slots) + s) * acts + a)];
          if (std::abs(drawn.view()(s, a) - action) > 1e-5F * (1 + std::abs(action))) ++unlike;
        }
    }
  return unlike;
}

/// Networks of several depths. A choice may differ from the host's where the outputs differ in their last bits: with a
/// probability of about 1e-7 a row, so three of 20,000 rows do with one of 1e-9.
void check_networks(Device device) {
  using Options = policies::ControlPolicy::Options;
  using inference::Activation;
  for (const Options& network :
       {Options{.hidden = {64, 64}, .activation = Activation::tanh, .output_spread = 1},
        Options{.hidden = {25, 10}, .activation = Activation::relu, .output_spread = 1, .normalize_observations = true},
        Options{.hidden = {7, 9, 33}, .output_spread = 2, .normalize_observations = true},
        Options{.hidden = {}, .output_spread = 1},
        Options{.hidden = {6}, .deviation = policies::Deviation::state, .output_spread = 1}})
    for (const std::string name : {"Acrobot-v1", "Pendulum-v1", "double-pendulum"}) {
      CAPTURE(name, network.hidden);
      const auto builder = builder_of(name, tasks.at(name));
      policies::ControlPolicy policy = policy_of(*builder, network);
      Rollouts rollouts(*builder, stretch, seed, device);
      for (int collection = 0; collection < 3; ++collection) {
        rollouts.collect(policy);
        CHECK(unlike_rows(rollouts, policy, collection) <= 2);
        const RolloutShard& shard = rollouts.shards().front();
        policy.observe({shard.observations.data(), shard.rows(), policy.observation_size()});
      }
    }
}

}  // namespace

TEST_CASE("rollouts on a device have the bits of those on the host", "[agents][rollouts][cuda]") {
  check_bits(test::fenced_rollouts());
}

TEST_CASE("rollouts on a GPU have the bits of those on the host", "[agents][rollouts][cuda][gpu]") {
  check_bits(test::gpu());
}

TEST_CASE("networks on a device draw the actions that they draw on the host", "[agents][rollouts][cuda]") {
  check_networks(test::fenced_rollouts());
}

TEST_CASE("networks on a GPU draw the actions that they draw on the host", "[agents][rollouts][cuda][gpu]") {
  check_networks(test::gpu());
}

TEST_CASE("rollouts go on where they were saved, on the same device and on another", "[agents][rollouts][cuda]") {
  const Device device = test::fenced_rollouts();
  const std::string name = GENERATE("CartPole-v1", "double-pendulum", "Pendulum-v1");
  CAPTURE(name);
  const auto builder = builder_of(name);
  const policies::ControlPolicy policy = policy_of(*builder, {.hidden = {5}, .output_spread = 0});
  for (const RolloutShape& shape : {stretch, staggered, paths})
    for (const Device from : {Device{}, device}) {
      Rollouts first(*builder, shape, seed, from), on_device(*builder, shape, seed, device),
          on_host(*builder, shape, seed);
      first.collect(policy), first.collect(policy);
      Snapshot saved;
      first.save(saved);
      on_device.restore(saved), on_host.restore(saved);
      for (int k = 0; k < 2; ++k) {
        first.collect(policy), on_device.collect(policy), on_host.collect(policy);
        check_same(on_device, first);
        check_same(on_host, first);
      }
    }
}

TEST_CASE("rollouts on a device say what they cannot do", "[agents][rollouts][cuda]") {
  const Device device = test::fenced_rollouts();
  CHECK_ERROR(Rollouts(*builder_of("InvertedPendulum"), stretch, seed, device), usage, "expected a task that is data");
  const auto pendulum = builder_of("Pendulum-v1", {{"clip_actions", "false"}});
  const policies::ControlPolicy policy = policy_of(*pendulum, {.hidden = {5}, .output_spread = 0});
  Rollouts unclipped(*pendulum, stretch, seed, device);
  CHECK_ERROR(unclipped.collect(policy), numeric, "Pendulum-v1: expected actions inside their bounds", "in step 0");
  const auto cart = builder_of("CartPole-v1");
  Rollouts deep(*cart, stretch, seed, device);
  CHECK_ERROR(deep.collect(policy_of(*cart, {.hidden = {2, 2, 2, 2, 2, 2}})), usage, "at most 6 layers");
}
