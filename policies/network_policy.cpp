#include <stein/core/rng.h>
#include <stein/policies/network_policy.h>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<NetworkPolicy>(
    "epsilon-greedy", "one neural network, and a uniform arm with probability epsilon",
    plain_network_defaults<NetworkPolicy::Options>("optimizer"));

}  // namespace

NetworkPolicy::NetworkPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                             inference::Device device)
    : NeuralPolicy(checked(options), spec, seed, 1, 1, device), epsilon_(options.epsilon) {}

Decision NetworkPolicy::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
  auto [place, drawn] = choose(context, {.draw = Draw::mean}, draws, wanted);
  if (epsilon_ > 0) {
    const std::int64_t choices = context.choices(spec_);
    drawn = true;
    for (double& share : propensities_) share = (1 - epsilon_) * share + epsilon_ / static_cast<double>(choices);
    if (draws.uniform() < epsilon_) place = draws.integer(static_cast<std::uint32_t>(choices));
  }
  return {.action = context.arm(place), .propensities = propensities_, .deterministic = !drawn};
}

}  // namespace stein::policies
