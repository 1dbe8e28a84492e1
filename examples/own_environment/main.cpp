// A control task of one's own: data, one step function and a line that registers it. The rest (many slots, episodes,
// resets, options, threads, snapshots) comes with it; here 64 slots take random actions.
#include <stein/envs/classic_environment.h>

#include <cmath>
#include <cstdio>

using namespace stein;
using namespace stein::envs;

namespace {

/// A sled of 1 kg on ice, pushed along a line by up to 1 N, is to rest at the origin. State and observation [x, v];
/// speed first, then position, by steps of 0.1 s. Reward −x² − 0.1 v² after the step; it ends where |x| > 3.
class Sled {
 public:
  struct Options {
    double friction = 0;
    template <class V>
    void describe(V& v) {
      v("friction", friction, "slows the sled down in proportion to its speed", non_negative, "N s/m");
    }
  };
  static constexpr int state_size = 2, observation_size = 2, action_size = 1;
  static constexpr double dt = 0.1, largest_force = 1, largest_position = 3;

  explicit Sled(const Options& options) : friction_(options.friction) {}

  ControlSpec spec() const {
    const std::vector<Quantity> quantities{{.name = "position", .unit = "m"},
                                           {.name = "velocity", .low = -10, .high = 10, .unit = "m/s"}};
    return {.name = "sled",
            .source = "an example",
            .state = quantities,
            .observation = quantities,
            .action = {{.name = "force", .low = -largest_force, .high = largest_force, .unit = "N"}},
            .horizon = 200,
            .step_seconds = dt,
            .reward_low = -30,
            .reward_high = 0};
  }
  void reset(Draws& draws, double (&state)[state_size]) const {
    state[0] = draws.uniform(-1, 1);
    state[1] = 0;
  }
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> step(Real (&state)[state_size],
                                                           const Real (&action)[action_size]) const {
    constexpr auto h = static_cast<Real>(dt);
    const Real force = limited(action[0], static_cast<Real>(largest_force)) - static_cast<Real>(friction_) * state[1];
    state[1] = limited(state[1] + h * force, Real(10));
    state[0] += h * state[1];
    const bool out = std::abs(state[0]) > static_cast<Real>(largest_position);
    return {.reward = -state[0] * state[0] - Real(0.1) * state[1] * state[1], .terminated = out ? Real(1) : Real(0)};
  }
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void observe(const Real (&state)[state_size],
                                                     Real (&observation)[observation_size]) const {
    for (int k = 0; k < 2; ++k) observation[k] = state[k];
  }

 private:
  double friction_;
};

const bool registered = register_control<Sled>("sled", "bring a sled on ice to rest at the origin");

}  // namespace

int main() {
  const auto builder = controls().at("sled").builder();
  OptionTable options;
  builder->describe(options);
  options.set("friction", "0.1");

  // One step in double, to compare with one's own: v = 0.1 · (1 − 0.1 · 0.5) + 0.5 = 0.595, x = 0.1 v + 1 = 1.0595.
  const auto single = builder->make_single();
  single->set_state(std::vector<double>{1, 0.5});
  single->step(std::vector<double>{1});
  std::printf("from (1, 0.5) under 1 N to (%.4f, %.3f)\n", single->state()[0], single->state()[1]);

  constexpr std::int64_t slots = 64, steps = 2000;
  const auto environment = builder->make(slots);
  environment->reset(1);
  std::vector<float> actions(slots);
  double episodes = 0, length = 0, total_reward = 0, left = 0;
  for (std::int64_t t = 0; t < steps; ++t) {
    Draws draws({.seed = 1, .step = static_cast<std::uint64_t>(t), .stream = Stream::decision}, 0);
    for (float& action : actions) action = static_cast<float>(draws.uniform(-1, 1));
    environment->step(actions);
    for (const Episode& episode : environment->episodes()) {
      ++episodes;
      length += static_cast<double>(episode.length);
      total_reward += episode.total_reward;
      left += episode.terminated;
    }
  }
  std::printf("%.0f episodes of random pushes: mean length %.1f, mean return %.1f, %.0f %% ended beyond 3 m\n",
              episodes, length / episodes, total_reward / episodes, 100 * left / episodes);
  return std::abs(single->state()[0] - 1.0595) < 1e-12 && episodes > 0 ? 0 : 1;
}
