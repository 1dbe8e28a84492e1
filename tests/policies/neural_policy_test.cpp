// What policies with a network of rewards share: the unit of their residuals, weights of interactions, averages of
// weights, and how many interactions the posterior counts.
#include <stein/core/rng.h>
#include <stein/policies/bandit_policy.h>
#include <stein/policies/distribution_policy.h>
#include <stein/policies/gradient_policy.h>
#include <stein/policies/neural_linear.h>
#include <stein/policies/parameter_noise_policy.h>
#include <stein/policies/particle_policy.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::policies;

namespace {

using Settings = std::map<std::string, std::string>;

const envs::BanditSpec noisy_arms{.name = "three arms", .arms = 3, .context_size = 2, .reward_deviation = 4};

/// A policy of three linear networks with the settings, where its name has such options.
std::unique_ptr<BanditPolicy> linear(const std::string& name, const Settings& settings) {
  const auto builder = bandit_policies().at(name).builder();
  OptionTable table;
  builder->describe(table);
  Settings all{{"hidden", "none"}, {"particles", "3"}, {"draw", "mean"}, {"anchors", "false"}};
  for (const auto& [option, value] : settings) all[option] = value;
  for (const auto& [option, value] : all)
    if (table.contains(option)) table.set(option, value);
  return builder->make(noisy_arms, 6);
}

std::vector<float> context_of(std::int64_t number) {
  std::vector<float> x(2);
  fill_normal(std::span(x), {.seed = 4, .step = static_cast<std::uint64_t>(number)}, 0);
  return x;
}

/// Interactions 0, 1, … with arms in turn, each standing `times` times, or once with that weight.
struct Interactions {
  std::vector<float> contexts, rewards, weights;
  std::vector<std::int32_t> actions;
  std::vector<std::int64_t> numbers;

  Interactions(std::int64_t count, const std::vector<int>& times, bool weighted) {
    for (std::int64_t i = 0; i < count; ++i) {
      const int here = times[static_cast<std::size_t>(i) % times.size()];
      for (int k = 0; k < (weighted ? 1 : here); ++k) {
        const std::vector<float> x = context_of(i);
        contexts.insert(contexts.end(), x.begin(), x.end());
        actions.push_back(static_cast<std::int32_t>(i % 3));
        rewards.push_back(3 * x[0] - static_cast<float>(i % 3));
        numbers.push_back(i);
        if (weighted) weights.push_back(static_cast<float>(here));
      }
    }
  }
  /// @param per_row  interactions in the window for each row of the minibatch
  InteractionBatch batch(std::int64_t per_row = 1) const {
    const auto rows = std::ssize(actions);
    return {.dense = contexts,
            .actions = actions,
            .rewards = rewards,
            .weights = weights,
            .numbers = numbers,
            .rows = rows,
            .window = per_row * rows};
  }
};

void check_same(const std::vector<std::vector<double>>& found, const std::vector<std::vector<double>>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t k = 0; k < found[i].size(); ++k)
      CHECK(found[i][k] == Approx(expected[i][k]).epsilon(1e-4).margin(1e-4));
}

}  // namespace

TEST_CASE(
    "the noise of an arm is learned from scaled rewards less what all networks predicted, by the outcome's weight",
    "[policies][neural]") {
  const auto policy = linear("ensemble", {{"noise_per_arm", "true"}, {"noise_memory", "0"}});
  const std::vector<float> x = context_of(0);
  const auto predicted = policy->posterior_rewards({.dense = x});
  REQUIRE(predicted.size() == 3);
  const double mean = (predicted[0][1] + predicted[1][1] + predicted[2][1]) / 3;
  CHECK(std::abs(mean - predicted[0][1]) > 0.1);  // so that one network alone would be seen
  policy->observe({.dense = x}, {.action = 1, .reward = 7, .weight = 2.5});
  Snapshot state;
  policy->save(state);
  // Rewards are divided by 4, their sd over uniformly drawn arms.
  CHECK(state.get_vector<double>("arm_noise/squares")[1] == Approx(2.5 * std::pow((7 - mean) / 4, 2)).epsilon(1e-5));
  CHECK(state.get_vector<double>("arm_noise/counts") == std::vector<double>{0, 2.5, 0});
}

