// What one watches an agent learn by: against hand calculations, and against the agent's own policies.
#include <stein/agents/control/control_agent.h>
#include <stein/agents/control/learning_measures.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "agents/toy_control.h"

using namespace stein;
using namespace stein::agents;

TEST_CASE("the change of a policy is that of the formulas", "[agents][measures]") {
  // Ratios ½, 1, 1.1 and 2 with advantages 1, −1, 2 and 3.
  const std::vector<double> ratios{0.5, 1, 1.1, 2};
  const std::vector<float> advantages{1, -1, 2, 3};
  std::vector<float> logs;
  double kl = 0;
  for (const double r : ratios) logs.push_back(static_cast<float>(std::log(r))), kl += (r - 1 - std::log(r)) / 4;
  const PolicyChange clipped = policy_change(logs, advantages, 0.2);
  CHECK(clipped.approximate_kl == Approx(kl));
  CHECK(clipped.clip_share == 0.5);                                   // ½ and 2
  CHECK(clipped.surrogate == Approx((0.5 - 1 + 2.2 + 3 * 1.2) / 4));  // 2 × 3 is limited to 1.2 × 3
  const PolicyChange plain = policy_change(logs, advantages, 0);
  CHECK(plain.approximate_kl == Approx(kl));
  CHECK(plain.clip_share == 0);
  CHECK(plain.surrogate == Approx((0.5 - 1 + 2.2 + 6) / 4));
  CHECK(policy_change({}, {}, 0.2).approximate_kl == 0);
}

TEST_CASE("drive, prior and repulsion are the lengths of the sums of Stein's direction", "[agents][measures]") {
  // Two particles at (0, 0) and (1, 2): a squared distance of 5. Gradients of J/α are (4, 0) and (0, 2), of the prior
  // (−1, 1) and (2, −3).
  const float positions[4]{0, 0, 1, 2}, gradients[4]{3, 1, 2, -1}, priors[4]{-1, 1, 2, -3};
  const double drive[2][2]{{4, 0}, {0, 2}}, prior[2][2]{{-1, 1}, {2, -3}};
  const std::vector<double> distances{0, 5, 5, 0}, products{0, 0, 0, 5};
  const auto both = [](const double(&own)[2], const double(&other)[2], double k_own, double k) {
    return std::hypot(k_own * own[0] + k * other[0], k_own * own[1] + k * other[1]) / 2;
  };
  for (const auto kernel : {inference::SvgdKernel::rbf, inference::SvgdKernel::imq, inference::SvgdKernel::linear}) {
    inference::KernelWeights weights;
    const bool linear = kernel == inference::SvgdKernel::linear;
    inference::kernel_weights({.kernel = kernel, .bandwidth_rule = inference::Bandwidth::fixed, .bandwidth = 4},
                              linear ? products : distances, 2, weights);
    const PosteriorParts parts = posterior_parts(weights, {positions, 2, 2}, {gradients, 2, 2}, {priors, 2, 2});
    // k, and the length of ∇k: (2/h) k ‖x − y‖ and (1/h) k³ ‖x − y‖; ∇_{x_j}(x_j·x_i + 1) = x_i.
    double k = std::exp(-1.25), push = 0.5 * k * std::sqrt(5.0) / 2;
    if (kernel == inference::SvgdKernel::imq) k = 1 / std::sqrt(2.25), push = 0.25 * k * k * k * std::sqrt(5.0) / 2;
    const double own[2]{1, linear ? 6.0 : 1};
    if (linear) k = 1, push = std::sqrt(5.0) / 2;  // 0 for the particle at the origin, √5 for the other
    CAPTURE(static_cast<int>(kernel));
    CHECK(parts.drive == Approx((both(drive[0], drive[1], own[0], k) + both(drive[1], drive[0], own[1], k)) / 2));
    CHECK(parts.prior == Approx((both(prior[0], prior[1], own[0], k) + both(prior[1], prior[0], own[1], k)) / 2));
    CHECK(parts.repulsion == Approx(push));
  }
}

