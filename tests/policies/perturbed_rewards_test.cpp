// Noise of particles' own on rewards: whose it is, how large, and that it stays.
#include <stein/policies/perturbed_rewards.h>

#include <catch2/catch.hpp>
#include <cmath>

using namespace stein;
using namespace stein::policies;

namespace {

/// Rows with numbers first, first + 1, … whose rewards are all 5.
struct Rows {
  std::vector<float> targets, weights;
  std::vector<std::int32_t> actions;
  std::vector<std::int64_t> numbers;
  InteractionBatch interactions;
  inference::Batch<float> batch;

  Rows(std::int64_t first, std::int64_t count) : targets(count, 5.0F) {
    for (std::int64_t i = 0; i < count; ++i) {
      actions.push_back(static_cast<std::int32_t>((first + i) % 2));
      numbers.push_back(first + i);
    }
    interactions = {.actions = actions, .numbers = numbers, .rows = count, .window = count};
    batch.targets = {targets.data(), count, 1};
    batch.rows = count;
  }
};

double precision_of(std::int64_t arm) {
  return arm == 0 ? 4 : 0.25;
}

}  // namespace

TEST_CASE("each particle's noise has the precision of the arm, and is independent of that of others",
          "[policies][noise]") {
  Rows rows(0, 4000);
  PerturbedRewards perturbed(3, 2);
  perturbed.apply(rows.interactions, precision_of, rows.batch);
  REQUIRE(rows.batch.targets_per_particle);
  REQUIRE(rows.batch.targets.rows == 8000);
  double square[2][2] = {}, product = 0;
  for (std::int64_t r = 0; r < 4000; ++r) {
    for (std::int64_t i = 0; i < 2; ++i)
      square[i][r % 2] += std::pow(double{rows.batch.targets(i * 4000 + r, 0)} - 5, 2) / 2000;
    product += (double{rows.batch.targets(r, 0)} - 5) * (double{rows.batch.targets(4000 + r, 0)} - 5) / 4000;
  }
  const double bound = 6 * std::sqrt(2.0 / 2000);
  for (std::int64_t i = 0; i < 2; ++i) {
    CHECK(square[i][0] == Approx(0.25).epsilon(bound));
    CHECK(square[i][1] == Approx(4).epsilon(bound));
  }
  CHECK(std::abs(product) < 6 * std::sqrt((0.25 * 0.25 + 16) / 2 / 4000));
}

TEST_CASE("an interaction has the same noise in every minibatch, and its weight is that of several",
          "[policies][noise]") {
  Rows all(0, 100), some(40, 10), heavy(40, 10);
  PerturbedRewards perturbed(3, 4), again(3, 4), weighted(3, 4);
  perturbed.apply(all.interactions, precision_of, all.batch);
  again.apply(some.interactions, precision_of, some.batch);
  heavy.weights.assign(10, 9.0F);
  heavy.interactions.weights = heavy.weights;
  weighted.apply(heavy.interactions, precision_of, heavy.batch);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t r = 0; r < 10; ++r) {
      CHECK(some.batch.targets(i * 10 + r, 0) == all.batch.targets(i * 100 + 40 + r, 0));
      CHECK(3 * (heavy.batch.targets(i * 10 + r, 0) - 5) == Approx(some.batch.targets(i * 10 + r, 0) - 5).margin(1e-5));
    }
}

TEST_CASE("noise comes on top of targets that particles have of their own", "[policies][noise]") {
  Rows plain(0, 3), own(0, 3);
  PerturbedRewards perturbed(3, 2), again(3, 2);
  perturbed.apply(plain.interactions, precision_of, plain.batch);
  own.targets = {1, 2, 3, 10, 20, 30};
  own.batch.targets = {own.targets.data(), 6, 1};
  own.batch.targets_per_particle = true;
  again.apply(own.interactions, precision_of, own.batch);
  for (std::int64_t row = 0; row < 6; ++row)
    CHECK(own.batch.targets(row, 0) - own.targets[static_cast<std::size_t>(row)] ==
          Approx(plain.batch.targets(row, 0) - 5).margin(1e-5));
}
