// What learners are given: every row that counts once, with the advantages that its own path and values say.
#include <stein/agents/control/experience.h>
#include <stein/core/parallel.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "agents/toy_control.h"

using namespace stein;
using namespace stein::agents;

namespace {

constexpr double discount = 0.9;
constexpr RolloutShape paths_of_experience{
    .particles = 3, .slots = 70, .steps = 10, .whole_paths = true, .discount = discount},
    stretch_of_experience{.particles = 3, .slots = 70, .steps = 4, .discount = discount};

/// A line in the count, another one for every particle.
class Lines final : public Baseline {
 public:
  static double value(std::int64_t particle, double count) {
    return 0.5 * static_cast<double>(particle) - 1 + 0.7 * count;
  }
  void predict(std::int64_t particle, inference::MatrixView<const float> observations, std::span<const float>,
               std::span<float> values) override {
    for (std::int64_t row = 0; row < observations.rows; ++row)
      values[static_cast<std::size_t>(row)] = static_cast<float>(value(particle, double{observations(row, 0)}));
  }
};

/// Says that everything is worth nothing.
class Zeros final : public Baseline {
 public:
  void predict(std::int64_t, inference::MatrixView<const float>, std::span<const float>,
               std::span<float> values) override {
    std::ranges::fill(values, 0.0F);
  }
};

/// The rows of a particle that count, in the order shard, step, slot: [shard, row].
std::vector<std::pair<const RolloutShard*, std::size_t>> counted(const Rollouts& rollouts, std::int64_t particle) {
  std::vector<std::pair<const RolloutShard*, std::size_t>> rows;
  for (const RolloutShard& shard : rollouts.shards())
    for (std::size_t row = 0; shard.particle == particle && row < static_cast<std::size_t>(shard.rows()); ++row)
      if (shard.counts[row] == 1) rows.emplace_back(&shard, row);
  return rows;
}

/// Σ_k (γλ)^k δ_{t+k} of a row (Schulman et al. 2016, eq. 16), step by step through what happened.
double advantage_of(const RolloutShard& shard, std::size_t row, double lambda, bool horizon_is_an_end) {
  const auto slots = static_cast<std::size_t>(shard.slots), end = static_cast<std::size_t>(shard.rows());
  double sum = 0, factor = 1;
  for (std::size_t i = row; i < end; i += slots, factor *= discount * lambda) {
    double next = 0;
    if (shard.truncated[i] == 1) {
      const auto k = std::ranges::find(shard.final_rows, static_cast<std::int64_t>(i)) - shard.final_rows.begin();
      REQUIRE(k < std::ssize(shard.final_rows));
      if (!horizon_is_an_end)
        next = Lines::value(shard.particle, double{shard.final_observations[static_cast<std::size_t>(k)]});
    } else if (shard.terminated[i] == 0 && i + slots < end) {
      next = Lines::value(shard.particle, double{shard.observations[i + slots]});
    } else if (shard.terminated[i] == 0 && !horizon_is_an_end) {
      next = Lines::value(shard.particle, double{shard.next_observations[i % slots]});
    }
    sum += factor *
           (double{shard.rewards[i]} + discount * next - Lines::value(shard.particle, double{shard.observations[i]}));
    if (shard.terminated[i] + shard.truncated[i] > 0) break;
  }
  return sum;
}

std::size_t index(std::int64_t row) {
  return static_cast<std::size_t>(row);
}

}  // namespace

TEST_CASE("experience holds every row that counts once and weighs particles alike", "[agents][experience]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  Lines lines;
  for (const RolloutShape& shape : {paths_of_experience, stretch_of_experience}) {
    Rollouts rollouts(*test::countdown(), shape, 7);
    Experience experience({.discount = discount}, rollouts);
    for (int collection = 0; collection < 3; ++collection) {
      rollouts.collect(policy);
      experience.take(rollouts, policy, lines);
      const ExperienceRows& all = experience.all();
      std::int64_t most = 0, fewest = all.rows;
      for (std::int64_t particle = 0; particle < 3; ++particle) {
        const auto rows = counted(rollouts, particle);
        const auto count = std::ssize(rows);
        most = std::max(most, count), fewest = std::min(fewest, count);
        REQUIRE(count <= all.rows);
        double sum = 0, squares = 0;
        for (std::int64_t k = 0; k < all.rows; ++k) {
          const std::size_t to = index(particle * all.rows + k);
          if (k >= count) {  // a row that fills up
            CHECK(all.scale[to] == 0);
            CHECK(all.advantages[to] == 0);
            continue;
          }
          const auto& [shard, row] = rows[index(k)];
          REQUIRE(all.observations[to] == shard->observations[row]);
          REQUIRE(all.actions[to] == shard->actions[row]);
          REQUIRE(all.times[to] == shard->times[row]);
          REQUIRE(all.scale[to] == 1 / static_cast<float>(count));
          sum += double{all.advantages[to]}, squares += std::pow(double{all.advantages[to]}, 2);
        }
        // Advantages have mean 0 and sd 1 over the rows that count.
        CHECK(sum / static_cast<double>(count) == Approx(0).margin(1e-5));
        CHECK(squares / static_cast<double>(count) == Approx(1).epsilon(0.01));
      }
      CHECK(all.rows == most);
      CHECK((fewest < most) == shape.whole_paths);
    }
  }
}

