// InvertedDoublePendulum-v5 of Gymnasium; single steps checked in tests/envs/mujoco_dynamics_test.cpp.
#include <fmt/format.h>
#include <stein/envs/mujoco/model_texts.h>
#include <stein/envs/mujoco/mujoco_environment.h>

#include <cmath>
#include <limits>

namespace stein::envs {
namespace {

/// Keep two poles on a cart up. Reward 10 − 0.01 x² − (y − 2)² − 0.001 ω₁² − 0.005 ω₂² with the tip at (x, y), without
/// the 10 where y ≤ 1, which ends it. The tip is where MuJoCo's last step computed it, as in Gymnasium: at the last
/// stage of that step.
class InvertedDoublePendulum final : public MujocoTask {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr double least_height = 1, start_spread = 0.1, pole = 0.6, largest_seen = 10;

  explicit InvertedDoublePendulum(const Options&) {}
  ControlSpec spec() const override {
    return {.name = "InvertedDoublePendulum",
            .source = "InvertedDoublePendulum-v5 of Gymnasium 1.2.3",
            .state = {{.name = "cart position", .unit = "m"},
                      {.name = "lower pole angle", .unit = "rad"},
                      {.name = "upper pole angle", .unit = "rad"},
                      {.name = "cart velocity", .unit = "m/s"},
                      {.name = "lower pole angular velocity", .unit = "rad/s"},
                      {.name = "upper pole angular velocity", .unit = "rad/s"}},
            .observation = {{.name = "cart position", .unit = "m"},
                            {.name = "sin lower pole angle", .low = -1, .high = 1},
                            {.name = "sin upper pole angle", .low = -1, .high = 1},
                            {.name = "cos lower pole angle", .low = -1, .high = 1},
                            {.name = "cos upper pole angle", .low = -1, .high = 1},
                            seen("cart velocity", "m/s"),
                            seen("lower pole angular velocity", "rad/s"),
                            seen("upper pole angular velocity", "rad/s"),
                            seen("force of the rail's ends", "N")},
            .action = {{.name = "push", .unit = "500 N"}},
            .horizon = 1000,
            .step_seconds = 0.05,
            .reward_low = -std::numeric_limits<double>::infinity(),
            .reward_high = 10 - (2 - 2 * pole) * (2 - 2 * pole),
            .threshold = 9100,
            .ends = fmt::format("the tip is {} m high or less", least_height)};
  }
  std::string_view model() const override { return model_texts::inverted_double_pendulum; }
  std::string_view site() const override { return "tip"; }

  void begin(Draws& draws, const MujocoView& physics) const override {
    for (double& number : physics.positions) number += draws.uniform(-start_spread, start_spread);
    for (double& number : physics.velocities) number += start_spread * draws.normal();
  }
  Outcome<double> outcome(const MujocoView& physics, std::span<const float>) const override {
    const double x = physics.site_positions[0], y = physics.site_positions[2];
    const double lower = physics.velocities[1], upper = physics.velocities[2];
    const bool fallen = y <= least_height;
    const double distance = 0.01 * x * x + (y - 2) * (y - 2), speed = 1e-3 * lower * lower + 5e-3 * upper * upper;
    return {.reward = (fallen ? 0 : 10) - distance - speed, .terminated = fallen ? 1.0 : 0.0};
  }
  void observe(const MujocoView& physics, std::span<float> observation) const override {
    const auto within = [](double value) { return static_cast<float>(std::clamp(value, -largest_seen, largest_seen)); };
    observation[0] = static_cast<float>(physics.positions[0]);
    for (std::size_t k = 0; k < 2; ++k) {
      observation[1 + k] = static_cast<float>(std::sin(physics.positions[1 + k]));
      observation[3 + k] = static_cast<float>(std::cos(physics.positions[1 + k]));
    }
    for (std::size_t k = 0; k < 3; ++k) observation[5 + k] = within(physics.velocities[k]);
    observation[8] = within(physics.constraint_forces[0]);
  }

 private:
  static Quantity seen(std::string name, std::string unit) {
    return {.name = std::move(name), .low = -largest_seen, .high = largest_seen, .unit = std::move(unit)};
  }
};

const bool registered =
    register_mujoco<InvertedDoublePendulum>("InvertedDoublePendulum", "keep two poles on a cart up (MuJoCo)");

}  // namespace
}  // namespace stein::envs