TEST_CASE("an interaction of weight w teaches what w of them teach", "[policies][neural]") {
  const std::vector<int> times{3, 1, 2, 1, 4};
  const Interactions weighted(10, times, true), repeated(10, times, false);
  for (const std::string name : {"ensemble", "svgd", "function-svgd", "epsilon-greedy", "neural-ucb", "neural-linear"})
    for (const std::string per_arm : {"false", "true"}) {
      CAPTURE(name, per_arm);
      // Repelled functions are looked at in every row of a minibatch, whatever its weight.
      const Settings settings{{"noise_per_arm", per_arm},
                              {"particles", name == "function-svgd" ? "1" : "3"},
                              {"hidden", name == "neural-linear" ? "5" : "none"},
                              {"noise_precision", "1.7"},
                              {"optimizer", "sgd"},
                              {"momentum", "0"},
                              {"step_size", "0.001"},
                              {"learn_noise_precision", "false"}};
      const auto first = linear(name, settings), second = linear(name, settings);
      for (BanditPolicy* policy : {first.get(), second.get()})  // another precision for every arm
        for (int i = 0; i < 9; ++i) {
          const std::vector<float> x = context_of(i);
          policy->observe({.dense = x}, {.action = i % 3, .reward = 4.0 * (i % 3) * i});
        }
      // The sum over a minibatch times N/n: N/n is 1 for both.
      for (int update = 0; update < 5; ++update) first->learn(weighted.batch()), second->learn(repeated.batch());
      const std::vector<float> x = context_of(100);
      const auto before = linear(name, settings)->posterior_rewards({.dense = x});
      const auto now = first->posterior_rewards({.dense = x});
      if (name != "neural-linear") CHECK(std::abs(now[0][0] - before[0][0]) > 1e-3);
      check_same(now, second->posterior_rewards({.dense = x}));
    }
}

TEST_CASE("function-svgd of one particle is one network under the noise precision that is given",
          "[policies][neural]") {
  const Settings settings{{"particles", "1"},
                          {"noise_per_arm", "false"},
                          {"noise_precision", "1.7"},
                          {"prior_scale", "weights"},
                          {"initial_spread", "1"}};
  const auto function = linear("function-svgd", settings), plain = linear("ensemble", settings);
  const Interactions data(10, {1}, false);
  for (int update = 0; update < 20; ++update) function->learn(data.batch(3)), plain->learn(data.batch(3));
  const std::vector<float> x = context_of(100);
  check_same(function->posterior_rewards({.dense = x}), plain->posterior_rewards({.dense = x}));
}

TEST_CASE("interactions beyond the largest data size are tempered to so many", "[policies][neural]") {
  const Interactions data(10, {1}, false);
  const auto limited = linear("ensemble", {{"largest_data_size", "30"}}), few = linear("ensemble", {}),
             many = linear("ensemble", {}), below = linear("ensemble", {{"largest_data_size", "31"}});
  for (int update = 0; update < 5; ++update) {
    limited->learn(data.batch(7));
    few->learn(data.batch(3)), below->learn(data.batch(3));
    many->learn(data.batch(7));
  }
  const std::vector<float> x = context_of(100);
  const auto expected = few->posterior_rewards({.dense = x});
  CHECK(limited->posterior_rewards({.dense = x}) == expected);
  CHECK(below->posterior_rewards({.dense = x}) == expected);
  CHECK(many->posterior_rewards({.dense = x}) != expected);
}

