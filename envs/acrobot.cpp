#include <stein/envs/acrobot.h>
#include <stein/envs/fused/classic_steps.h>

namespace stein::envs {
namespace {

const bool registered = register_control<Acrobot>(
    "Acrobot-v1", "swing two links above a height by a motor between them (Gymnasium)", fused_step_slots<Acrobot>);

}  // namespace

ControlSpec Acrobot::spec() const {
  return {
      .name = "Acrobot-v1",
      .source = "Sutton 1996, with the equations of Sutton & Barto 1998, as in Gymnasium's Acrobot-v1",
      .state = {{.name = "angle 1", .low = -pi, .high = pi, .unit = "rad"},
                {.name = "angle 2", .low = -pi, .high = pi, .unit = "rad"},
                {.name = "angular velocity 1", .low = -largest_speeds[0], .high = largest_speeds[0], .unit = "rad/s"},
                {.name = "angular velocity 2", .low = -largest_speeds[1], .high = largest_speeds[1], .unit = "rad/s"}},
      .observation =
          {{.name = "cos angle 1", .low = -1, .high = 1},
           {.name = "sin angle 1", .low = -1, .high = 1},
           {.name = "cos angle 2", .low = -1, .high = 1},
           {.name = "sin angle 2", .low = -1, .high = 1},
           {.name = "angular velocity 1", .low = -largest_speeds[0], .high = largest_speeds[0], .unit = "rad/s"},
           {.name = "angular velocity 2", .low = -largest_speeds[1], .high = largest_speeds[1], .unit = "rad/s"}},
      .choices = 3,
      .action = {{.name = "torque", .low = 0, .high = 2, .unit = "-1, 0, 1 N m"}},
      .horizon = 500,
      .step_seconds = dt,
      .reward_low = -1,
      .reward_high = 0,
      .threshold = -100,
      .ends = "the tip is more than 1 m above the pivot"};
}

}  // namespace stein::envs
