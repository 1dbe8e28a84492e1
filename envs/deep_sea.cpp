#include <fmt/format.h>
#include <stein/envs/classic_environment.h>
#include <stein/envs/deep_sea.h>

namespace stein::envs {
namespace {

const bool registered =
    register_control<DeepSea>("deep-sea", "dive to a treasure that only one path leads to (after bsuite)");

}  // namespace

ControlSpec DeepSea::spec() const {
  return {.name = "deep-sea",
          .source = "Osband et al. 2020, bsuite's Deep Sea; the place as two numbers, actions not mixed",
          .state = {{.name = "row", .low = 0, .high = size_}, {.name = "column", .low = 0, .high = size_ - 1}},
          .observation = {{.name = "row", .low = 0, .high = 1, .unit = "size"},
                          {.name = "column", .low = 0, .high = 1, .unit = "size"}},
          .choices = 2,
          .action = {{.name = "left or right", .low = 0, .high = 1}},
          .horizon = 10'000,  // of the deepest
          .step_seconds = 0.1,
          .reward_low = -move_cost_ / size_,
          .reward_high = 1,
          .threshold = 0.5,
          .ends = fmt::format("at the ground, after {} steps", size_),
          .timed = false};
}

}  // namespace stein::envs
