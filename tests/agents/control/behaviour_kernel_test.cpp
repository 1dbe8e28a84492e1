// A kernel of what policies do: against differences of the kernel itself, and where it must be blind.
#include <stein/agents/control/behaviour_kernel.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "agents/toy_control.h"
#include "core/error_matcher.h"

using namespace stein;
using namespace stein::agents;
using inference::MatrixView;
using policies::ControlPolicy;

namespace {

constexpr std::int64_t hidden = 4, observation_size = 2, states = 5;

const envs::ControlSpec force_task{
    .name = "forces",
    .observation = {{.name = "x"}, {.name = "y"}},
    .action = {{.name = "a", .low = -1, .high = 1}, {.name = "b", .low = -1, .high = 1}}};
const envs::ControlSpec choice_task{.name = "choices",
                                    .observation = {{.name = "x"}, {.name = "y"}},
                                    .choices = 3,
                                    .action = {{.name = "choice", .low = 0, .high = 2}}};

enum class Actions { choices, constant_deviation, state_deviation };

ControlPolicy policy_of(Actions actions, std::int64_t particles) {
  ControlPolicy::Options options{
      .particles = particles, .hidden = {hidden}, .discrete = actions == Actions::choices, .output_spread = 1};
  if (actions == Actions::state_deviation) options.deviation = policies::Deviation::state;
  options.posterior.flat_prior = true;
  ControlPolicy policy(options, options.discrete ? choice_task : force_task, 7);
  // Also what starts at 0 is a number of its own.
  for (std::int64_t i = 0; i < particles; ++i)
    for (std::size_t q = 0; q < policy.particles().values().row(i).size(); ++q)
      policy.particles().values().row(i)[q] += 0.1F * static_cast<float>((i + 1) * (static_cast<int>(q) % 5 - 2));
  policy.refresh();
  return policy;
}

std::vector<float> observed() {
  std::vector<float> numbers(states * observation_size);
  fill_normal(std::span<float>(numbers), {.seed = 5}, 0);
  return numbers;
}

/// Slopes of an own size by every output of every particle, and by its constants.
class GivenSlopes final : public inference::OutputScore<float> {
 public:
  static float slope(std::int64_t particle, std::int64_t row, std::int64_t output) {
    return static_cast<float>(1 + 10 * particle) * static_cast<float>(1 + row) - static_cast<float>(output);
  }
  bool has_value() const override { return false; }
  double score(std::int64_t particle, std::int64_t first, MatrixView<const float> outputs, std::span<const float>,
               MatrixView<float> gradient, std::span<float> constant_gradient) const override {
    for (std::int64_t i = 0; i < outputs.rows; ++i)
      for (std::int64_t k = 0; k < outputs.columns; ++k) gradient(i, k) = slope(particle, first + i, k);
    for (float& number : constant_gradient) number += static_cast<float>(100 + particle);
    return 0;
  }
};

/// What a policy that is a perceptron of one hidden layer says, in double precision: parameters [states, K] or, of a
/// constant log sd, with those behind the means.
struct Exact {
  ControlPolicy& policy;
  Actions actions;
  std::vector<float> observations = observed();

  std::vector<double> parameters(const std::vector<double>& weights) const {
    const inference::Layout& layout = policy.particles().layout();
    const auto at = [&](const char* name, std::int64_t r, std::int64_t c) {
      const auto* entry = layout.find(name);
      const auto view = policy.particles().view(name, 0);
      return weights[static_cast<std::size_t>(entry->offset + r * view.stride + c)];
    };
    const std::int64_t k = policy.distribution().outputs(), constants = policy.distribution().constants();
    std::vector<double> all;
    for (std::int64_t s = 0; s < states; ++s) {
      for (std::int64_t o = 0; o < k; ++o) {
        double sum = at("layer1.bias", 0, o);
        for (std::int64_t h = 0; h < hidden; ++h) {
          double inner = at("layer0.bias", 0, h);
          for (std::int64_t q = 0; q < observation_size; ++q)
            inner +=
                double{observations[static_cast<std::size_t>(s * observation_size + q)]} * at("layer0.weight", q, h);
          sum += std::tanh(inner) * at("layer1.weight", h, o);
        }
        all.push_back(sum);
      }
      for (std::int64_t c = 0; c < constants; ++c) all.push_back(at("constants", 0, c));
    }
    return all;
  }

