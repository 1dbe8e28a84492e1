// Values and advantages that a launch of rollouts makes beside them.
#include <stein/agents/control/advantages.h>
#include <stein/agents/control/device_rollouts.h>
#include <stein/inference/models/particle_mlp.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "agents/cuda/fenced_rollouts.h"
#include "core/error_matcher.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::agents;
using inference::Device;

namespace {

constexpr RolloutShape valued_paths{.particles = 3, .slots = 70, .steps = 20, .whole_paths = true},
    valued_stretch{.particles = 3, .slots = 70, .steps = 45};
constexpr double discount = 0.9, lambda = 0.8;

std::unique_ptr<envs::ControlEntry::Builder> cart_pole() {
  auto builder = envs::controls().at("CartPole-v1").builder();
  OptionTable table;
  builder->describe(table);
  table.set("horizon", "18");  // some paths are truncated there, others terminate before
  return builder;
}

/// Value networks with weights of their own, in units of their own.
struct Networks {
  inference::ParticleMlp model{{.inputs = 4, .hidden = {16, 5}, .activation = inference::Activation::tanh}};
  inference::Matrix<float> weights{3, model.layout().size()};
  std::vector<float> units{0, 1, 3, 2, -1, 0.5};

  Networks() {
    for (std::int64_t i = 0; i < 3; ++i) fill_normal(weights.row(i), {.seed = 4}, static_cast<std::uint32_t>(i));
  }
  ValuedBy valued(bool horizon_is_an_end) const {
    return {.layout = model.layout(),
            .activation = inference::Activation::tanh,
            .weights = weights.view(),
            .units = units,
            .advantage = AdvantageStep::of(discount, lambda),
            .horizon_is_an_end = horizon_is_an_end};
  }
  /// V of some observations, [k, O], of a particle.
  std::vector<float> values(std::int64_t particle, const std::vector<float>& observations) {
    const std::int64_t count = std::ssize(observations) / 4;
    std::vector<float> values(static_cast<std::size_t>(count));
    if (count == 0) return values;
    model.predict({weights.view().block(particle, 1), particle}, {.dense = {observations.data(), count, 4}},
                  {values.data(), count, 1});
    const auto at = static_cast<std::size_t>(2 * particle);
    for (float& value : values) value = units[at] + units[at + 1] * value;
    return values;
  }
};

/// The largest difference between numbers, in units of 1 + |number|.
double relative_distance(std::span<const float> found, const std::vector<float>& expected) {
  double largest = 0;
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    largest = std::max(largest, std::abs(double{found[i]} - double{expected[i]}) / (1 + std::abs(double{expected[i]})));
  return largest;
}

/// What follows each step of a shard, and which steps end a path.
struct Following {
  std::vector<float> values, ends;
};

Following following(const RolloutShard& shard, std::span<const float> values, std::span<const float> end_values,
                    std::span<const float> next_values, bool horizon_is_an_end) {
  const auto rows = static_cast<std::size_t>(shard.rows()), n = static_cast<std::size_t>(shard.slots);
  Following all{std::vector<float>(rows), std::vector<float>(rows)};
  for (std::size_t row = 0; row < rows; ++row) {
    const bool last = row + n >= rows;
    all.ends[row] = shard.terminated[row] + shard.truncated[row];
    all.values[row] = all.ends[row] > 0 ? 0 : last ? next_values[row % n] : values[row + n];
  }
  if (horizon_is_an_end) return all;
  for (const std::int64_t row : shard.final_rows)
    all.values[static_cast<std::size_t>(row)] = end_values[static_cast<std::size_t>(row)];
  return all;
}

/// Values are those of the networks on the host, and advantages have the bits that these values give there.
void check_shard(const RolloutShard& shard, const ValuedRows& found, bool horizon_is_an_end, Networks& networks) {
  const std::int64_t slot = shard.particle * 70 + shard.first_slot;
  const auto first = static_cast<std::size_t>(slot * found.capacity), rows = static_cast<std::size_t>(shard.rows());
  const auto of_shard = [&](const std::vector<float>& numbers) { return std::span(numbers).subspan(first, rows); };
  const auto values = of_shard(found.values), end_values = of_shard(found.end_values);
  const auto next_values =
      std::span(found.next_values).subspan(static_cast<std::size_t>(slot), static_cast<std::size_t>(shard.slots));
  constexpr double rounding = 3e-6;
  CHECK(relative_distance(values, networks.values(shard.particle, {shard.observations.begin(),
                                                                   shard.observations.begin() + shard.rows() * 4})) <
        rounding);
  if (horizon_is_an_end) {
    CHECK(std::ranges::count(next_values, 0.0F) == shard.slots);
  } else {
    CHECK(relative_distance(next_values, networks.values(shard.particle, shard.next_observations)) < rounding);
    std::vector<float> ends;
    for (const std::int64_t row : shard.final_rows) ends.push_back(end_values[static_cast<std::size_t>(row)]);
    CHECK(relative_distance(ends, networks.values(shard.particle, shard.final_observations)) < rounding);
    CHECK(!ends.empty());
  }
  const Following next = following(shard, values, end_values, next_values, horizon_is_an_end);
  std::vector<float> advantages(rows);
  generalised_advantages({.slots = shard.slots,
                          .rewards = std::span(shard.rewards).first(rows),
                          .values = values,
                          .next_values = next.values,
                          .ends = next.ends},
                         discount, lambda, advantages);
  CHECK(std::ranges::equal(advantages, of_shard(found.advantages)));
}

void check_values(Device device) {
  const auto builder = cart_pole();
  policies::ControlPolicy::Options options{.particles = 3, .hidden = {6}, .normalize_observations = false};
  options.posterior.flat_prior = true;
  const policies::ControlPolicy policy(options, builder->spec(), 5);
  Networks networks;
  for (const RolloutShape& shape : {valued_stretch, valued_paths})
    for (const bool horizon_is_an_end : {false, true}) {
      CAPTURE(shape.whole_paths, horizon_is_an_end);
      Rollouts on_host(*builder, shape, 3);  // for its shards
      std::vector<RolloutShard> shards;
      for (const RolloutShard& shard : on_host.shards())
        shards.push_back({.particle = shard.particle, .first_slot = shard.first_slot, .slots = shard.slots});
      DeviceRollouts rollouts(device, *builder, shape, 9);
      const ValuedBy valued = networks.valued(horizon_is_an_end);
      for (std::uint64_t launch = 0; launch < 2; ++launch) {
        rollouts.launch(policy, launch, {.seed = 8, .step = launch << 24, .stream = Stream::decision}, &valued);
        rollouts.bring_home(shards);
        const ValuedRows found = rollouts.valued_rows();
        for (const RolloutShard& shard : shards) check_shard(shard, found, horizon_is_an_end, networks);
      }
    }
}

}  // namespace

TEST_CASE("a launch values its steps as networks on the host do, and its advantages have their bits",
          "[agents][advantages][cuda]") {
  check_values(test::fenced_rollouts());
}

TEST_CASE("a launch on a GPU values its steps as networks on the host do, and its advantages have their bits",
          "[agents][advantages][cuda][gpu]") {
  check_values(test::gpu());
}

TEST_CASE("a launch refuses value networks of other particles", "[agents][advantages][cuda]") {
  const auto builder = cart_pole();
  policies::ControlPolicy::Options options{.particles = 2, .hidden = {6}};
  options.posterior.flat_prior = true;
  const policies::ControlPolicy policy(options, builder->spec(), 5);
  DeviceRollouts rollouts(test::fenced_rollouts(), *builder, {.particles = 2, .slots = 3, .steps = 4}, 9);
  CHECK_ERROR(rollouts.valued_rows(), usage, "expected a launch with value networks");
  const Networks networks;
  const ValuedBy valued = networks.valued(false);
  CHECK_ERROR(rollouts.launch(policy, 0, {}, &valued), usage,
              "expected value networks and units of 2 particles, or of one for all, got 3");
}
