// Where the posterior is known: linear networks with the noise given, against Bayesian linear regression.
#include <stein/core/rng.h>
#include <stein/policies/bandit_policy.h>
#include <stein/policies/interaction_window.h>
#include <stein/policies/lin_ts.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "inference/proof_record.h"

using namespace stein;
using namespace stein::policies;

namespace {

constexpr double noise_variance = 0.25;
constexpr int interactions = 60;

const envs::BanditSpec conjugate_arms{.name = "conjugate", .arms = 2, .context_size = 3, .reward_deviation = 1};

/// Interactions whose rewards are linear in the context, both arms in turn.
struct LinearHistory {
  InteractionWindow window{conjugate_arms, 0, 1};
  LinTs exact{{.prior_precision = noise_variance,  // coefficients ~ N(0, σ²/λ) = N(0, 1)
               .prior_shape = 1e8,                 // the noise variance is known
               .prior_rate = 1e8 * noise_variance},
              conjugate_arms,
              1};

  LinearHistory() {
    for (int i = 0; i < interactions; ++i) {
      const std::vector<float> x = context(i);
      const int arm = i % 2;
      Draws draws({.seed = 8, .step = static_cast<std::uint64_t>(i)}, 1);
      const double reward =
          (arm == 0 ? 0.5 * x[0] - x[1] + 0.3 : x[2] - 0.7) + std::sqrt(noise_variance) * draws.normal();
      window.append({.dense = x}, {.action = arm, .reward = reward});
      exact.observe({.dense = x}, {.action = arm, .reward = reward});
    }
  }
  static std::vector<float> context(int number) {
    std::vector<float> x(3);
    fill_normal(std::span(x), {.seed = 7, .step = static_cast<std::uint64_t>(number)}, 0);
    return x;
  }
};

/// A policy of a linear network under the same prior and noise, after `updates` minibatches of the whole history.
std::unique_ptr<BanditPolicy> fitted(const LinearHistory& history, const std::string& name, int updates,
                                     std::map<std::string, std::string> settings) {
  settings.insert({{"hidden", "none"},
                   {"noise_precision", "4"},
                   {"likelihood_power", "1"},
                   {"weight_precision", "1"},
                   {"scale_rewards", "false"},
                   {"prior", "gaussian"},
                   {"anchors", "false"},
                   {"noise_per_arm", "false"},
                   {"prior_scale", "weights"}});
  const auto builder = bandit_policies().at(name).builder();
  OptionTable table;
  builder->describe(table);
  for (const Option& option : table.options())
    if (const auto setting = settings.find(option.name); setting != settings.end()) option.assign(setting->second);
  auto policy = builder->make(conjugate_arms, 1);
  const InteractionBatch all = history.window.all();
  for (int update = 0; update < updates; ++update) policy->learn(all);
  return policy;
}

/// How the posterior of a policy compares with the exact one, over 50 contexts and both arms.
struct Comparison {
  double deviation;  ///< root of the ratio of the mean variances
  double bias;       ///< root mean square of the differences of means, in exact sds
};
Comparison compare(LinearHistory& history, BanditPolicy& policy) {
  double variance = 0, exact_variance = 0, square = 0;
  for (int number = 1000; number < 1050; ++number) {
    const std::vector<float> x = LinearHistory::context(number);
    const auto samples = policy.posterior_rewards({.dense = x});
    const auto exact = history.exact.posterior({.dense = x});
    const auto m = static_cast<double>(samples.size());
    for (std::size_t arm = 0; arm < 2; ++arm) {
      double mean = 0, own = 0;
      for (const auto& sample : samples) mean += sample[arm] / m;
      for (const auto& sample : samples) own += std::pow(sample[arm] - mean, 2) / (m - 1);
      variance += own;
      exact_variance += std::pow(exact[arm].scale, 2);
      square += std::pow((mean - exact[arm].location) / exact[arm].scale, 2) / 100;
    }
  }
  return {std::sqrt(variance / exact_variance), std::sqrt(square)};
}

using Settings = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("of linear networks, policies have the exact posterior's spread, or as much of it as they are known to have",
          "[policies][conjugate][slow]") {
  LinearHistory history;
  // 100 draws of 8 coefficients: the ratio of sds has an sd of 1/√(2 · 99 · 8) = 0.025 for independent draws.
  struct Case {
    std::string name;
    int updates;
    Settings settings;
    double low, high, bias;
  };
  const Settings climb{{"step_size", "0.02"}, {"step_decay_steps", "400"}, {"particles", "100"}};
  const Settings walk{{"step_size", "0.0005"}, {"particles", "100"}};
  const auto with = [](Settings settings, const Settings& more) {
    for (const auto& [key, value] : more) settings[key] = value;
    return settings;
  };
  const Settings anchored = with(climb, {{"anchors", "true"}}), stay = with(walk, {{"step_decay_steps", "0"}});
  for (const Case& c :
       {Case{"anchored", 4000, anchored, 0.87, 1.13, 0.6}, Case{"sgld", 8000, stay, 0.87, 1.15, 0.6},
        Case{"psgld", 8000, walk, 0.8, 1.6, 0.6}, Case{"sghmc", 8000, stay, 0.87, 1.13, 0.6},
        Case{"bbb", 6000, climb, 0.87, 1.13, 0.6}, Case{"vmg", 6000, climb, 0.87, 1.13, 0.6},
        Case{"bootstrap", 4000, climb, 0.9, 1.25, 0.6}, Case{"svgd", 4000, climb, 0.7, 0.78, 0.05},
        Case{"function-svgd", 4000, climb, 0.7, 0.78, 0.05}, Case{"s2vgd", 4000, climb, 0, 0.1, 0.6},
        Case{"ensemble", 4000, climb, 0, 1e-3, 0.01}, Case{"svgd", 4000, anchored, 1.15, 1.55, 0.6},
        Case{"function-svgd", 4000, anchored, 1.1, 1.5, 0.6}, Case{"s2vgd", 4000, anchored, 0.85, 1.2, 0.6}}) {
    const auto policy = fitted(history, c.name, c.updates, c.settings);
    const Comparison found = compare(history, *policy);
    const std::string method = c.name + (c.settings.contains("anchors") ? ", anchors" : "");
    inference::record_proof(method, "conjugate", "sd", found.deviation);
    inference::record_proof(method, "conjugate", "bias", found.bias);
    CAPTURE(method, found.deviation, found.bias);
    CHECK(found.deviation > c.low);
    CHECK(found.deviation < c.high);
    CHECK(found.bias < c.bias);
  }
}

TEST_CASE("a single linear network settles at the exact mean", "[policies][conjugate][slow]") {
  LinearHistory history;
  const auto policy = fitted(history, "epsilon-greedy", 4000, {{"step_size", "0.02"}, {"step_decay_steps", "400"}});
  double square = 0;
  for (int number = 1000; number < 1050; ++number) {
    const std::vector<float> x = LinearHistory::context(number);
    const auto expected = policy->posterior_rewards({.dense = x});
    const auto exact = history.exact.posterior({.dense = x});
    REQUIRE(expected.size() == 1);
    for (std::size_t arm = 0; arm < 2; ++arm)
      square += std::pow((expected[0][arm] - exact[arm].location) / exact[arm].scale, 2) / 100;
  }
  CHECK(std::sqrt(square) < 0.01);  // of an exact sd
}
