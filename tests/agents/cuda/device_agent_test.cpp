// Agents whose rollouts are on a device, against those whose rollouts are on the host.
#include <stein/agents/control/control_agent.h>

#include <catch2/catch.hpp>
#include <cmath>

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
  test::set(options, {{"hidden", "8"}, {"slots", "5"}, {"steps_per_slot", "20"}});
  if (posterior != PolicyPosterior::none) test::set(options, {{"particles", "3"}});
  return options;
}

/// The largest distance between the coordinates of two agents' particles.
double distance(const ControlAgent& a, const ControlAgent& b) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.policy().particle_count(); ++i)
    for (std::int64_t q = 0; q < a.policy().particles().layout().size(); ++q)
      largest = std::max(largest, std::abs(double{a.policy().particles().values()(i, q)} -
                                           double{b.policy().particles().values()(i, q)}));
  return largest;
}

/// Choices are the same on both unless outputs differ in their last bits just where a draw falls, with a probability of
/// about 1e-7 a row; numbers differ in their last bits.
void check_agents(Device device) {
  for (const Learner learner : {Learner::reinforce, Learner::a2c, Learner::ppo})
    for (const PolicyPosterior posterior : {PolicyPosterior::none, PolicyPosterior::svgd})
      for (const std::string name : {"CartPole-v1", "cartpole"}) {
        CAPTURE(static_cast<int>(learner), static_cast<int>(posterior), name);
        const auto environment = envs::controls().at(name).builder();
        const bool discrete = environment->spec().discrete();
        const ControlAgentOptions options = small(learner, posterior, discrete);
        ControlAgent found(options, *environment, 4, device), expected(options, *environment, 4),
            start(options, *environment, 4);
        for (int k = 0; k < (discrete ? 3 : 1); ++k) {
          const IterationReport on_device = found.iterate(), on_host = expected.iterate();
          CHECK(on_device.steps == on_host.steps);
          CHECK(on_device.episodes.size() == on_host.episodes.size());
        }
        const double moved = distance(expected, start);
        CHECK(moved > 1e-4);
        CHECK(distance(found, expected) <= (discrete ? 0 : 0.01 * moved));
      }
}

}  // namespace

TEST_CASE("an agent with rollouts on a device learns what it learns on the host", "[agents][control][cuda]") {
  check_agents(test::fenced_rollouts());
}

TEST_CASE("an agent with rollouts on a GPU learns what it learns on the host", "[agents][control][cuda][gpu]") {
  check_agents(test::gpu());
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
    CHECK(distance(first, there) == 0);
    CHECK(distance(first, host) == 0);
  }
}
