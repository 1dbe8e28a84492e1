#include <fmt/format.h>
#include <stein/envs/fused/classic_steps.h>
#include <stein/envs/rllab_cart_pole.h>

namespace stein::envs {
namespace {

const bool registered = register_control<RllabCartPole>("cartpole", "balance a pole with a continuous force (rllab)",
                                                        fused_step_slots<RllabCartPole>);

}  // namespace

ControlSpec RllabCartPole::spec() const {
  const std::vector<Quantity> quantities = CartPoleBody::quantities();
  return {.name = "cartpole",
          .source = "Duan et al. 2016, rllab's Cartpole; resets put cart and pole at one place",
          .state = quantities,
          .observation = quantities,
          .action = {{.name = "force",
                      .low = -CartPoleBody::largest_force,
                      .high = CartPoleBody::largest_force,
                      .unit = "N"}},
          .horizon = 500,
          .step_seconds = CartPoleBody::dt,
          .reward_low = 0,
          .reward_high = 10,
          .ends = fmt::format("|cart position| > {} m or |pole angle| > {} rad", largest_position, largest_angle)};
}

}  // namespace stein::envs