TEST_CASE("of a kernel that does not see weights the parts are what is left of the gradient", "[agents][measures]") {
  // Two particles: drives (3, 4) and (0, 0), priors (1, 0) and (0, −2), repulsions (0, 6) and (8, 0).
  const float priors[4]{1, 0, 0, -2}, repulsions[4]{0, 6, 8, 0}, gradients[4]{4, 10, 8, -2};
  const PosteriorParts parts = posterior_parts({gradients, 2, 2}, {priors, 2, 2}, {repulsions, 2, 2});
  CHECK(parts.drive == 2.5);
  CHECK(parts.prior == 1.5);
  CHECK(parts.repulsion == 7);
}

namespace {

ControlAgentOptions measured_options(Learner learner, PolicyPosterior posterior, bool discrete,
                                     const std::vector<std::pair<std::string, std::string>>& more = {}) {
  ControlAgentOptions options = earlier_options(learner, posterior, discrete);
  test::set(options, {{"hidden", "8"}, {"slots", "3"}, {"steps_per_slot", "40"}, {"step_size", "0.01"}});
  if (learner != Learner::reinforce) test::set(options, {{"value_hidden", "8"}});
  test::set(options, more);
  return options;
}

std::vector<float> weights_of(const ControlAgent& agent) {
  const auto row = agent.policy().particles().values().row(0);
  return {row.begin(), row.end()};
}

const envs::ControlEntry::Builder& measured_task() {
  static const auto builder = envs::controls().at("CartPole-v1").builder();
  return *builder;
}

}  // namespace

TEST_CASE("what is learned does not depend on whether it is measured", "[agents][measures]") {
  for (const Learner learner : {Learner::reinforce, Learner::a2c, Learner::ppo})
    for (const PolicyPosterior posterior : {PolicyPosterior::none, PolicyPosterior::svgd}) {
      ControlAgent watched(measured_options(learner, posterior, true), measured_task(), 3),
          alone(measured_options(learner, posterior, true), measured_task(), 3);
      for (int k = 0; k < 5; ++k) {
        CHECK(watched.iterate(Measured::yes).measures.has_value());
        CHECK(!alone.iterate().measures.has_value());
      }
      CHECK(test::same_bytes(test::snapshot_of(watched), test::snapshot_of(alone)));
    }
}

TEST_CASE("plain ascent moves a policy by its step size times the gradient norm that is measured",
          "[agents][measures]") {
  ControlAgent agent(
      measured_options(Learner::a2c, PolicyPosterior::none, true,
                       {{"optimizer", "sgd"}, {"momentum", "0"}, {"step_size", "0.5"}, {"clip_norm", "0"}}),
      measured_task(), 3);
  const std::vector<float> before = weights_of(agent);
  const LearningMeasures measures = *agent.iterate(Measured::yes).measures;
  const std::vector<float> after = weights_of(agent);
  double square = 0;
  for (std::size_t q = 0; q < before.size(); ++q) square += std::pow(double{after[q]} - double{before[q]}, 2);
  CHECK(measures.step_size == 0.5);
  CHECK(0.5 * measures.gradient_norm == Approx(std::sqrt(square)).epsilon(1e-4));
  CHECK(measures.change.approximate_kl > 0);
  CHECK(!measures.deviation);
}

TEST_CASE("the prior that is measured of one particle is its precision times its weights, and nothing repels it",
          "[agents][measures]") {
  ControlAgent agent(measured_options(Learner::a2c, PolicyPosterior::svgd, true,
                                      {{"particles", "1"}, {"alpha", "0.01"}, {"weight_precision", "3"}}),
                     measured_task(), 3);
  double square = 0;
  for (const float weight : weights_of(agent)) square += 9 * std::pow(double{weight}, 2);
  const LearningMeasures measures = *agent.iterate(Measured::yes).measures;
  REQUIRE(measures.parts.has_value());
  CHECK(measures.parts->prior == Approx(std::sqrt(square)).epsilon(1e-4));
  CHECK(measures.parts->repulsion == Approx(0).margin(1e-6));
  CHECK(measures.parts->drive > 0);
  const auto find = [&](const std::string& tag) {
    for (const auto& [name, value] : measures.tagged(false))
      if (name == tag) return value;
    return -1.0;
  };
  CHECK(find("prior_norm") == measures.parts->prior);
  CHECK(find("drive_norm") == measures.parts->drive);
}

