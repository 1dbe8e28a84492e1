// The gradient that policies climb against the exact gradient of the return, and the clipped surrogate against its
// formula.
#include <stein/agents/control/policy_objective.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "agents/toy_control.h"
#include "core/error_matcher.h"

using namespace stein;
using namespace stein::agents;
using inference::MatrixView;
using test::TwoStates;

namespace {

constexpr double critical_value = 6.1, mutant_value = 10;

/// Exact numbers of the softmax policy with one logit a state and action on the two-state task, by going through all
/// paths: J and its gradient by the logits [state][action].
struct ExactReturn {
  std::array<std::array<double, 2>, 2> probability{};
  double discount = 1;
  double value = 0;
  std::array<double, 4> gradient{};

  ExactReturn(const std::array<float, 4>& logits, double gamma) : discount(gamma) {
    for (std::size_t s = 0; s < 2; ++s) {
      const double odds = std::exp(double{logits[2 * s + 1]} - double{logits[2 * s]});
      probability[s] = {1 / (1 + odds), odds / (1 + odds)};
    }
    walk(0, 0, TwoStates::start_at_0, 0, {});
    walk(1, 0, 1 - TwoStates::start_at_0, 0, {});
  }

 private:
  /// J = Σ over paths of p(path) R(path), ∇J = Σ p R ∇ log p.
  void walk(std::size_t s, int t, double chance, double reward, const std::array<double, 4>& score) {
    for (std::size_t a = 0; a < 2; ++a) {
      std::array<double, 4> next = score;
      for (std::size_t b = 0; b < 2; ++b) next[2 * s + b] += (a == b ? 1 : 0) - probability[s][b];
      const double p = chance * probability[s][a], total = reward + std::pow(discount, t) * TwoStates::rewards[s][a];
      if ((s == 1 && a == 0) || t + 1 == TwoStates::horizon) {
        value += p * total;
        for (std::size_t k = 0; k < 4; ++k) gradient[k] += p * total * next[k];
      } else {
        walk(a == 1 ? 1 - s : s, t + 1, p, total, next);
      }
    }
  }
};

/// A linear policy on the two-state task with given logits.
policies::ControlPolicy policy_with(const std::array<float, 4>& logits) {
  policies::ControlPolicy::Options options{.hidden = {}, .discrete = true};
  options.posterior.flat_prior = true;
  policies::ControlPolicy policy(options, test::two_states()->spec(), 0);
  std::ranges::fill(policy.particles().values().row(0), 0.0F);
  std::ranges::copy(logits, policy.particles().view("layer0.weight", 0).data);
  policy.refresh();
  return policy;
}

enum class Mutant { none, advantage_one_step_late, sign_flipped, no_discount_weight, immediate_reward_only };

/// Independent estimates of ∇J by the logits, each from the paths of 64 slots.
struct Estimates {
  std::vector<std::array<double, 4>> batches;

