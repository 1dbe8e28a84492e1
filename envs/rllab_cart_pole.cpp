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

void RllabCartPole::reset(Draws& draws, double (&state)[state_size]) const {
  constexpr double spread[state_size] = {0.12, 0.2, 0.01, 0.2};
  for (int k = 0; k < state_size; ++k) state[k] = draws.uniform(-spread[k], spread[k]);
}

}  // namespace stein::envs
