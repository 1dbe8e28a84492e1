// Episodes that nobody learns from.
#include <stein/agents/control/evaluation.h>
#include <stein/core/parallel.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "agents/toy_control.h"
#include "core/error_matcher.h"

using namespace stein;
using namespace stein::agents;

namespace {

/// Three particles that always want the action 10, 20 and 30 whatever they see, with an sd of 1.
policies::ControlPolicy constant_policies() {
  policies::ControlPolicy::Options options{.particles = 3, .hidden = {}};
  options.posterior.flat_prior = true;
  policies::ControlPolicy policy(options, test::countdown()->spec(), 0);
  for (std::int64_t i = 0; i < 3; ++i) {
    std::ranges::fill(policy.particles().values().row(i), 0.0F);
    policy.particles().view("layer0.bias", i)(0, 0) = static_cast<float>(10 * (i + 1));
  }
  policy.refresh();
  return policy;
}

std::vector<std::vector<double>> numbers_of(const std::vector<FinishedEpisode>& episodes) {
  std::vector<std::vector<double>> all;
  all.reserve(episodes.size());
  for (const FinishedEpisode& episode : episodes)
    all.push_back({static_cast<double>(episode.particle), static_cast<double>(episode.length), episode.total_reward,
                   episode.discounted_reward, episode.terminated ? 1.0 : 0.0});
  return all;
}

}  // namespace

TEST_CASE("episodes are played by the particles that were asked for, in their order", "[agents][evaluation]") {
  const policies::ControlPolicy policy = constant_policies();
  const std::vector<std::int64_t> asked{2, 0, 2, 1, 0, 0, 2, 2, 1, 0, 1, 1};
  const double discount = 0.9;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto episodes = play_episodes(policy, *test::countdown(), asked, {.discount = discount, .seed = seed});
    REQUIRE(episodes.size() == asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const FinishedEpisode& episode = episodes[i];
      CHECK(episode.particle == asked[i]);
      // A countdown from c pays c, c − 1, … and a tenth of the action, 1, 2 or 3, a step. Of what starts above the
      // horizon only the return tells the start.
      CHECK((episode.length >= 1 && episode.length <= test::Countdown::horizon));
      const double bonus = static_cast<double>(asked[i] + 1);
      int found = 0;
      for (int start = 1; start <= test::Countdown::highest; ++start) {
        if (std::min(start, test::Countdown::horizon) != episode.length) continue;
        double total = 0, discounted = 0;
        for (int t = 0; t < episode.length; ++t) {
          total += start - t + bonus;
          discounted += std::pow(discount, t) * (start - t + bonus);
        }
        if (std::abs(episode.total_reward - total) > 1e-4) continue;
        ++found;
        CHECK(episode.discounted_reward == Approx(discounted).epsilon(1e-6));
        CHECK(episode.terminated == (start <= test::Countdown::horizon));
      }
      CHECK(found == 1);
    }
  }
  CHECK(play_episodes(policy, *test::countdown(), {}, {}).empty());
  EvaluationOptions stopped;
  stopped.stop.request_stop();
  CHECK(play_episodes(policy, *test::countdown(), {0, 1}, stopped)[1].length == 0);
}

TEST_CASE("deterministic episodes repeat, drawn ones differ by seed, neither by threads", "[agents][evaluation]") {
  const policies::ControlPolicy policy = constant_policies();
  const std::vector<std::int64_t> asked = every_particle(30, 3);
  const int before = thread_count();
  const auto play = [&](bool deterministic, std::uint64_t seed, int threads) {
    set_thread_count(threads);
    return numbers_of(play_episodes(policy, *test::countdown(), asked, {.deterministic = deterministic, .seed = seed}));
  };
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (const bool deterministic : {true, false}) {
      const auto first = play(deterministic, seed, 1);
      CHECK(play(deterministic, seed, 1) == first);
      CHECK(play(deterministic, seed, 2) == first);
      CHECK(play(deterministic, seed + 1, 1) != first);
      CHECK(play(!deterministic, seed, 1) != first);
    }
  set_thread_count(before);

  // Drawn actions vary about the same mean with sd 1: totals differ from those of the means by sums of a tenth of it.
  const auto means = play(true, 9, 1), drawn = play(false, 9, 1);
  double square = 0, steps = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    CHECK(drawn[i][1] == means[i][1]);
    square += std::pow(10 * (drawn[i][2] - means[i][2]), 2) / means[i][1];
    steps += 1;
  }
  CHECK(std::abs((square - steps) / std::sqrt(2 * steps)) < 6.1);
  set_thread_count(before);
}

