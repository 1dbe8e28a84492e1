// Generalised advantage estimation against its definition, and what it has to do with truncated episodes.
#include <stein/agents/control/advantages.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "agents/toy_control.h"
#include "core/error_matcher.h"

using namespace stein;
using namespace stein::agents;

namespace {

/// Steps of some slots with drawn rewards and values, and an end now and then.
struct Drawn {
  std::int64_t slots = 5, steps = 40;
  std::vector<float> rewards, values, next_values, ends;

  explicit Drawn(std::uint64_t seed) {
    const auto size = static_cast<std::size_t>(slots * steps);
    for (auto* numbers : {&rewards, &values, &next_values}) numbers->resize(size);
    fill_normal(std::span<float>(rewards), {.seed = seed}, 0);
    fill_normal(std::span<float>(values), {.seed = seed}, 1);
    fill_normal(std::span<float>(next_values), {.seed = seed}, 2);
    Draws draws({.seed = seed}, 3);
    for (std::size_t i = 0; i < size; ++i) ends.push_back(draws.uniform() < 0.1 ? 1 : 0);
  }
  std::size_t at(std::int64_t t, std::int64_t slot) const { return static_cast<std::size_t>(t * slots + slot); }
  std::vector<float> advantages(double discount, double lambda) const {
    std::vector<float> result(rewards.size(), 99);
    generalised_advantages(
        {.slots = slots, .rewards = rewards, .values = values, .next_values = next_values, .ends = ends}, discount,
        lambda, result);
    return result;
  }
};

}  // namespace

TEST_CASE("advantages are the sum of the differences that follow, in double precision", "[agents][advantages]") {
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    for (const auto& [discount, lambda] :
         std::vector<std::pair<double, double>>{{0.99, 0.95}, {1, 1}, {0.9, 0}, {0, 1}}) {
      const Drawn drawn(seed);
      const std::vector<float> found = drawn.advantages(discount, lambda);
      for (std::int64_t slot = 0; slot < drawn.slots; ++slot)
        for (std::int64_t t = 0; t < drawn.steps; ++t) {
          // Schulman et al. 2016, eq. 16, as it stands: Σ_k (γλ)^k δ_{t+k} up to the end of the episode.
          double sum = 0, factor = 1;
          for (std::int64_t u = t; u < drawn.steps; ++u) {
            const std::size_t i = drawn.at(u, slot);
            sum +=
                factor * (double{drawn.rewards[i]} + discount * double{drawn.next_values[i]} - double{drawn.values[i]});
            if (drawn.ends[i] == 1) break;
            factor *= discount * lambda;
          }
          REQUIRE(found[drawn.at(t, slot)] == Approx(sum).epsilon(1e-5).margin(2e-5));
        }
    }
}

TEST_CASE("with lambda 1 and nothing after the ends an advantage is the return to go less the value",
          "[agents][advantages]") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const double discount = 0.97;
    Drawn drawn(seed);
    // The value of the next step, as it is in a rollout; 0 at ends and after the last step.
    for (std::int64_t slot = 0; slot < drawn.slots; ++slot)
      for (std::int64_t t = 0; t < drawn.steps; ++t) {
        const std::size_t i = drawn.at(t, slot);
        drawn.next_values[i] = drawn.ends[i] == 1 || t + 1 == drawn.steps ? 0 : drawn.values[drawn.at(t + 1, slot)];
      }
    const std::vector<float> found = drawn.advantages(discount, 1);
    for (std::int64_t slot = 0; slot < drawn.slots; ++slot) {
      double to_go = 0;
      for (std::int64_t t = drawn.steps; t-- > 0;) {
        const std::size_t i = drawn.at(t, slot);
        to_go = double{drawn.rewards[i]} + (drawn.ends[i] == 1 ? 0 : discount * to_go);
        REQUIRE(found[i] == Approx(to_go - double{drawn.values[i]}).epsilon(1e-5).margin(2e-5));
      }
    }
  }
}

TEST_CASE("an episode that is cut off counts what would have followed", "[agents][advantages]") {
  // Two steps, each with reward 1 and V = 4; the second is the last of the episode and leads to V = 10. By hand with
  // γ = 0.5, λ = 0.5: δ = 1 + 2 − 4 = −1, then 1 + 5 − 4 = 2 where it is cut off, 1 − 4 = −3 where the state is
  // terminal.
  const std::vector<float> rewards{1, 1}, values{4, 4}, ends{0, 1};
  const auto advantages = [&](float after) {
    std::vector<float> result(2);
    generalised_advantages(
        {.slots = 1, .rewards = rewards, .values = values, .next_values = std::vector<float>{4, after}, .ends = ends},
        0.5, 0.5, result);
    return result;
  };
  CHECK(advantages(10) == std::vector<float>{-0.5F, 2});
  CHECK(advantages(0) == std::vector<float>{-1.75F, -3});
}