  std::vector<double> weights(std::int64_t i) const {
    const auto row = policy.particles().values().row(i);
    return {row.begin(), row.end()};
  }

  /// The mean over the states that count of the formula in ActionDistribution; `middle` are the parameters of all.
  double distance(const std::vector<double>& first, const std::vector<double>& second,
                  const std::vector<std::vector<double>>& all, const std::vector<std::uint8_t>& counts) const {
    const std::size_t width = first.size() / states;
    double sum = 0, counted = 0;
    for (std::size_t s = 0; s < states; ++s) {
      if (counts[s] == 0) continue;
      counted += 1;
      const auto difference = [&](std::size_t k) { return first[s * width + k] - second[s * width + k]; };
      if (actions == Actions::choices) {
        std::vector<double> share(width, 0);
        for (const auto& each : all) {
          double total = 0;
          for (std::size_t k = 0; k < width; ++k) total += std::exp(each[s * width + k]);
          for (std::size_t k = 0; k < width; ++k)
            share[k] += std::exp(each[s * width + k]) / total / static_cast<double>(all.size());
        }
        double mean = 0;
        for (std::size_t k = 0; k < width; ++k) mean += share[k] * difference(k);
        for (std::size_t k = 0; k < width; ++k) sum += share[k] * std::pow(difference(k) - mean, 2);
        continue;
      }
      for (std::size_t a = 0; a < width / 2; ++a) {
        double log_sd = 0;
        for (const auto& each : all) log_sd += each[s * width + width / 2 + a] / static_cast<double>(all.size());
        sum += std::pow(difference(a) / std::exp(log_sd), 2) + 2 * std::pow(difference(width / 2 + a), 2);
      }
    }
    return sum / counted;
  }
};

double kernel(inference::SvgdKernel which, double square, double h) {
  return which == inference::SvgdKernel::rbf ? std::exp(-square / h) : 1 / std::sqrt(1 + square / h);
}

/// [M, Q] of a score alone, as the prior is flat.
inference::Matrix<float> gradient_of(ControlPolicy& policy, const inference::OutputScore<float>& score,
                                     const std::vector<float>& observations) {
  inference::Matrix<float> gradient(policy.particle_count(), policy.particles().size());
  policy.posterior().evaluate(policy.particles().coordinates(),
                              {.inputs = {.dense = {observations.data(), states, observation_size}},
                               .rows = states,
                               .data_size = states,
                               .score = &score},
                              {}, {.gradient = gradient.view()});
  return gradient;
}

}  // namespace

