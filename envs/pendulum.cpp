#include <stein/envs/fused/classic_steps.h>
#include <stein/envs/pendulum.h>

namespace stein::envs {
namespace {

const bool registered = register_control<Pendulum>(
    "Pendulum-v1", "swing a pendulum up with too weak a motor (Gymnasium)", fused_step_slots<Pendulum>);

}  // namespace

ControlSpec Pendulum::spec() const {
  constexpr double pi = 3.14159265358979323846;
  const double worst = pi * pi + 0.1 * largest_speed * largest_speed + 0.001 * largest_torque * largest_torque;
  return {.name = "Pendulum-v1",
          .source = "Gymnasium's Pendulum-v1",
          .state = {{.name = "angle", .unit = "rad"},
                    {.name = "angular velocity", .low = -largest_speed, .high = largest_speed, .unit = "rad/s"}},
          .observation = {{.name = "cos angle", .low = -1, .high = 1},
                          {.name = "sin angle", .low = -1, .high = 1},
                          {.name = "angular velocity", .low = -largest_speed, .high = largest_speed, .unit = "rad/s"}},
          .action = {{.name = "torque", .low = -largest_torque, .high = largest_torque, .unit = "N m"}},
          .horizon = 200,
          .step_seconds = dt,
          .reward_low = -worst,
          .reward_high = 0};
}

}  // namespace stein::envs