TEST_CASE("the parts that are measured under a kernel of behaviour add up to what moves the particles",
          "[agents][measures]") {
  // Two particles that climb plainly: their steps, without prior, are the drive and the repulsion.
  const auto moved = [](const char* precision) {
    ControlAgent agent(measured_options(Learner::a2c, PolicyPosterior::svgd, true,
                                        {{"particles", "2"},
                                         {"share_rollouts", "true"},
                                         {"kernel_sees", "behaviour"},
                                         {"initial_correlation", "0"},
                                         {"weight_precision", precision},
                                         {"optimizer", "sgd"},
                                         {"momentum", "0"},
                                         {"step_size", "1e-4"}}),
                       measured_task(), 3);
    const auto row = [&] {
      const auto values = agent.policy().particles().values();
      std::vector<double> all;
      for (std::int64_t i = 0; i < 2; ++i) all.insert(all.end(), values.row(i).begin(), values.row(i).end());
      return all;
    };
    const std::vector<double> before = row();
    double weights = 0, length = 0;
    const LearningMeasures measures = *agent.iterate(Measured::yes).measures;
    const std::vector<double> after = row();
    const std::size_t half = before.size() / 2;
    for (const std::size_t first : {std::size_t{0}, half}) {
      double own = 0, step = 0;
      for (std::size_t q = first; q < first + half; ++q)
        own += before[q] * before[q], step += std::pow((after[q] - before[q]) / 1e-4, 2);
      weights += std::sqrt(own) / 2, length += std::sqrt(step) / 2;
    }
    return std::tuple(*measures.parts, weights, length);
  };
  const auto [parts, weights, length] = moved("3");
  CHECK(parts.prior == Approx(3 * weights).epsilon(1e-4));
  CHECK(parts.repulsion > 0);
  CHECK(parts.drive > 0);
  const auto [flat, unused, step] = moved("1e-9");
  CHECK(flat.prior == Approx(0).margin(1e-6));
  CHECK(flat.repulsion == Approx(parts.repulsion).epsilon(1e-3));
  CHECK(step <= (flat.drive + flat.repulsion) * 1.01);
  CHECK(step >= std::abs(flat.drive - flat.repulsion) * 0.99);
}

TEST_CASE("the tags of the measures are those that the learner has", "[agents][measures]") {
  const auto tags = [](Learner learner, bool discrete) {
    const auto environment = envs::controls().at(discrete ? "CartPole-v1" : "cartpole").builder();
    ControlAgent agent(measured_options(learner, PolicyPosterior::none, discrete), *environment, 3);
    std::map<std::string, double> found;
    for (const auto& [tag, value] : agent.iterate(Measured::yes).measures->tagged(agent.clips())) found[tag] = value;
    return found;
  };
  const auto a2c = tags(Learner::a2c, true), ppo = tags(Learner::ppo, false);
  for (const char* tag :
       {"entropy", "approximate_kl", "explained_variance", "policy_loss", "value_loss", "gradient_norm", "step_size"}) {
    CHECK(a2c.contains(tag));
    CHECK(ppo.contains(tag));
  }
  CHECK(!a2c.contains("clip_share"));
  CHECK(!a2c.contains("action_deviation"));
  CHECK(ppo.contains("clip_share"));
  CHECK(ppo.at("action_deviation") == Approx(1));
}

TEST_CASE("step sizes fall linearly to a hundredth over the steps of the run", "[agents][measures]") {
  // 120 steps an iteration; the decay ends after 480.
  ControlAgent agent(
      measured_options(Learner::a2c, PolicyPosterior::none, true, {{"step_size", "0.01"}, {"decay_steps", "480"}}),
      measured_task(), 3);
  for (const double share : {1.0, 0.75, 0.5, 0.25, 0.01, 0.01})
    CHECK(agent.iterate(Measured::yes).measures->step_size == Approx(0.01 * share));
}