TEST_CASE("the particles' episodes begin differently", "[agents][evaluation]") {
  const auto episodes = play_episodes(constant_policies(), *test::countdown(), every_particle(30, 3), {.seed = 4});
  std::map<std::int64_t, std::vector<std::int64_t>> lengths;
  for (const FinishedEpisode& episode : episodes) lengths[episode.particle].push_back(episode.length);
  CHECK(lengths[0] != lengths[1]);
  CHECK(lengths[1] != lengths[2]);
}

TEST_CASE("an episode is watched before its first step and after each one", "[agents][evaluation]") {
  const policies::ControlPolicy policy = constant_policies();
  std::mutex door;
  std::map<std::int64_t, std::vector<float>> seen;
  const std::vector<std::int64_t> asked{1, 0, 1, 2};
  const auto watch = [&](std::int64_t episode, const envs::VectorEnvironment& environment, std::int64_t slot) {
    const std::lock_guard lock(door);
    seen[episode].push_back(environment.observations()[static_cast<std::size_t>(slot)]);
  };
  const auto episodes = play_episodes(policy, *test::countdown(), asked, {.watch = watch});
  REQUIRE(seen.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::vector<float>& counts = seen[static_cast<std::int64_t>(i)];
    REQUIRE(std::ssize(counts) == episodes[i].length + 1);
    for (std::size_t t = 1; t + 1 < counts.size(); ++t) CHECK(counts[t] == counts[t - 1] - 1);
  }
}

TEST_CASE("particles are drawn uniformly, by seed", "[agents][evaluation]") {
  // Chi-square with 15 degrees of freedom beyond which a law is refused at 1e-8.
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::vector<double> counts(16);
    for (const std::int64_t particle : draw_particles(160'000, 16, seed))
      ++counts.at(static_cast<std::size_t>(particle));
    double chi_square = 0;
    for (const double count : counts) chi_square += (count - 10'000) * (count - 10'000) / 10'000;
    CHECK(chi_square < 70);
  }
  CHECK(draw_particles(50, 16, 3) == draw_particles(50, 16, 3));
  CHECK(draw_particles(50, 16, 3) != draw_particles(50, 16, 4));
  CHECK(every_particle(2, 3) == std::vector<std::int64_t>{0, 0, 1, 1, 2, 2});
}

TEST_CASE("a particle that the policy does not have cannot play", "[agents][evaluation]") {
  const policies::ControlPolicy policy = constant_policies();
  CHECK_ERROR(play_episodes(policy, *test::countdown(), {0, 3}, {}), usage, "from 0 to 2", "got 3");
  CHECK_ERROR(play_episodes(policy, *test::countdown(), {-1}, {}), usage, "from 0 to 2", "got -1");
}

TEST_CASE("returns of particles are the means of their own episodes", "[agents][evaluation]") {
  const policies::ControlPolicy policy = constant_policies();
  const EvaluationOptions options{.seed = 3};
  const std::vector<double> found = particle_returns(policy, *test::countdown(), 12, options);
  const auto episodes = play_episodes(policy, *test::countdown(), every_particle(4, 3), options);
  std::vector<double> expected(3);
  for (const FinishedEpisode& episode : episodes)
    expected[static_cast<std::size_t>(episode.particle)] += episode.total_reward / 4;
  REQUIRE(found.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(found[i] == Approx(expected[i]));
  CHECK(expected[0] != Approx(expected[1]));
}

TEST_CASE("particles of one policy draw different actions", "[agents][evaluation]") {
  policies::ControlPolicy policy = constant_policies();
  for (std::int64_t i = 0; i < 3; ++i) policy.particles().view("layer0.bias", i)(0, 0) = 10;
  policy.refresh();
  const auto played = [&](std::int64_t particle) {
    return play_episodes(policy, *test::countdown(), {particle}, {.deterministic = false, .seed = 3}).front();
  };
  CHECK(played(0).length == played(1).length);  // from the same start
  CHECK(played(0).total_reward != played(1).total_reward);
}