  /// Largest |z| of any coordinate against `exact`.
  double z(const std::array<double, 4>& exact) const {
    double largest = 0;
    const auto n = static_cast<double>(batches.size());
    for (std::size_t k = 0; k < 4; ++k) {
      double sum = 0, square = 0;
      for (const auto& batch : batches) sum += batch[k];
      for (const auto& batch : batches) square += std::pow(batch[k] - sum / n, 2);
      largest = std::max(largest, std::abs((sum / n - exact[k]) / std::sqrt(square / (n - 1) / n)));
    }
    return largest;
  }
};

Estimates estimate(const std::array<float, 4>& logits, double discount, std::uint64_t seed, Mutant mutant) {
  policies::ControlPolicy policy = policy_with(logits);
  // One step of every slot begins one path in each.
  Rollouts rollouts(*test::two_states(), {.slots = 64, .steps = 1, .whole_paths = true, .discount = discount}, seed);
  PolicyObjective objective(policy.distribution(), 0, 0);
  Estimates result;
  for (int batch = 0; batch < 300; ++batch) {
    rollouts.collect(policy);
    const RolloutShard& shard = rollouts.shards().front();
    const std::int64_t rows = shard.rows(), slots = shard.slots;
    std::vector<float> advantages(static_cast<std::size_t>(rows)), scale(advantages.size());
    for (std::int64_t row = rows; row-- > 0;) {
      const auto i = static_cast<std::size_t>(row), after = static_cast<std::size_t>(row + slots);
      const bool last = shard.terminated[i] + shard.truncated[i] > 0;
      const float follows = last || row + slots >= rows ? 0 : advantages[after];
      advantages[i] = shard.rewards[i] + static_cast<float>(discount) * follows;
      scale[i] = shard.counts[i] / 64;
      if (mutant != Mutant::no_discount_weight) scale[i] *= static_cast<float>(std::pow(discount, shard.times[i]));
    }
    if (mutant == Mutant::sign_flipped)
      for (float& advantage : advantages) advantage = -advantage;
    if (mutant == Mutant::immediate_reward_only) std::copy_n(shard.rewards.begin(), rows, advantages.begin());
    if (mutant == Mutant::advantage_one_step_late)
      for (std::int64_t row = rows; row-- > 0;)
        advantages[static_cast<std::size_t>(row)] =
            row >= slots ? advantages[static_cast<std::size_t>(row - slots)] : 0.0F;
    objective.set_rows(
        {.rows = rows, .actions = {shard.actions.data(), rows, 1}, .advantages = advantages, .scale = scale});
    std::vector<float> gradient(static_cast<std::size_t>(policy.particles().size()));
    policy.posterior().evaluate(policy.particles().coordinates(),
                                {.inputs = {.dense = {shard.observations.data(), rows, 2}},
                                 .inputs_per_particle = true,
                                 .rows = rows,
                                 .data_size = static_cast<double>(rows),
                                 .score = &objective},
                                {}, {.gradient = {gradient.data(), 1, policy.particles().size()}});
    const auto offset = policy.particles().layout().at("layer0.weight").offset;
    std::array<double, 4> own{};
    std::copy_n(gradient.begin() + offset, 4, own.begin());
    result.batches.push_back(own);
  }
  return result;
}

/// One row of a categorical policy with three choices, for the surrogate.
struct SurrogateRow {
  std::vector<double> logits{0.4, -0.3, 0.1};
  std::int64_t action = 1;
  double advantage = 1;
  double log_density_before = -1;
};

double log_density(const SurrogateRow& row) {
  double total = 0;
  for (const double logit : row.logits) total += std::exp(logit);
  return row.logits[static_cast<std::size_t>(row.action)] - std::log(total);
}

/// min(r A, clip(r, 1 − ε, 1 + ε) A), Schulman et al. 2017, eq. 7.
double surrogate(const SurrogateRow& row, double clip) {
  const double ratio = std::exp(log_density(row) - row.log_density_before);
  return std::min(ratio * row.advantage, std::clamp(ratio, 1 - clip, 1 + clip) * row.advantage);
}

std::vector<float> gradient_of(const SurrogateRow& row, double clip, double entropy = 0) {
  const auto law = policies::make_categorical(3);
  PolicyObjective objective(*law, entropy, clip);
  const std::vector<float> logits(row.logits.begin(), row.logits.end());
  const float action = static_cast<float>(row.action), advantage = static_cast<float>(row.advantage), scale = 0.5F,
              before = static_cast<float>(row.log_density_before);
  objective.set_rows({.rows = 1,
                      .actions = {&action, 1, 1},
                      .advantages = {&advantage, 1},
                      .scale = {&scale, 1},
                      .log_density = {&before, 1}});
  std::vector<float> gradient(3);
  CHECK(objective.score(0, 0, {logits.data(), 1, 3}, {}, {gradient.data(), 1, 3}, {}) == 0);
  return gradient;
}

}  // namespace

TEST_CASE("the exact return of the two-state task is that of a policy that can be followed by hand",
          "[agents][control]") {
  // Never change: state 0 pays 0.5 four times, state 1 pays 2 once and is over.
  const ExactReturn stay({20, -20, 20, -20}, 0.5);
  CHECK(stay.value == Approx(0.7 * 0.5 * (1 + 0.5 + 0.25 + 0.125) + 0.3 * 2));
  // And its gradient is that of finite differences.
  const std::array<float, 4> logits{0.2F, -0.1F, 0.3F, 0.6F};
  for (std::size_t k = 0; k < 4; ++k) {
    std::array<float, 4> above = logits, below = logits;
    above[k] += 0x1p-10F, below[k] -= 0x1p-10F;
    CHECK(
        ExactReturn(logits, 0.8).gradient[k] ==
        Approx((ExactReturn(above, 0.8).value - ExactReturn(below, 0.8).value) / (double{above[k]} - double{below[k]}))
            .epsilon(1e-4));
  }
}

