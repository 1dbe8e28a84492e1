#include <fmt/format.h>
#include <stein/envs/cart_pole_swing_up.h>
#include <stein/envs/fused/classic_steps.h>

namespace stein::envs {
namespace {

const bool registered = register_control<CartPoleSwingUp>(
    "cartpole-swingup", "swing a pole up with a continuous force on its cart, and keep it there (rllab)",
    fused_step_slots<CartPoleSwingUp>);

}  // namespace

ControlSpec CartPoleSwingUp::spec() const {
  const std::vector<Quantity> quantities = CartPoleBody::quantities();
  return {.name = "cartpole-swingup",
          .source = "Duan et al. 2016, rllab's Cartpole Swing-Up; resets put cart and pole at one place",
          .state = quantities,
          .observation = quantities,
          .action = {{.name = "force",
                      .low = -CartPoleBody::largest_force,
                      .high = CartPoleBody::largest_force,
                      .unit = "N"}},
          .horizon = 500,
          .step_seconds = CartPoleBody::dt,
          .reward_low = -100,
          .reward_high = 1,
          .ends = fmt::format("|cart position| > {} m", largest_position)};
}

}  // namespace stein::envs