TEST_CASE("the repulsion that reaches the weights is the slope of the kernel by them, in double precision",
          "[agents][behaviour]") {
  constexpr std::int64_t m = 3;
  constexpr double h = 8;
  const std::vector<std::uint8_t> counts{1, 1, 0, 1, 1};
  for (const Actions actions : {Actions::choices, Actions::constant_deviation, Actions::state_deviation})
    for (const auto which : {inference::SvgdKernel::rbf, inference::SvgdKernel::imq}) {
      ControlPolicy policy = policy_of(actions, m);
      const Exact exact{policy, actions};
      BehaviourKernel behaviour({.kernel = which, .bandwidth_rule = inference::Bandwidth::fixed, .bandwidth = h});
      behaviour.look_at(policy, {exact.observations.data(), states, observation_size}, counts, GivenSlopes());
      const inference::Matrix<float> found = gradient_of(policy, behaviour.repulsion(), exact.observations);

      std::vector<std::vector<double>> all;
      for (std::int64_t i = 0; i < m; ++i) all.push_back(exact.parameters(exact.weights(i)));
      for (std::int64_t i = 0; i < m; ++i) {
        // −Σ_j k(f_i, f_j) / Σ_j k(f_i, f_j) with what is divided by, and measured in, held.
        const auto sum_at = [&](const std::vector<double>& weights) {
          const std::vector<double> own = exact.parameters(weights);
          double sum = 1;
          for (std::int64_t j = 0; j < m; ++j)
            if (j != i) sum += kernel(which, exact.distance(own, all[static_cast<std::size_t>(j)], all, counts), h);
          return sum;
        };
        std::vector<double> weights = exact.weights(i);
        const double total = sum_at(weights);
        double largest = 0;
        for (std::size_t q = 0; q < weights.size(); ++q) {
          const double kept = weights[q], step = 1e-5;
          weights[q] = kept + step;
          const double above = sum_at(weights);
          weights[q] = kept - step;
          const double below = sum_at(weights);
          weights[q] = kept;
          const double slope = -(above - below) / (2 * step) / total;
          CAPTURE(static_cast<int>(actions), static_cast<int>(which), i, q);
          CHECK(double{found.view()(i, static_cast<std::int64_t>(q))} == Approx(slope).epsilon(1e-3).margin(2e-5));
          largest = std::max(largest, std::abs(slope));
        }
        CHECK(largest > 0.01);
      }
    }
}

TEST_CASE("particles climb by the slopes of all, as far as they act alike", "[agents][behaviour]") {
  constexpr std::int64_t m = 3;  // of two particles the kernel has one sum, whoever climbs
  constexpr double h = 0.5;
  const std::vector<std::uint8_t> counts(states, 1);
  for (const Actions actions : {Actions::choices, Actions::constant_deviation}) {
    ControlPolicy policy = policy_of(actions, m);
    const Exact exact{policy, actions};
    BehaviourKernel behaviour({.bandwidth_rule = inference::Bandwidth::fixed, .bandwidth = h});
    behaviour.look_at(policy, {exact.observations.data(), states, observation_size}, counts, GivenSlopes());
    std::vector<std::vector<double>> all;
    for (std::int64_t i = 0; i < m; ++i) all.push_back(exact.parameters(exact.weights(i)));
    /// Σ_j k(f_j, f_i) of something of particle j, over the sum of the kernel.
    const auto climb = [&](std::int64_t i, const auto& of_particle) {
      double sum = 0, total = 0;
      for (std::int64_t j = 0; j < m; ++j) {
        const auto first = static_cast<std::size_t>(i), second = static_cast<std::size_t>(j);
        const double k = std::exp(-exact.distance(all[first], all[second], all, counts) / h);
        sum += k * of_particle(j), total += k;
      }
      return sum / total;
    };
    const std::int64_t outputs = policy.distribution().outputs(), constants = policy.distribution().constants();
    const auto slopes = [&](const inference::OutputScore<float>& score, std::int64_t i,
                            std::vector<float>& by_constants) {
      std::vector<float> gradient(static_cast<std::size_t>(states * outputs)), unused(gradient.size());
      by_constants.assign(static_cast<std::size_t>(constants), 0);
      for (std::int64_t row = 0; row < states; ++row)  // as a model that splits its rows asks
        score.score(i, row, {unused.data(), 1, outputs}, {}, {gradient.data() + row * outputs, 1, outputs},
                    by_constants);
      return gradient;
    };
    for (std::int64_t i = 0; i < m; ++i) {
      std::vector<float> by_constants, pushed_constants;
      const std::vector<float> climbed = slopes(behaviour.score(), i, by_constants),
                               pushed = slopes(behaviour.repulsion(), i, pushed_constants);
      CAPTURE(static_cast<int>(actions), i);
      for (std::int64_t row = 0; row < states; ++row)
        for (std::int64_t o = 0; o < outputs; ++o) {
          const auto at = static_cast<std::size_t>(row * outputs + o);
          const double drive = climb(i, [&](std::int64_t j) { return double{GivenSlopes::slope(j, row, o)}; });
          CHECK(double{climbed[at]} - double{pushed[at]} == Approx(drive).epsilon(1e-4));
        }
      for (std::size_t c = 0; c < by_constants.size(); ++c)
        CHECK(double{by_constants[c]} - double{pushed_constants[c]} ==
              Approx(climb(i, [](std::int64_t j) { return 100 + static_cast<double>(j); })).epsilon(1e-4));
    }
  }
}