TEST_CASE("step sizes are halved after every half-life, beside a linear decay too", "[agents][measures]") {
  const auto check = [](const char* decay_steps, const std::vector<double>& shares) {
    ControlAgent agent(measured_options(Learner::a2c, PolicyPosterior::none, true,
                                        {{"step_size", "0.01"}, {"step_half_life", "2"}, {"decay_steps", decay_steps}}),
                       measured_task(), 3);
    for (const double share : shares) CHECK(agent.iterate(Measured::yes).measures->step_size == Approx(0.01 * share));
  };
  check("0", {1, 1, 0.5, 0.5, 0.25});
  check("1200", {1, 0.9, 0.4, 0.35, 0.15});  // 120 steps an iteration
}

TEST_CASE("a target for the KL divergence ends the updates of an iteration", "[agents][measures]") {
  const auto updates = [](const char* target) {
    ControlAgent agent(
        measured_options(Learner::ppo, PolicyPosterior::none, true,
                         {{"epochs", "10"}, {"minibatches", "3"}, {"step_size", "0.02"}, {"target_kl", target}}),
        measured_task(), 3);
    agent.iterate();
    return test::snapshot_of(agent).part("sampler").part("rollback").get_scalar<std::int64_t>("steps");
  };
  CHECK(updates("0") == 30);
  CHECK(updates("1e9") == 30);
  // The gradient of the first update is at the policy that played, whose ratios are all 1: the second is seen to be
  // away from it, and is the last.
  CHECK(updates("1e-9") == 2);
  const std::int64_t some = updates("0.002");
  CHECK(some > 2);
  CHECK(some < 30);
}

TEST_CASE("updates end where the mean of the particles' KL divergences is 1.5 times the target", "[agents][measures]") {
  // What an update sees is the KL divergence after those before it: of three updates, where the fourth begins.
  const auto after = [](const char* epochs, const std::string& target) {
    ControlAgent agent(measured_options(Learner::ppo, PolicyPosterior::independent, true,
                                        {{"particles", "3"},
                                         {"epochs", epochs},
                                         {"minibatches", "1"},
                                         {"step_size", "0.02"},
                                         {"target_kl", target}}),
                       measured_task(), 3);
    const double kl = agent.iterate(Measured::yes).measures->change.approximate_kl;
    return std::pair(kl, test::snapshot_of(agent).part("sampler").part("rollback").get_scalar<std::int64_t>("steps"));
  };
  const double three = after("3", "0").first;
  REQUIRE(after("2", "0").first < 0.9 * three);
  REQUIRE(after("4", "0").first > 1.1 * three);
  CHECK(after("10", std::to_string(0.97 * three / 1.5)).second == 4);
  CHECK(after("10", std::to_string(1.03 * three / 1.5)).second == 5);
}

TEST_CASE("the value network's step falls with that of the policies", "[agents][measures]") {
  // Its first step of plain Adam is its step size, whatever the gradient. 120 steps an iteration.
  const auto moved = [](const char* decay_steps) {
    ControlAgent agent(
        measured_options(Learner::a2c, PolicyPosterior::none, true,
                         {{"value_updates", "1"}, {"value_step_size", "1e-3"}, {"decay_steps", decay_steps}}),
        measured_task(), 3);
    for (int k = 0; k < 3; ++k) agent.iterate();
    const auto weights = [&] {
      return test::snapshot_of(agent).part("baseline").part("particles").get_vector<float>("values");
    };
    const std::vector<float> before = weights();
    agent.iterate();
    const std::vector<float> now = weights();
    double length = 0;
    for (std::size_t q = 0; q < now.size(); ++q) length += std::abs(double{now[q]} - double{before[q]});
    return length;
  };
  CHECK(moved("360") == Approx(0.01 * moved("0")).epsilon(0.5));
}