TEST_CASE("the score-function gradient is the exact gradient of the return, and no mutant is", "[agents][control]") {
  const std::array<float, 4> logits{0.2F, -0.1F, 0.3F, 0.6F};
  for (const double discount : {1.0, 0.6}) {
    const ExactReturn exact(logits, discount);
    CAPTURE(discount);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      CAPTURE(seed);
      CHECK(estimate(logits, discount, seed, Mutant::none).z(exact.gradient) < critical_value);
    }
    CHECK(estimate(logits, discount, 0, Mutant::advantage_one_step_late).z(exact.gradient) > mutant_value);
    CHECK(estimate(logits, discount, 0, Mutant::sign_flipped).z(exact.gradient) > mutant_value);
    CHECK(estimate(logits, discount, 0, Mutant::immediate_reward_only).z(exact.gradient) > mutant_value);
    if (discount < 1) CHECK(estimate(logits, discount, 0, Mutant::no_discount_weight).z(exact.gradient) > mutant_value);
  }
}

TEST_CASE("REINFORCE moves a policy along the exact gradient of the return", "[agents][control]") {
  // Plain ascent with a step of 1 moves the weights by the gradient itself; they are put back after every iteration.
  // The prior is there for `gradient_scale = per_episode`, and nearly flat.
  const std::array<float, 4> logits{0.2F, -0.1F, 0.3F, 0.6F};
  struct Row {
    double discount;
    bool weight;
  };
  for (const Row row : {Row{1, false}, Row{1, true}, Row{0.6, true}, Row{0.6, false}}) {
    ControlAgentOptions options = earlier_options(Learner::reinforce, PolicyPosterior::svgd, true);
    test::set(options, {{"particles", "1"},
                        {"alpha", "1"},
                        {"gradient_scale", "per_episode"},
                        {"weight_precision", "1e-12"},
                        {"hidden", "none"},
                        {"baseline", "none"},
                        {"slots", "64"},
                        {"steps_per_slot", "1"},
                        {"discount", std::to_string(row.discount)},
                        {"discount_weight", row.weight ? "true" : "false"},
                        {"normalize_advantages", "false"},
                        {"optimizer", "sgd"},
                        {"momentum", "0"},
                        {"step_size", "1"}});
    ControlAgent agent(options, *test::two_states(), 4);
    policies::ControlPolicy& policy = agent.policy();
    Estimates moved;
    for (int batch = 0; batch < 300; ++batch) {
      std::ranges::fill(policy.particles().values().row(0), 0.0F);
      const MatrixView<float> weights = policy.particles().view("layer0.weight", 0);
      std::ranges::copy(logits, weights.data);
      policy.refresh();
      agent.iterate();
      std::array<double, 4> gradient{};
      for (std::size_t k = 0; k < 4; ++k) gradient[k] = double{weights.data[k]} - double{logits[k]};
      moved.batches.push_back(gradient);
    }
    CAPTURE(row.discount, row.weight);
    const double z = moved.z(ExactReturn(logits, row.discount).gradient);
    if (row.discount < 1 && !row.weight)
      CHECK(z > mutant_value);  // without γᵗ it is the gradient of nothing
    else
      CHECK(z < critical_value);
  }
}

