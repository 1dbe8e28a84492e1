#include <stein/envs/double_pendulum.h>
#include <stein/envs/fused/classic_steps.h>

#include <cmath>

namespace stein::envs {
namespace {

const bool registered =
    register_control<DoublePendulum>("double-pendulum", "bring the tip of two links up by a motor at the elbow (rllab)",
                                     fused_step_slots<DoublePendulum>);

}  // namespace

ControlSpec DoublePendulum::spec() const {
  const double reach = side_ > 0 ? 4 * length : std::hypot(2 * length, 4 * length);
  return {.name = "double-pendulum",
          .source = side_ > 0 ? "Duan et al. 2016, rllab's Double Pendulum, reward from where the tip is"
                              : "Duan et al. 2016, rllab's Double Pendulum, reward as its code has it",
          .state = {{.name = "angle 1", .unit = "rad"},
                    {.name = "angular velocity 1", .unit = "rad/s"},
                    {.name = "angle 2", .unit = "rad"},
                    {.name = "angular velocity 2", .unit = "rad/s"}},
          .observation = {{.name = "sin angle 1", .low = -1, .high = 1},
                          {.name = "cos angle 1", .low = -1, .high = 1},
                          {.name = "angular velocity 1", .unit = "rad/s"},
                          {.name = "sin angle 2", .low = -1, .high = 1},
                          {.name = "cos angle 2", .low = -1, .high = 1},
                          {.name = "angular velocity 2", .unit = "rad/s"}},
          .action = {{.name = "torque", .low = -largest_torque, .high = largest_torque, .unit = "N m"}},
          .horizon = 500,
          .step_seconds = substeps * dt,
          .reward_low = -reach,
          .reward_high = 0};
}

}  // namespace stein::envs
