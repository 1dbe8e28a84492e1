#include <fmt/format.h>
#include <stein/envs/classic_environment.h>
#include <stein/envs/sparse_cart_pole_swing_up.h>

namespace stein::envs {
namespace {

const bool registered = register_control<SparseCartPoleSwingUp>(
    "cartpole-swingup-sparse", "swing a pole up where only being up pays and every push costs (after bsuite)");

}  // namespace

ControlSpec SparseCartPoleSwingUp::spec() const {
  return {.name = "cartpole-swingup-sparse",
          .source = "Osband et al. 2020, bsuite's Cartpole Swingup; without time in the observation",
          .state = {{.name = "cart position", .unit = "m"},
                    {.name = "cart velocity", .unit = "m/s"},
                    {.name = "pole angle", .unit = "rad"},
                    {.name = "pole angular velocity", .unit = "rad/s"}},
          .observation = {{.name = "cart position", .unit = "3 m"},
                          {.name = "cart velocity", .unit = "3 m/s"},
                          {.name = "sine of the pole angle", .low = -1, .high = 1},
                          {.name = "cosine of the pole angle", .low = -1, .high = 1},
                          {.name = "pole angular velocity", .unit = "rad/s"}},
          .choices = 3,
          .action = {{.name = "left, nothing or right", .low = 0, .high = 2}},
          .horizon = 1000,
          .step_seconds = dt,
          .reward_low = -move_cost_,
          .reward_high = 1,
          .ends = fmt::format("|cart position| > {} m", largest_position)};
}

}  // namespace stein::envs
