// Agents whose rollouts, gradients and moves are on a device, against those of the host.
#include <stein/agents/control/control_agent.h>
#include <stein/inference/storage/host_copy.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "agents/cuda/fenced_rollouts.h"
#include "agents/toy_control.h"
#include "core/error_matcher.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::agents;
using inference::Device;

namespace {

ControlAgentOptions small(Learner learner, PolicyPosterior posterior, bool discrete) {
  ControlAgentOptions options = default_options(learner, posterior, discrete);
  test::set(options, {{"hidden", "9"}, {"slots", "5"}, {"steps_per_slot", "20"}});
  if (posterior != PolicyPosterior::none) test::set(options, {{"particles", "3"}});
  return options;
}

/// The largest distance between the coordinates of two agents' particles.
double distance(const ControlAgent& a, const ControlAgent& b) {
  const auto values_of = [](const ControlAgent& agent) {
    return inference::host_copy<float>(agent.policy().particles().values(), agent.policy().device());
  };
  const inference::Matrix<float> of_a = values_of(a), of_b = values_of(b);
  double largest = 0;
  for (std::int64_t i = 0; i < a.policy().particle_count(); ++i)
    for (std::int64_t q = 0; q < a.policy().particles().layout().size(); ++q)
      largest = std::max(largest, std::abs(double{of_a.view()(i, q)} - double{of_b.view()(i, q)}));
  return largest;
}

struct Way {
  Learner learner;
  PolicyPosterior posterior;
  std::vector<std::pair<std::string, std::string>> settings{};
};

/// All that an update on a device does: minibatches, a bound on the divergence, normalised values, factors, anchors,
/// rollouts that particles share, one baseline for all.
std::vector<Way> ways() {
  return {{Learner::reinforce, PolicyPosterior::none},
          {Learner::reinforce, PolicyPosterior::svgd, {{"baseline", "linear"}}},
          {Learner::a2c, PolicyPosterior::none},
          {Learner::a2c, PolicyPosterior::svgd, {{"anchors", "true"}, {"normalize_values", "true"}}},
          {Learner::a2c, PolicyPosterior::s2vgd},
          {Learner::a2c, PolicyPosterior::svgd, {{"share_rollouts", "true"}, {"shared_critic", "true"}}},
          {Learner::ppo, PolicyPosterior::none, {{"target_kl", "1e-6"}, {"minibatches", "4"}}},
          {Learner::ppo, PolicyPosterior::svgd, {{"minibatches", "2"}, {"normalize_values", "true"}}}};
}

/// Sums are rounded otherwise on a device: what is learned differs in its last bits, and so do numbers that are drawn.
/// A choice differs where that happens just where a draw falls, with a probability of about 1e-7 a row.
void check_agents(Device device) {
  for (const Way& way : ways())
    for (const std::string name : {"CartPole-v1", "cartpole"}) {
      CAPTURE(static_cast<int>(way.learner), static_cast<int>(way.posterior), name);
      const auto environment = envs::controls().at(name).builder();
      const bool discrete = environment->spec().discrete();
      ControlAgentOptions options = small(way.learner, way.posterior, discrete);
      for (const auto& setting : way.settings) test::set(options, {setting});
      ControlAgent found(options, *environment, 4, device), expected(options, *environment, 4),
          start(options, *environment, 4);
      CHECK(found.policy().device() == device);
      for (int k = 0; k < (discrete ? 3 : 1); ++k) {
        const IterationReport on_device = found.iterate(Measured::yes), on_host = expected.iterate(Measured::yes);
        CHECK(on_device.steps == on_host.steps);
        CHECK(on_device.episodes.size() == on_host.episodes.size());
        const auto measured = on_device.measures->tagged(true), measures = on_host.measures->tagged(true);
        REQUIRE(measured.size() == measures.size());
        for (std::size_t i = 0; i < measures.size(); ++i) {
          CAPTURE(measures[i].first);
          CHECK(measured[i].second == Approx(measures[i].second).epsilon(0.01).margin(1e-4));
        }
      }
      const double moved = distance(expected, start);
      CHECK(moved > 1e-4);
      CHECK(distance(found, expected) <= 0.01 * moved);
    }
}

}  // namespace

TEST_CASE("an agent on a device learns what it learns on the host", "[agents][control][cuda]") {
  check_agents(test::fenced_rollouts());
}

TEST_CASE("an agent on a GPU learns what it learns on the host", "[agents][control][cuda][gpu]") {
  check_agents(test::gpu());
}

TEST_CASE("policies that share layers, compute by the reference or repel one another by behaviour learn on the host",
          "[agents][control][cuda]") {
  const Device device = test::fenced_rollouts();
  const auto environment = envs::controls().at("CartPole-v1").builder();
  const auto agent_with = [&](const std::vector<std::pair<std::string, std::string>>& settings) {
    ControlAgentOptions options = small(Learner::a2c, PolicyPosterior::svgd, true);
    for (const auto& setting : settings) test::set(options, {setting});
    return ControlAgent(options, *environment, 4, device);
  };
  CHECK(agent_with({}).policy().device() == device);
  CHECK(agent_with({{"shared_layers", "1"}}).policy().device() == Device{});
  CHECK(agent_with({{"share_rollouts", "true"}, {"kernel_sees", "behaviour"}}).policy().device() == Device{});
}

TEST_CASE("an agent goes on where it was saved, on the same device and on another", "[agents][control][cuda]") {
  const Device device = test::fenced_rollouts();
  const auto environment = envs::controls().at("CartPole-v1").builder();  // choices: the same on all devices
  const ControlAgentOptions options = small(Learner::a2c, PolicyPosterior::svgd, true);
  for (const Device from : {Device{}, device}) {
    ControlAgent first(options, *environment, 4, from), there(options, *environment, 4, device),
        host(options, *environment, 4);
    first.iterate();
    Snapshot saved;
    first.save(saved);
    there.restore(saved), host.restore(saved);
    for (int k = 0; k < 2; ++k) first.iterate(), there.iterate(), host.iterate();
    CHECK(distance(first, from == device ? there : host) == 0);
    CHECK(distance(there, host) < 1e-4);
  }
}