TEST_CASE("an advantage is of its own path, whose cut is looked beyond unless the horizon is an end",
          "[agents][experience]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  Lines lines;
  for (const RolloutShape& shape : {paths_of_experience, stretch_of_experience})
    for (const bool horizon_is_an_end : {false, true}) {
      Rollouts rollouts(*test::countdown(), shape, 7);
      Experience experience({.discount = discount,
                             .gae_lambda = 0.8,
                             .horizon_is_an_end = horizon_is_an_end,
                             .normalize_advantages = false},
                            rollouts);
      std::int64_t truncated = 0, unlike = 0;
      for (int collection = 0; collection < 3; ++collection) {
        rollouts.collect(policy);
        experience.take(rollouts, policy, lines);
        for (std::int64_t particle = 0; particle < 3; ++particle) {
          std::int64_t to = particle * experience.all().rows;
          for (const auto& [shard, row] : counted(rollouts, particle)) {
            const double expected = advantage_of(*shard, row, 0.8, horizon_is_an_end);
            REQUIRE(experience.all().advantages[index(to)] == Approx(expected).epsilon(1e-5).margin(1e-4));
            REQUIRE(
                experience.all().targets[index(to)] ==
                Approx(expected + Lines::value(particle, double{shard->observations[row]})).epsilon(1e-5).margin(1e-4));
            truncated += shard->truncated[row] == 1 ? 1 : 0;
            unlike += std::abs(expected - advantage_of(*shard, row, 0.8, !horizon_is_an_end)) > 0.1 ? 1 : 0;
            ++to;
          }
        }
      }
      CHECK(truncated > 50);
      CHECK(unlike > 200);  // so the other reading would have been seen
    }
}