TEST_CASE("A2C values what lies beyond the horizon, and not what lies beyond a terminal state",
          "[agents][advantages][control]") {
  // At the crossroads no way pays at once. With γ = ½ a good place that goes on for ever is worth 1/(1 − γ) = 2, one
  // whose single step is the last 1; the bad place is worth 0 in both. Choice 1 is better by γ · 2 = 1 only where the
  // horizon cuts something off.
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    for (const bool terminates : {false, true}) {
      const auto environment = test::crossroads();
      test::set(*environment, {{"terminates", terminates ? "true" : "false"}});
      ControlAgentOptions options = earlier_options(Learner::a2c, PolicyPosterior::none, true);
      test::set(options, {{"hidden", "none"},
                          {"value_hidden", "none"},
                          {"discount", "0.5"},
                          {"steps_per_slot", "4"},
                          {"slots", "16"},
                          {"step_size", "0.02"},
                          {"value_step_size", "0.02"},
                          {"normalize_advantages", "false"}});
      ControlAgent agent(options, *environment, seed);
      for (int k = 0; k < 600; ++k) agent.iterate();

      const float places[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      std::vector<float> logits(6);
      const auto parameters = agent.policy().parameters(0, {places, 3, 3}, {logits.data(), 3, 2});
      const double better = 1 / (1 + std::exp(double{parameters.outputs(0, 0)} - double{parameters.outputs(0, 1)}));
      const auto critic = test::snapshot_of(agent).part("baseline/particles").get_vector<float>("values");
      REQUIRE(critic.size() == 4);  // three weights and a bias
      CAPTURE(seed, terminates, better);
      CHECK(critic[1] + critic[3] == Approx(terminates ? 1 : 2).margin(0.1));
      CHECK(critic[2] + critic[3] == Approx(0).margin(0.1));
      CHECK((better > 0.97) != terminates);
    }
}

TEST_CASE("standardised values have mean 0 and sd 1 over the rows that count", "[agents][advantages]") {
  std::vector<float> values{1, 100, 3, 5, 7}, scale{0.25F, 0, 0.25F, 0.25F, 0.25F};
  standardise(values, scale);  // 1, 3, 5, 7: mean 4, sd √5
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == Approx(i == 1 ? 0 : (std::vector<double>{1, 0, 3, 5, 7}[i] - 4) / std::sqrt(5)).margin(1e-7));
  std::vector<float> equal{2, 2, 2}, one{0, 5};
  standardise(equal, std::vector<float>{1, 1, 1});
  CHECK(equal == std::vector<float>{0, 0, 0});
  standardise(one, std::vector<float>{0, 1});
  CHECK(one == std::vector<float>{0, 0});
  std::vector<float> none{3, 4};
  standardise(none, std::vector<float>{0, 0});
  CHECK(none == std::vector<float>{0, 0});
}

TEST_CASE("advantages need whole steps and factors between 0 and 1", "[agents][advantages]") {
  const Drawn drawn(0);
  CHECK_ERROR(drawn.advantages(1.1, 1), usage, "discount", "1.1");
  CHECK_ERROR(drawn.advantages(1, -0.1), usage, "lambda", "-0.1");
  std::vector<float> result(7);
  const std::vector<float> seven(7), six(6);
  CHECK_ERROR(generalised_advantages(
                  {.slots = 2, .rewards = seven, .values = seven, .next_values = seven, .ends = seven}, 1, 1, result),
              usage, "whole steps of 2 slots", "7 rewards");
  CHECK_ERROR(generalised_advantages({.slots = 1, .rewards = seven, .values = six, .next_values = seven, .ends = seven},
                                     1, 1, result),
              usage, "6 values");
}

TEST_CASE("explained variance is 1 for a baseline that foresees all, 0 for the mean, and below 0 for a harmful one",
          "[agents][advantages]") {
  // Targets 1, 2, 3 and 6 about their mean 3: 4 + 1 + 0 + 9 = 14. The row of 100 does not count.
  const std::vector<float> targets{1, 2, 100, 3, 6}, scale{0.25F, 0.25F, 0, 0.25F, 0.25F};
  const auto explained = [&](const std::vector<float>& values) {
    std::vector<float> residuals;
    for (std::size_t i = 0; i < values.size(); ++i) residuals.push_back(targets[i] - values[i]);
    return explained_variance(targets, residuals, scale);
  };
  CHECK(explained({1, 2, 0, 3, 6}) == 1);
  CHECK(explained({11, 12, 0, 13, 16}) == 1);  // an offset is no variance
  CHECK(explained({3, 3, 0, 3, 3}) == 0);
  CHECK(explained({1, 2, 0, 3, 4}) == Approx(1 - 3.0 / 14));  // residuals 0, 0, 0, 2: 3 × ½² + 1.5² = 3
  CHECK(explained({-1, -2, 0, -3, -6}) == Approx(1 - 4.0));   // residuals are twice the targets
  CHECK(explained_variance(std::vector<float>{2, 2}, std::vector<float>{1, 3}, std::vector<float>{1, 1}) == 0);
}