TEST_CASE("the clipped surrogate has the gradient of its formula on both sides of both limits", "[agents][control]") {
  const double clip = 0.2, h = 1e-6;
  for (const double advantage : {-1.5, 0.7})
    for (const double ratio : {0.5, 0.79, 0.81, 1.0, 1.19, 1.21, 3.0}) {
      SurrogateRow row{.advantage = advantage};
      row.log_density_before = log_density(row) - std::log(ratio);
      const std::vector<float> gradient = gradient_of(row, clip);
      CAPTURE(advantage, ratio);
      for (std::size_t k = 0; k < 3; ++k) {
        SurrogateRow above = row, below = row;
        above.logits[k] += h, below.logits[k] -= h;
        const double slope = 0.5 * (surrogate(above, clip) - surrogate(below, clip)) / (2 * h);  // scale ½
        CHECK(gradient[k] == Approx(slope).epsilon(1e-5).margin(1e-6));
      }
      const bool limited = (advantage > 0 && ratio > 1 + clip) || (advantage < 0 && ratio < 1 - clip);
      CHECK((gradient[0] == 0) == limited);
    }
}

TEST_CASE("where the policy has not moved yet the clipped surrogate is the plain policy gradient",
          "[agents][control]") {
  for (const double advantage : {-1.5, 0.7}) {
    SurrogateRow row{.advantage = advantage};
    row.log_density_before = log_density(row);
    const std::vector<float> clipped = gradient_of(row, 0.2, 0.3), plain = gradient_of(row, 0, 0.3);
    for (std::size_t k = 0; k < 3; ++k) CHECK(clipped[k] == Approx(plain[k]).epsilon(1e-6));
  }
}

TEST_CASE("blocks of rows, particles and scales of 0 find their own rows", "[agents][control]") {
  // Rows 37 … 336 of particle 1 of three are scored alone, in more than one block, as all rows of a Gaussian policy.
  const auto law = policies::make_gaussian(2, policies::Deviation::constant, 1);
  PolicyObjective objective(*law, 0.1, 0.2);
  constexpr std::int64_t n = 400, first = 37, count = 300;
  std::vector<float> actions(3 * n * 2), advantages(3 * n), scale(3 * n), before(3 * n), outputs(n * 2);
  fill_normal(std::span<float>(actions), {.seed = 1}, 0), fill_normal(std::span<float>(advantages), {.seed = 1}, 1);
  fill_normal(std::span<float>(scale), {.seed = 1}, 2), fill_normal(std::span<float>(outputs), {.seed = 1}, 3);
  std::ranges::fill(before, -2.5F);
  scale[n + first + 5] = 0;
  const std::vector<float> constants{0.1F, -0.2F};
  objective.set_rows({.rows = n,
                      .actions = {actions.data(), 3 * n, 2},
                      .advantages = advantages,
                      .scale = scale,
                      .log_density = before});
  std::vector<float> together(count * 2), own(2), by_constants(2), sum(2);
  objective.score(1, first, {outputs.data(), count, 2}, constants, {together.data(), count, 2}, by_constants);
  for (std::int64_t i = 0; i < count; ++i) {
    objective.score(1, first + i, {outputs.data() + 2 * i, 1, 2}, constants, {own.data(), 1, 2}, sum);
    REQUIRE(own[0] == together[static_cast<std::size_t>(2 * i)]);
    REQUIRE(own[1] == together[static_cast<std::size_t>(2 * i + 1)]);
  }
  CHECK(together[10] == 0);  // row 5
  for (std::size_t k = 0; k < 2; ++k) CHECK(by_constants[k] == Approx(sum[k]).epsilon(1e-4).margin(1e-4));
}

TEST_CASE("a value network climbs half the mean squared error", "[agents][control]") {
  ValueObjective objective;
  const std::vector<float> targets{1, 2, 3, 4}, scale{0.5F, 0.5F, 0.5F, 0}, values{2.5F, 9};
  objective.set_rows({.rows = 2, .targets = targets, .scale = scale});
  std::vector<float> gradient(2);
  // Particle 1: −½ · ½ · (3 − 2.5)², slope ½ · 0.5; its second row does not count.
  CHECK(objective.score(1, 0, {values.data(), 2, 1}, {}, {gradient.data(), 2, 1}, {}) == Approx(-0.0625));
  CHECK(gradient == std::vector<float>{0.25F, 0});
}

TEST_CASE("a clip ratio below 0 is refused", "[agents][control]") {
  const auto law = policies::make_categorical(2);
  CHECK_ERROR(PolicyObjective(*law, 0, -0.1), usage, "clip ratio", "-0.1");
}