TEST_CASE("rewards are divided by the running sd of their discounted sums", "[agents][experience]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  Zeros zeros;
  for (const RolloutShape& shape : {paths_of_experience, stretch_of_experience}) {
    Rollouts rollouts(*test::countdown(), shape, 7);
    Experience experience(
        {.discount = discount, .gae_lambda = 0, .normalize_advantages = false, .normalize_rewards = true}, rollouts);
    std::map<std::pair<const RolloutShard*, std::size_t>, double> running;  // by shard and slot
    std::vector<double> sums;
    for (int collection = 0; collection < 4; ++collection) {
      rollouts.collect(policy);
      experience.take(rollouts, policy, zeros);
      for (std::int64_t particle = 0; particle < 3; ++particle)
        for (const auto& [shard, row] : counted(rollouts, particle)) {
          double& sum = running[{shard, row % index(shard->slots)}];
          sum = discount * sum + double{shard->rewards[row]};
          sums.push_back(sum);
          if (shard->terminated[row] + shard->truncated[row] > 0) sum = 0;
        }
      double mean = 0, variance = 0;
      for (const double sum : sums) mean += sum / static_cast<double>(sums.size());
      for (const double sum : sums) variance += (sum - mean) * (sum - mean) / static_cast<double>(sums.size());
      // With λ = 0 and values of 0 an advantage is the reward that is learned from.
      for (std::int64_t particle = 0; particle < 3; ++particle) {
        std::int64_t to = particle * experience.all().rows;
        for (const auto& [shard, row] : counted(rollouts, particle))
          REQUIRE(experience.all().advantages[index(to++)] ==
                  Approx(std::clamp(double{shard->rewards[row]} / std::sqrt(variance), -10.0, 10.0)).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("picked rows are those asked for and weigh as much as all", "[agents][experience]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  Lines lines;
  Rollouts rollouts(*test::countdown(), stretch_of_experience, 7);
  Experience experience({.discount = discount}, rollouts);
  rollouts.collect(policy);
  experience.take(rollouts, policy, lines);
  ExperienceRows& all = experience.all();
  REQUIRE(all.rows == 280);
  fill_normal(std::span<float>(all.log_density), {.seed = 5}, 0);
  const std::vector<std::int64_t> chosen{7, 279, 0, 33, 34, 120, 5};
  const ExperienceRows& picked = experience.pick(chosen);
  REQUIRE(picked.rows == 7);
  for (std::int64_t particle = 0; particle < 3; ++particle) {
    float weight = 0;
    for (std::int64_t k = 0; k < 7; ++k) {
      const std::size_t to = index(particle * 7 + k), from = index(particle * 280 + chosen[index(k)]);
      CHECK(picked.observations[to] == all.observations[from]);
      CHECK(picked.actions[to] == all.actions[from]);
      CHECK(picked.times[to] == all.times[from]);
      CHECK(picked.advantages[to] == all.advantages[from]);
      CHECK(picked.targets[to] == all.targets[from]);
      CHECK(picked.log_density[to] == all.log_density[from]);
      weight += picked.scale[to];
    }
    CHECK(weight == Approx(1));
  }
}

TEST_CASE("the length of a path is its own where paths are whole, else that of the last hundred",
          "[agents][experience]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  Lines lines;
  SECTION("whole") {
    Rollouts rollouts(*test::countdown(), paths_of_experience, 7);
    Experience experience({.discount = discount}, rollouts);
    rollouts.collect(policy);
    experience.take(rollouts, policy, lines);
    for (std::int64_t particle = 0; particle < 3; ++particle) {
      double length = 0, number = 0;
      for (const RolloutShard& shard : rollouts.shards())
        for (const FinishedEpisode& episode : shard.episodes)
          if (shard.particle == particle) length += static_cast<double>(episode.length), number += 1;
      CHECK(experience.steps_per_path(particle) == Approx(length / number));
    }
    CHECK(experience.steps_per_path(0) != experience.steps_per_path(1));
  }
  SECTION("running") {
    RolloutShape one = stretch_of_experience;
    one.steps = 1, one.slots = 3;
    Rollouts rollouts(*test::countdown(), one, 7);
    Experience experience({.discount = discount}, rollouts);
    std::deque<double> last;
    for (int collection = 0; collection < 80; ++collection) {
      rollouts.collect(policy);
      experience.take(rollouts, policy, lines);
      for (const RolloutShard& shard : rollouts.shards())
        for (const FinishedEpisode& episode : shard.episodes) last.push_back(static_cast<double>(episode.length));
      while (last.size() > 100) last.pop_front();
      double mean = test::Countdown::horizon;  // before any has ended
      if (!last.empty()) mean = 0;
      for (const double length : last) mean += length / static_cast<double>(last.size());
      for (std::int64_t particle = 0; particle < 3; ++particle)
        REQUIRE(experience.steps_per_path(particle) == Approx(mean));
    }
    CHECK(last.size() == 100);
  }
}

TEST_CASE("experience goes on from a snapshot with the same bits, at any number of threads", "[agents][experience]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  Lines lines;
  const Experience::Options options{.discount = discount, .normalize_rewards = true};
  const int before = thread_count();
  Rollouts rollouts(*test::countdown(), stretch_of_experience, 7);
  Experience whole(options, rollouts), second(options, rollouts);
  for (int collection = 0; collection < 3; ++collection) rollouts.collect(policy), whole.take(rollouts, policy, lines);
  second.restore(test::snapshot_of(whole));
  for (int collection = 0; collection < 3; ++collection) {
    rollouts.collect(policy);
    set_thread_count(1);
    whole.take(rollouts, policy, lines);
    set_thread_count(5);
    second.take(rollouts, policy, lines);
    set_thread_count(before);
    CHECK(second.all().advantages == whole.all().advantages);
    CHECK(second.all().targets == whole.all().targets);
    CHECK(second.steps_per_path(1) == whole.steps_per_path(1));
  }
}

TEST_CASE("rewards that are all alike are limited to ten of what they are divided by", "[agents][experience]") {
  // The first step of CartPole pays 1 in every slot: nothing varies, and 1/√1e-8 is 10,000.
  policies::ControlPolicy::Options small{.hidden = {4}, .discrete = true};
  small.posterior.flat_prior = true;
  const auto cart_pole = envs::controls().at("CartPole-v1").builder();
  const policies::ControlPolicy policy(small, cart_pole->spec(), 3);
  Zeros zeros;
  Rollouts rollouts(*cart_pole, {.particles = 1, .slots = 3, .steps = 1}, 7);
  Experience experience({.gae_lambda = 0, .normalize_advantages = false, .normalize_rewards = true}, rollouts);
  rollouts.collect(policy);
  experience.take(rollouts, policy, zeros);
  CHECK(experience.all().advantages == std::vector<float>(3, 10.0F));
}

TEST_CASE("advantages that are normalised together keep how far particles are apart", "[agents][experience]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  Lines lines;  // foresees more of one particle's returns than of another's
  Rollouts rollouts(*test::countdown(), paths_of_experience, 7);
  rollouts.collect(policy);
  Experience plain({.discount = discount, .normalize_advantages = false}, rollouts),
      together({.discount = discount, .normalize_together = true}, rollouts);
  plain.take(rollouts, policy, lines), together.take(rollouts, policy, lines);
  const ExperienceRows &raw = plain.all(), &all = together.all();
  double count = 0, mean = 0, square = 0, first = 0, first_count = 0;
  for (std::size_t row = 0; row < raw.scale.size(); ++row) {
    if (raw.scale[row] == 0) continue;
    count += 1, mean += double{raw.advantages[row]};
    if (row < index(raw.rows)) first += double{raw.advantages[row]}, first_count += 1;
  }
  mean /= count;
  for (std::size_t row = 0; row < raw.scale.size(); ++row)
    if (raw.scale[row] != 0) square += std::pow(double{raw.advantages[row]} - mean, 2) / count;
  CHECK(std::abs(first / first_count - mean) > 0.1);
  for (std::size_t row = 0; row < raw.scale.size(); ++row)
    CHECK(double{all.advantages[row]} ==
          Approx(raw.scale[row] == 0 ? 0 : (double{raw.advantages[row]} - mean) / std::sqrt(square)).margin(1e-4));
}