TEST_CASE("a likelihood to the power of 4 counts every interaction four times, of whatever kind it is",
          "[policies][neural]") {
  Interactions data(10, {1}, false);
  for (float& reward : data.rewards) reward = reward > 0 ? 1.0F : 0.0F;
  const std::vector<float> x = context_of(100);
  for (const std::string name : {"vmg", "bbb", "dropout"})
    for (const std::string likelihood : {"gaussian", "bernoulli"}) {
      CAPTURE(name, likelihood);
      const Settings once{{"likelihood", likelihood}, {"noise_precision", "1"}, {"likelihood_power", "1"}},
          often{{"likelihood", likelihood}, {"noise_precision", "1"}, {"likelihood_power", "4"}};
      const auto powered = linear(name, often), many = linear(name, once), few = linear(name, once);
      for (int update = 0; update < 5; ++update)
        powered->learn(data.batch(2)), many->learn(data.batch(8)), few->learn(data.batch(2));
      const auto expected = many->posterior_rewards({.dense = x});
      CHECK(powered->posterior_rewards({.dense = x}) == expected);
      CHECK(few->posterior_rewards({.dense = x}) != expected);
    }
}

TEST_CASE("Gaussian noise of precision 64 and a likelihood to the power of 64 are the same", "[policies][neural]") {
  const Interactions data(10, {1}, false);
  const std::vector<float> x = context_of(100);
  for (const std::string name : {"vmg", "bbb"}) {
    CAPTURE(name);
    const auto powered = linear(name, {}),  // as its defaults have it
        precise = linear(name, {{"likelihood_power", "1"}, {"noise_precision", "64"}});
    for (int update = 0; update < 5; ++update) powered->learn(data.batch(8)), precise->learn(data.batch(8));
    CHECK(powered->posterior_rewards({.dense = x}) == precise->posterior_rewards({.dense = x}));
  }
}

TEST_CASE("averaged weights are the mean of the updates so far, then a running one, and part of what is saved",
          "[policies][neural]") {
  // What a linear network predicts is linear in its weights: its average is that of what it predicted.
  const Settings fast{{"step_size", "0.1"}}, averages{{"step_size", "0.1"}, {"average_steps", "3"}};
  const Interactions data(10, {1}, false);
  const auto plain = linear("ensemble", fast);
  auto averaged = linear("ensemble", averages);
  const std::vector<float> x = context_of(100);
  std::vector<std::vector<double>> expected = plain->posterior_rewards({.dense = x});
  check_same(averaged->posterior_rewards({.dense = x}), expected);
  for (int update = 1; update <= 8; ++update) {
    if (update == 5) {
      Snapshot state;
      averaged->save(state);
      averaged = linear("ensemble", averages);
      averaged->restore(state);
      check_same(averaged->posterior_rewards({.dense = x}), expected);
    }
    plain->learn(data.batch()), averaged->learn(data.batch());
    const auto now = plain->posterior_rewards({.dense = x});
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) expected[i][k] += (now[i][k] - expected[i][k]) / std::min(update, 3);
    CAPTURE(update);
    CHECK(std::abs(expected[0][0] - now[0][0]) > (update == 1 ? -1 : 1e-3));
    check_same(averaged->posterior_rewards({.dense = x}), expected);
  }
}

TEST_CASE("before any residual each arm has the noise precision that is given", "[policies][neural]") {
  const Interactions data(10, {1}, false);
  const auto made = [](const char* precision, const char* per_arm) {
    return linear("ensemble", {{"noise_precision", precision},
                               {"noise_per_arm", per_arm},
                               {"optimizer", "sgd"},
                               {"momentum", "0"},
                               {"step_size", "0.001"}});
  };
  const auto given = made("1.7", "false"), learned = made("1.7", "true"), other = made("1", "false");
  for (int update = 0; update < 5; ++update)
    for (BanditPolicy* policy : {given.get(), learned.get(), other.get()}) policy->learn(data.batch(20));
  const std::vector<float> x = context_of(100);
  check_same(learned->posterior_rewards({.dense = x}), given->posterior_rewards({.dense = x}));
  CHECK(other->posterior_rewards({.dense = x}) != given->posterior_rewards({.dense = x}));
}

