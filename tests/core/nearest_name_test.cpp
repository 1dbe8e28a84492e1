// Did-you-mean.
#include <stein/core/nearest_name.h>

#include <catch2/catch.hpp>

using namespace stein;

TEST_CASE("a slip of the fingers finds the name that was meant", "[core]") {
  const std::vector<std::string> names{"mushroom", "mushroom-synthetic", "wheel", "linear"};
  CHECK(nearest_name("mushrom", names) == "mushroom");
  CHECK(nearest_name("WHEEL", names) == "wheel");
  CHECK(nearest_name("SYNTHETIC", names) == "mushroom-synthetic");
  CHECK(nearest_name("weel", names) == "wheel");
  CHECK(nearest_name("synthetic", names) == "mushroom-synthetic");
  CHECK(nearest_name("sgvd", std::vector<std::string>{"sgld", "svgd"}) == "svgd");
  CHECK(nearest_name("ucb", std::vector<std::string>{"bbb", "linucb"}) == "linucb");
  CHECK(nearest_name("setps", std::vector<std::string>{"seeds", "steps"}) == "steps");  // neighbours change places
  CHECK_FALSE(nearest_name("cartpole", names));
  const std::vector<std::string> tasks{"cartpole", "cartpole-swingup", "CartPole-v1"};
  CHECK(nearest_name("CartPole", tasks) == "CartPole-v1");  // as its letters are written
  CHECK(nearest_name("Cartpole", tasks) == "cartpole");
  const std::vector<std::string> pendulums{"InvertedDoublePendulum", "InvertedPendulum", "Pendulum-v1"};
  CHECK(nearest_name("Pendulum", pendulums) == "Pendulum-v1");  // its version is left out
  CHECK(nearest_name("Pendulm", pendulums) == "Pendulum-v1");
  CHECK(suggestion("cartpole", names) == " Known: mushroom, mushroom-synthetic, wheel, linear.");
  CHECK(suggestion("x", {}).empty());
}
