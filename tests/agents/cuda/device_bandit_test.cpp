// A bandit agent whose networks lie on a device, against one whose networks are on the host.
#include <stein/agents/bandits/bandit_agent.h>

#include <catch2/catch.hpp>

#include "inference/cuda/networks_on_host.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::agents;
using inference::Device;

namespace {

BanditAgent agent_on(Device device, std::int64_t learn_every = 1) {
  auto environment = envs::bandits().at("mushroom-synthetic").builder()->make({});
  const auto builder = policies::bandit_policies().at("svgd").builder();
  auto policy = builder->make(environment->spec(), 3, device);
  return {{.learn_every = learn_every, .forced_pulls = 3}, 3, std::move(environment), std::move(policy)};
}

/// Choices are the same unless predictions differ in their last bits just where two arms are level.
void check_steps(BanditAgent& there, BanditAgent& host, int steps) {
  for (int step = 0; step < steps; ++step) {
    const Interaction found = there.step(), expected = host.step();
    REQUIRE(found.action == expected.action);
    REQUIRE(found.reward == expected.reward);
  }
}

/// What was learned shows in the posterior of the probes.
void check_posteriors(BanditAgent& there, BanditAgent& host) {
  for (const auto& probe : host.environment().probes()) {
    const auto found = there.policy().posterior_rewards(probe.context()),
               expected = host.policy().posterior_rewards(probe.context());
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t arm = 0; arm < found[i].size(); ++arm)
        CHECK(found[i][arm] == Approx(expected[i][arm]).margin(0.05));
  }
}

void check_agent(Device device) {
  BanditAgent there = agent_on(device), host = agent_on({});
  check_steps(there, host, 30);
  check_posteriors(there, host);
}

}  // namespace

TEST_CASE("a bandit agent on a device makes the steps that it makes on the host", "[agents][cuda]") {
  check_agent(test::fenced_networks());
}

TEST_CASE("a bandit agent on a GPU makes the steps that it makes on the host", "[agents][cuda][gpu]") {
  check_agent(test::gpu());
}

TEST_CASE("a bandit agent asks its device once about all contexts that it decides before it learns", "[agents][cuda]") {
  BanditAgent there = agent_on(test::fenced_networks(), 10), host = agent_on({}, 10);
  for (int step = 0; step < 60; ++step) {
    const std::int64_t before = test::fenced_waits();
    check_steps(there, host, 1);
    CAPTURE(step);
    if (step % 10 == 0) CHECK(test::fenced_waits() > before);                   // it asks
    if (step % 10 > 0 && step % 10 < 9) CHECK(test::fenced_waits() == before);  // it knows
  }
  // A run goes on from the middle of what was seen.
  for (int step = 0; step < 4; ++step) there.step();
  Snapshot saved;
  there.save(saved);
  BanditAgent next = agent_on(test::fenced_networks(), 10);
  next.restore(saved);
  check_steps(next, there, 30);
}

TEST_CASE("a bandit agent goes on on another device than it was saved on", "[agents][cuda]") {
  const Device device = test::fenced_networks();
  for (const Device from : {Device{}, device}) {
    BanditAgent first = agent_on(from), there = agent_on(device), host = agent_on({});
    for (int step = 0; step < 20; ++step) first.step();
    Snapshot saved;
    first.save(saved);
    there.restore(saved), host.restore(saved);
    check_steps(there, host, 10);
    check_posteriors(there, host);
  }
}
