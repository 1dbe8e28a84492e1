// InvertedPendulum-v5 of Gymnasium; single steps checked in tests/envs/mujoco_dynamics_test.cpp.
#include <fmt/format.h>
#include <stein/envs/mujoco/model_texts.h>
#include <stein/envs/mujoco/mujoco_environment.h>

#include <cmath>

namespace stein::envs {
namespace {

/// Keep a pole on a cart up: reward 1 while |θ| ≤ 0.2, which a step beyond ends without it.
class InvertedPendulum final : public MujocoTask {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr double largest_angle = 0.2, start_spread = 0.01;

  explicit InvertedPendulum(const Options&) {}
  ControlSpec spec() const override {
    const std::vector<Quantity> quantities = {{.name = "cart position", .unit = "m"},
                                              {.name = "pole angle", .unit = "rad"},
                                              {.name = "cart velocity", .unit = "m/s"},
                                              {.name = "pole angular velocity", .unit = "rad/s"}};
    return {.name = "InvertedPendulum",
            .source = "InvertedPendulum-v5 of Gymnasium 1.2.3",
            .state = quantities,
            .observation = quantities,
            .action = {{.name = "push", .unit = "100 N"}},
            .horizon = 1000,
            .step_seconds = 0.04,
            .reward_low = 0,
            .reward_high = 1,
            .threshold = 950,
            .ends = fmt::format("|pole angle| > {} rad", largest_angle)};
  }
  std::string_view model() const override { return model_texts::inverted_pendulum; }

  void begin(Draws& draws, const MujocoView& physics) const override {
    for (double& number : physics.positions) number += draws.uniform(-start_spread, start_spread);
    for (double& number : physics.velocities) number += draws.uniform(-start_spread, start_spread);
  }
  Outcome<double> outcome(const MujocoView& physics, std::span<const float>) const override {
    const bool fallen = std::abs(physics.positions[1]) > largest_angle;
    return {.reward = fallen ? 0.0 : 1.0, .terminated = fallen ? 1.0 : 0.0};
  }
  void observe(const MujocoView& physics, std::span<float> observation) const override {
    for (std::size_t k = 0; k < 2; ++k) {
      observation[k] = static_cast<float>(physics.positions[k]);
      observation[2 + k] = static_cast<float>(physics.velocities[k]);
    }
  }
};

const bool registered = register_mujoco<InvertedPendulum>("InvertedPendulum", "keep a pole on a cart up (MuJoCo)");

}  // namespace
}  // namespace stein::envs