TEST_CASE("the unit of rewards is their sd so far where the bandit knows none, also where arms have noise of their own",
          "[policies][neural]") {
  envs::BanditSpec unknown = noisy_arms;
  unknown.reward_deviation = std::nullopt;
  for (const std::string per_arm : {"false", "true"}) {
    const auto builder = bandit_policies().at("ensemble").builder();
    OptionTable table;
    builder->describe(table);
    table.set("noise_per_arm", per_arm), table.set("particles", "2"), table.set("hidden", "none");
    const auto policy = builder->make(unknown, 6);
    const std::vector<float> x = context_of(0);
    const auto before = policy->posterior_rewards({.dense = x});
    for (const double reward : {1.0, 9.0}) policy->observe({.dense = x}, {.action = 0, .reward = reward});
    CAPTURE(per_arm);
    const auto now = policy->posterior_rewards({.dense = x});
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t k = 0; k < 3; ++k) CHECK(now[i][k] == Approx(4 * before[i][k]).epsilon(1e-6));
  }
}

TEST_CASE("under a prior of functions, and with anchors, particles start at draws from their prior",
          "[policies][neural]") {
  // Of a linear network x·w + b with w_k ~ N(0, s² (1 − β)/2) and b ~ N(0, s² β): its two inputs share 1 − β.
  const std::vector<float> x{1.5F, -0.5F};
  const double length = 1.5 * 1.5 + 0.5 * 0.5;
  struct Case {
    Settings settings;
    double variance;
  };
  for (const Case& c :
       {Case{{{"prior_scale", "functions"}, {"function_deviation", "3"}, {"bias_share", "0.4"}},
             9 * (0.6 / 2 * length + 0.4)},
        Case{{{"anchors", "true"}, {"prior_scale", "weights"}, {"weight_precision", "4"}}, (length + 1) / 4}}) {
    Settings settings = c.settings;
    settings["particles"] = "400";
    const auto policy = linear("ensemble", settings);
    double variance = 0;
    const auto rewards = policy->posterior_rewards({.dense = x});
    for (const auto& of_particle : rewards)
      for (const double reward : of_particle) variance += std::pow(reward / 4, 2) / 1200;
    CHECK(variance == Approx(c.variance).epsilon(6 * std::sqrt(2.0 / 1200)));
  }
}

TEST_CASE("anchored particles stay where they started as far as data say nothing", "[policies][neural]") {
  const std::vector<float> weights(10, 0.0F), x = context_of(100);
  const Interactions data(10, {1}, false);
  InteractionBatch nothing = data.batch();
  nothing.weights = weights;
  for (const std::string anchors : {"true", "false"}) {
    const auto policy = linear("ensemble", {{"anchors", anchors},
                                            {"weight_precision", "4"},
                                            {"optimizer", "sgd"},
                                            {"momentum", "0"},
                                            {"step_size", "0.01"}});
    const auto before = policy->posterior_rewards({.dense = x});
    for (int update = 0; update < 50; ++update) policy->learn(nothing);
    const auto now = policy->posterior_rewards({.dense = x});
    CAPTURE(anchors);
    // Under the prior around 0 each of the 50 steps takes 4 % away.
    const double left = anchors == "true" ? 1 : std::pow(0.96, 50);
    for (std::size_t i = 0; i < now.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) CHECK(now[i][k] == Approx(left * before[i][k]).epsilon(1e-3).margin(1e-3));
  }
}

TEST_CASE("prior functions are drawn apart from where the networks start", "[policies][neural]") {
  const Settings few{{"particles", "400"}, {"prior_scale", "weights"}};
  Settings with_functions = few;
  with_functions["prior_function_scale"] = "1";
  const std::vector<float> x = context_of(3);
  const auto networks = linear("ensemble", few)->posterior_rewards({.dense = x}),
             both = linear("ensemble", with_functions)->posterior_rewards({.dense = x});
  double product = 0, square = 0, prior_square = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    const double network = networks[i][0], prior = both[i][0] - network;
    product += network * prior, square += network * network, prior_square += prior * prior;
  }
  CHECK(prior_square > 0.1 * square);
  CHECK(std::abs(product) / std::sqrt(square * prior_square) < 6 / std::sqrt(400.0));
}

