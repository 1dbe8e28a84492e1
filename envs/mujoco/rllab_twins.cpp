// The tasks of rllab a second time, moved by MuJoCo: an independent integrator for the ones written out in formulas.
#include <stein/envs/cart_pole_swing_up.h>
#include <stein/envs/double_pendulum.h>
#include <stein/envs/mujoco/model_texts.h>
#include <stein/envs/mujoco/mujoco_environment.h>
#include <stein/envs/rllab_cart_pole.h>

namespace stein::envs {
namespace {

/// Between MuJoCo's coordinates x, θ and the state [x, ẋ, θ, θ̇] of `CartPoleBody`.
struct CartPoleCoordinates {
  static std::string_view model() { return model_texts::rllab_cart_pole; }
  static void read(const MujocoView& physics, std::span<double> state) {
    for (std::size_t k = 0; k < 2; ++k) {
      state[2 * k] = physics.positions[k];
      state[2 * k + 1] = physics.velocities[k];
    }
  }
  static void write(std::span<const double> state, const MujocoView& physics) {
    for (std::size_t k = 0; k < 2; ++k) {
      physics.positions[k] = state[2 * k];
      physics.velocities[k] = state[2 * k + 1];
    }
  }
  static void limit(const MujocoView&) {}
};

/// Between MuJoCo's angles, of which the second is relative to the first link, and the state [θ₁, θ̇₁, θ₂, θ̇₂] of
/// `DoublePendulum`.
struct DoublePendulumCoordinates {
  static std::string_view model() { return model_texts::rllab_double_pendulum; }
  static void read(const MujocoView& physics, std::span<double> state) {
    CartPoleCoordinates::read(physics, state);
    state[2] += state[0];
    state[3] += state[1];
  }
  static void write(std::span<const double> state, const MujocoView& physics) {
    const double relative[4] = {state[0], state[1], state[2] - state[0], state[3] - state[1]};
    CartPoleCoordinates::write(relative, physics);
  }
  /// The limit of the links' speeds, here once a step.
  static void limit(const MujocoView& physics) {
    constexpr double fastest = DoublePendulum::largest_speed;
    const double inner = physics.velocities[0], outer = inner + physics.velocities[1];
    if (std::abs(inner) <= fastest && std::abs(outer) <= fastest) return;
    physics.velocities[0] = limited(inner, fastest);
    physics.velocities[1] = limited(outer, fastest) - physics.velocities[0];
  }
};

/// `Task` with MuJoCo in place of its own steps; states, observations, starts, rewards and ends are those of `Task`.
template <class Task, class Coordinates>
class Twin final : public MujocoTask {
 public:
  using Options = typename Task::Options;

  explicit Twin(const Options& options) : task_(options) {}
  ControlSpec spec() const override {
    ControlSpec spec = task_.spec();
    spec.name += "-mujoco";
    spec.source += "; fourth-order Runge-Kutta";
    return spec;
  }
  std::string_view model() const override { return Coordinates::model(); }

  void begin(Draws& draws, const MujocoView& physics) const override {
    double state[Task::state_size];
    task_.reset(draws, state);
    Coordinates::write(state, physics);
  }
  void limit(const MujocoView& physics) const override { Coordinates::limit(physics); }
  Outcome<double> outcome(const MujocoView& physics, std::span<const float> action) const override {
    double state[Task::state_size];
    Coordinates::read(physics, state);
    return task_.template outcome<double>(state, {action[0]});
  }
  void observe(const MujocoView& physics, std::span<float> observation) const override {
    double state[Task::state_size], seen[Task::observation_size];
    Coordinates::read(physics, state);
    task_.template observe<double>(state, seen);
    std::ranges::transform(seen, observation.begin(), [](double value) { return static_cast<float>(value); });
  }
  void read_state(const MujocoView& physics, std::span<double> state) const override {
    Coordinates::read(physics, state);
  }
  void write_state(std::span<const double> state, const MujocoView& physics) const override {
    Coordinates::write(state, physics);
  }

 private:
  Task task_;
};

const bool registered =
    register_mujoco<Twin<RllabCartPole, CartPoleCoordinates>>("cartpole-mujoco", "cartpole, moved by MuJoCo") &&
    register_mujoco<Twin<CartPoleSwingUp, CartPoleCoordinates>>("cartpole-swingup-mujoco",
                                                                "cartpole-swingup, moved by MuJoCo") &&
    register_mujoco<Twin<DoublePendulum, DoublePendulumCoordinates>>("double-pendulum-mujoco",
                                                                     "double-pendulum, moved by MuJoCo");

}  // namespace
}  // namespace stein::envs
