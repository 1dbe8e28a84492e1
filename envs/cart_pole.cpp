#include <fmt/format.h>
#include <stein/envs/cart_pole.h>
#include <stein/envs/fused/classic_steps.h>

namespace stein::envs {
namespace {

const bool registered = register_control<CartPole>(
    "CartPole-v1", "balance a pole by pushing its cart left or right (Gymnasium)", fused_step_slots<CartPole>);

}  // namespace

ControlSpec CartPole::spec() const {
  const std::vector<Quantity> quantities{{.name = "cart position", .unit = "m"},
                                         {.name = "cart velocity", .unit = "m/s"},
                                         {.name = "pole angle", .unit = "rad"},
                                         {.name = "pole angular velocity", .unit = "rad/s"}};
  return {.name = "CartPole-v1",
          .source = "Barto, Sutton & Anderson 1983, as in Gymnasium's CartPole-v1",
          .state = quantities,
          .observation = quantities,
          .choices = 2,
          .action = {{.name = "push", .low = 0, .high = 1, .unit = "0 left, 1 right"}},
          .horizon = 500,
          .step_seconds = dt,
          .reward_low = 1,
          .reward_high = 1,
          .threshold = 475,
          .ends = fmt::format("|cart position| > {} m or |pole angle| > {:.4g} rad", largest_position, largest_angle)};
}

}  // namespace stein::envs
