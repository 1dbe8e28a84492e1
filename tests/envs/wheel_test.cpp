#include <stein/envs/wheel.h>

#include <catch2/catch.hpp>
#include <cmath>

namespace stein::envs {
namespace {

TEST_CASE("outside the radius the arm of the context's quadrant pays 50, inside none does", "[envs][wheel]") {
  using Means = std::array<double, 5>;
  CHECK(Wheel::mean_rewards(0.6, 0.6, 0.5) == Means{50, 1, 1, 1, 1.2});
  CHECK(Wheel::mean_rewards(0.6, -0.6, 0.5) == Means{1, 50, 1, 1, 1.2});
  CHECK(Wheel::mean_rewards(-0.6, 0.6, 0.5) == Means{1, 1, 50, 1, 1.2});
  CHECK(Wheel::mean_rewards(-0.6, -0.6, 0.5) == Means{1, 1, 1, 50, 1.2});
  for (const double x : {-0.3, 0.3})
    for (const double y : {-0.3, 0.3}) CHECK(Wheel::mean_rewards(x, y, 0.5) == Means{1, 1, 1, 1, 1.2});
  CHECK(Wheel::mean_rewards(0.3, 0.4, 0.5) == Means{1, 1, 1, 1, 1.2});  // on the circle: 0.3² + 0.4² = 0.5²
}

TEST_CASE("the share of contexts inside the radius is delta squared, and each quadrant has its quarter",
          "[envs][wheel]") {
  constexpr int steps = 100'000;
  for (const double delta : {0.5, 0.9, 0.99}) {
    Wheel wheel({.delta = delta}, {});
    int inside = 0, first_quadrant = 0;
    for (int step = 0; step < steps; ++step) {
      const Context context = wheel.observe(11, step);
      const double x = context.dense[0], y = context.dense[1];
      REQUIRE(x * x + y * y <= 1 + 1e-6);
      inside += x * x + y * y <= delta * delta;
      first_quadrant += x > 0 && y > 0;
    }
    const auto z = [](int count, double share) {
      return (count - steps * share) / std::sqrt(steps * share * (1 - share));
    };
    CHECK(std::abs(z(inside, delta * delta)) < 6.1);
    CHECK(std::abs(z(first_quadrant, 0.25)) < 6.1);
  }
}

TEST_CASE("the wheel's reward deviation is that of the mixture", "[envs][wheel]") {
  // δ² = 0.25 inside: rewards 1, 1, 1, 1, 1.2; 0.75 outside: 50, 1, 1, 1, 1.2. Mean (0.25·5.2 + 0.75·54.2) / 5 = 8.39;
  // mean square (0.25·5.44 + 0.75·2504.44) / 5 = 375.938; deviation² = 375.938 − 70.3921 + 0.01².
  const Wheel wheel({.delta = 0.5, .noise = 0.01}, {});
  CHECK(wheel.spec().reward_deviation.value() == Approx(std::sqrt(305.546)).epsilon(1e-12));
}

}  // namespace
}  // namespace stein::envs
