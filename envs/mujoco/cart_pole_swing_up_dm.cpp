// The cartpole swing-up of dm_control (Tassa et al. 2018); single steps checked in tests/envs/mujoco_dynamics_test.cpp.
#include <stein/envs/mujoco/model_texts.h>
#include <stein/envs/mujoco/mujoco_environment.h>

#include <cmath>

namespace stein::envs {
namespace {

/// Swing a pole up and keep it there: reward
///   (1 + cos θ)/2 · (4 + c)/5 · (1 + v)/2 · (1 + p)/2,   c = max(0, 1 − a²),   v = 10^{−(ω/5)²},   p = 10^{−(x/2)²}
/// of the state after the step and the action as it was given, even where the model limits it. It never ends by itself.
class CartPoleSwingUpDm final : public MujocoTask {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr double start_spread = 0.01, speed_margin = 5, position_margin = 2;

  explicit CartPoleSwingUpDm(const Options&) {}
  ControlSpec spec() const override {
    return {.name = "cartpole-swingup-dm",
            .source = "cartpole swingup of dm_control 1.0.43 (Tassa et al. 2018)",
            .state = {{.name = "cart position", .unit = "m"},
                      {.name = "pole angle", .unit = "rad"},
                      {.name = "cart velocity", .unit = "m/s"},
                      {.name = "pole angular velocity", .unit = "rad/s"}},
            .observation = {{.name = "cart position", .unit = "m"},
                            {.name = "cos pole angle", .low = -1, .high = 1},
                            {.name = "sin pole angle", .low = -1, .high = 1},
                            {.name = "cart velocity", .unit = "m/s"},
                            {.name = "pole angular velocity", .unit = "rad/s"}},
            .action = {{.name = "push", .unit = "10 N"}},
            .horizon = 1000,
            .step_seconds = 0.01,
            .reward_low = 0,
            .reward_high = 1};
  }
  std::string_view model() const override { return model_texts::cart_pole_swing_up_dm; }

  void begin(Draws& draws, const MujocoView& physics) const override {
    constexpr double pi = 3.14159265358979323846;
    physics.positions[0] = start_spread * draws.normal();
    physics.positions[1] = pi + start_spread * draws.normal();
    for (double& number : physics.velocities) number = start_spread * draws.normal();
  }
  Outcome<double> outcome(const MujocoView& physics, std::span<const float> action) const override {
    const double upright = (1 + std::cos(physics.positions[1])) / 2;
    const double small_control = std::max(0.0, 1 - double{action[0]} * action[0]);
    const double small_velocity = near_zero(physics.velocities[1] / speed_margin);
    const double centered = near_zero(physics.positions[0] / position_margin);
    return {.reward = upright * (4 + small_control) / 5 * (1 + small_velocity) / 2 * (1 + centered) / 2,
            .terminated = 0};
  }
  void observe(const MujocoView& physics, std::span<float> observation) const override {
    observation[0] = static_cast<float>(physics.positions[0]);
    observation[1] = static_cast<float>(std::cos(physics.positions[1]));
    observation[2] = static_cast<float>(std::sin(physics.positions[1]));
    observation[3] = static_cast<float>(physics.velocities[0]);
    observation[4] = static_cast<float>(physics.velocities[1]);
  }

 private:
  /// 1 at 0, a tenth at ±1.
  static double near_zero(double value) { return std::pow(10.0, -value * value); }
};

const bool registered = register_mujoco<CartPoleSwingUpDm>(
    "cartpole-swingup-dm", "swing a pole up and keep it there, as in dm_control (MuJoCo)");

}  // namespace
}  // namespace stein::envs
