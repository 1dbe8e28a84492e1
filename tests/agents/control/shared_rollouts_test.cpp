// Rollouts that particles share: weights against their formula, and limits that they must have.
#include <stein/agents/control/shared_rollouts.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "agents/toy_control.h"

using namespace stein;
using namespace stein::agents;

namespace {

constexpr std::int64_t particles = 3, rows = 4;

/// Linear policies on the two-state task; logits of the two actions in state 0 differ by `odds` of the particle.
policies::ControlPolicy linear_policy_of(const std::vector<float>& odds) {
  policies::ControlPolicy::Options options{.particles = particles, .hidden = {}, .discrete = true};
  options.posterior.flat_prior = true;
  policies::ControlPolicy policy(options, test::two_states()->spec(), 0);
  for (std::int64_t i = 0; i < particles; ++i) {
    std::ranges::fill(policy.particles().values().row(i), 0.0F);
    policy.particles().view("layer0.weight", i)(0, 1) = odds[static_cast<std::size_t>(i)];
  }
  policy.refresh();
  return policy;
}

/// Every particle was in state 0 all the time and chose 0, 1, 1, 1; the last row of particle 2 only fills up.
ExperienceRows experience_of(const policies::ControlPolicy& policy) {
  ExperienceRows all;
  all.rows = rows;
  for (std::int64_t i = 0; i < particles; ++i)
    for (std::int64_t k = 0; k < rows; ++k) {
      const bool counts = i < 2 || k < 3;
      all.observations.insert(all.observations.end(), {1, 0});
      all.actions.push_back(k == 0 ? 0 : 1);
      all.times.push_back(static_cast<float>(k));
      all.scale.push_back(counts ? 1.0F / static_cast<float>(i < 2 ? 4 : 3) : 0);
      all.advantages.push_back(static_cast<float>(10 * i + k));
      all.targets.push_back(0);
      float outputs[2];
      const float seen[2]{1, 0};
      std::vector<float> density(1);
      policy.distribution().log_density(policy.parameters(i, {seen, 1, 2}, {outputs, 1, 2}),
                                        {&all.actions.back(), 1, 1}, density);
      all.log_density.push_back(density[0]);
    }
  return all;
}

/// π(action | state 0) of a particle.
double chance(float odds, int action) {
  const double one = 1 / (1 + std::exp(-double{odds}));
  return action == 1 ? one : 1 - one;
}

}  // namespace

TEST_CASE("shared rows are weighed with clipped importance ratios whose sum is 1", "[agents][shared]") {
  const std::vector<float> odds{-1, 0.5F, 2};
  const policies::ControlPolicy policy = linear_policy_of(odds);
  const ExperienceRows all = experience_of(policy);
  for (const double limit : {1.0, 1.3}) {
    SharedRollouts shared(limit);
    shared.take(policy, all);
    const std::vector<std::int64_t> chosen{1, 0, 3};
    for (const bool some : {false, true}) {
      ExperienceRows picked = all;
      if (some) {
        picked = {};
        picked.rows = 3;
        for (std::size_t i = 0; i < particles; ++i)
          for (const std::int64_t k : chosen) {
            const std::size_t from = i * rows + static_cast<std::size_t>(k);
            picked.observations.insert(picked.observations.end(), {1, 0});
            picked.actions.push_back(all.actions[from]), picked.times.push_back(all.times[from]);
            picked.scale.push_back(all.scale[from]), picked.advantages.push_back(all.advantages[from]);
            picked.targets.push_back(0), picked.log_density.push_back(all.log_density[from]);
          }
      }
      const ExperienceRows& pooled = some ? shared.pool(picked, chosen) : shared.pool(picked);
      REQUIRE(pooled.rows == particles * picked.rows);
      double share = 0;  // (Σ w)²/Σ w² of the eleven rows that count
      for (std::size_t i = 0; i < particles; ++i) {
        std::vector<double> weights;
        double sum = 0, squares = 0;
        for (std::size_t row = 0; row < static_cast<std::size_t>(pooled.rows); ++row) {
          const std::size_t j = row / static_cast<std::size_t>(picked.rows);
          const int action = static_cast<int>(picked.actions[row]);
          const double ratio = chance(odds[i], action) / chance(odds[j], action);
          weights.push_back(picked.scale[row] == 0 ? 0 : std::min(ratio, limit));
          sum += weights.back(), squares += weights.back() * weights.back();
        }
        share += sum * sum / squares / 11 / particles;
        for (std::size_t row = 0; row < weights.size(); ++row) {
          const std::size_t at = i * weights.size() + row;
          CAPTURE(limit, some, i, row);
          CHECK(pooled.scale[at] == Approx(weights[row] / sum).epsilon(1e-5));
          CHECK(pooled.advantages[at] == picked.advantages[row]);
          CHECK(pooled.actions[at] == picked.actions[row]);
          CHECK(pooled.times[at] == picked.times[row]);
          CHECK(pooled.log_density[at] ==
                Approx(std::log(chance(odds[i], static_cast<int>(picked.actions[row])))).epsilon(1e-5));
        }
      }
      if (!some) CHECK(shared.effective_share() == Approx(share).epsilon(1e-5));
    }
  }
}

TEST_CASE("particles of one policy share all rows, and those of unlike policies none", "[agents][shared]") {
  const policies::ControlPolicy alike = linear_policy_of({1, 1, 1});
  SharedRollouts shared(1);
  const ExperienceRows all = experience_of(alike);
  shared.take(alike, all);
  CHECK(shared.effective_share() == Approx(1));
  // Each particle takes the one action nearly always; of eleven rows that count it has those of its own kind.
  const policies::ControlPolicy unlike = linear_policy_of({-30, 30, 0});
  const ExperienceRows others = experience_of(unlike);
  shared.take(unlike, others);
  const ExperienceRows& pooled = shared.pool(others);
  CHECK(pooled.scale[4] == Approx(pooled.scale[0]).epsilon(1e-5));  // particle 0 of action 0, its own and that of 1
  CHECK(pooled.scale[5] == Approx(0).margin(1e-6));                 // particle 0 of action 1, that of particle 1
}