TEST_CASE("networks of dropout are the whole one with each unit gone with its probability, and decide so",
          "[policies][neural]") {
  constexpr double rate = 0.3;
  constexpr std::int64_t networks = 4000;
  const auto with_rate = [&](const std::string& of_units) {
    return linear("dropout", {{"hidden", "2"},
                              {"activation", "tanh"},
                              {"dropout_rate", of_units},
                              {"particles", std::to_string(networks)},
                              {"draw", "one"}});
  };
  const auto policy = with_rate("0.3"), whole = with_rate("0");
  const std::vector<float> x = context_of(0);
  const std::vector<double> all_units = whole->posterior_rewards({.dense = x}).front();
  std::map<std::vector<double>, std::int64_t> kinds;
  std::vector<double> best(3);
  for (const auto& rewards : policy->posterior_rewards({.dense = x})) {
    ++kinds[rewards];
    const double most = std::ranges::max(rewards);  // of several arms after a start without biases, if no unit is left
    const auto ties = static_cast<double>(std::ranges::count(rewards, most));
    for (std::size_t k = 0; k < 3; ++k) best[k] += rewards[k] == most ? 1 / ties : 0;
  }
  // Two units leave four networks: without both, with one of them, with both; all arms lose a unit together.
  REQUIRE(kinds.size() == 4);
  std::vector<std::pair<std::int64_t, std::vector<double>>> by_count;
  for (const auto& [rewards, count] : kinds) by_count.emplace_back(count, rewards);
  std::ranges::sort(by_count);
  const std::vector<double> expected{rate * rate, rate * (1 - rate), rate * (1 - rate), (1 - rate) * (1 - rate)};
  for (std::size_t i = 0; i < 4; ++i) {
    const double share = static_cast<double>(by_count[i].first) / networks;
    CHECK(std::abs(share - expected[i]) < 6 * std::sqrt(expected[i] * (1 - expected[i]) / networks));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const double none = by_count[0].second[k], first = by_count[1].second[k], second = by_count[2].second[k];
    CHECK(by_count[3].second[k] == Approx(first + second - none).epsilon(1e-5).margin(1e-5));
    CHECK(all_units[k] == Approx(none + (1 - rate) * (first + second - 2 * none)).epsilon(1e-5).margin(1e-5));
  }
  const Decision decision = policy->decide({.dense = x}, 0, Propensities::exact);
  for (std::size_t k = 0; k < 3; ++k) CHECK(decision.propensities[k] == Approx(best[k] / networks).margin(1e-6));
}

TEST_CASE("averaged weights are no option, and refused, where networks are drawn, perturbed, regressed on or derived",
          "[policies][neural]") {
  const auto refused = []<class Policy>(std::type_identity<Policy>) {
    typename Policy::Options options;
    options.average_steps = 3;
    CHECK_ERROR(Policy(options, noisy_arms, 1), usage, "'average_steps'", "expected 0", "3");
  };
  refused(std::type_identity<DistributionPolicy>());
  refused(std::type_identity<ParameterNoisePolicy>());
  refused(std::type_identity<NeuralLinear>());
  refused(std::type_identity<NeuralUcb>());
  refused(std::type_identity<NeuralTs>());
  for (const std::string name :
       {"vmg", "bbb", "dropout", "parameter-noise", "neural-linear", "neural-ucb", "neural-ts", "epsilon-greedy"}) {
    CAPTURE(name);
    const auto builder = bandit_policies().at(name).builder();
    OptionTable table;
    builder->describe(table);
    CHECK(table.contains("average_steps") == (name == "epsilon-greedy"));
    CHECK(table.contains("likelihood") != name.starts_with("neural-"));  // those predict the reward itself
  }
}