TEST_CASE("policies whose hidden units are permuted are one to the kernel, however far apart their weights are",
          "[agents][behaviour]") {
  ControlPolicy policy = policy_of(Actions::choices, 3);
  for (const char* name : {"layer0.weight", "layer0.bias", "layer1.weight", "layer1.bias"}) {
    const auto from = policy.particles().view(name, 0), to = policy.particles().view(name, 1);
    const bool into = std::string(name).starts_with("layer0"), bias_of_outputs = std::string(name) == "layer1.bias";
    for (std::int64_t r = 0; r < from.rows; ++r)
      for (std::int64_t c = 0; c < from.columns; ++c)
        if (bias_of_outputs)
          to(r, c) = from(r, c);
        else if (into)
          to(r, hidden - 1 - c) = from(r, c);
        else
          to(hidden - 1 - r, c) = from(r, c);
  }
  policy.refresh();
  const std::vector<float> observations = observed();
  const std::vector<std::uint8_t> counts(states, 1);
  double apart = 0;
  for (std::int64_t q = 0; q < policy.particles().size(); ++q)
    apart += std::pow(double{policy.particles().values()(0, q)} - double{policy.particles().values()(1, q)}, 2);
  REQUIRE(apart > 1);

  BehaviourKernel behaviour({.bandwidth_rule = inference::Bandwidth::fixed, .bandwidth = 0.5});
  const GivenSlopes objective;
  behaviour.look_at(policy, {observations.data(), states, observation_size}, counts, objective);
  const inference::Matrix<float> push = gradient_of(policy, behaviour.repulsion(), observations);
  // Only the third repels them, both alike: by the same slopes of the outputs, that is of their last bias.
  const auto length = [&](std::int64_t i) {
    double square = 0;
    for (std::int64_t q = 0; q < push.columns(); ++q) square += std::pow(double{push.view()(i, q)}, 2);
    return std::sqrt(square);
  };
  CHECK(length(0) > 1e-3);
  CHECK(length(2) > 1e-3);
  CHECK(length(1) == Approx(length(0)).epsilon(1e-4));
  const auto* bias = policy.particles().layout().find("layer1.bias");
  for (std::int64_t o = bias->offset; o < bias->offset + bias->extent(); ++o)
    CHECK(push.view()(1, o) == Approx(push.view()(0, o)).epsilon(1e-4).margin(1e-6));

  // Alone with each other they do not repel at all.
  ControlPolicy pair = policy_of(Actions::choices, 2);
  for (std::int64_t i = 0; i < 2; ++i)
    std::ranges::copy(policy.particles().values().row(i), pair.particles().values().row(i).begin());
  pair.refresh();
  behaviour.look_at(pair, {observations.data(), states, observation_size}, counts, objective);
  const inference::Matrix<float> nothing = gradient_of(pair, behaviour.repulsion(), observations);
  for (std::int64_t i = 0; i < 2; ++i)
    for (const float number : nothing.row(i)) CHECK(number == Approx(0).margin(1e-6));
}

TEST_CASE("between behaviours a linear kernel is refused, and every state must be told whether it counts",
          "[agents][behaviour]") {
  CHECK_ERROR(BehaviourKernel({.kernel = inference::SvgdKernel::linear}), usage, "'kernel'", "got linear");
  const ControlPolicy policy = policy_of(Actions::choices, 2);
  const std::vector<float> observations = observed();
  const std::vector<std::uint8_t> few(states - 1, 1);
  BehaviourKernel behaviour({});
  CHECK_ERROR(behaviour.look_at(policy, {observations.data(), states, observation_size}, few, GivenSlopes()), usage,
              "5 states", "got 4");
}
