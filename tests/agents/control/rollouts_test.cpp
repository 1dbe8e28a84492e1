// What is collected: whole paths and running ones, the same at any number of threads and after a restart.
#include <stein/agents/control/rollouts.h>
#include <stein/core/parallel.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "agents/toy_control.h"
#include "core/error_matcher.h"

using namespace stein;
using namespace stein::agents;
using test::Countdown;

namespace {

constexpr RolloutShape paths{.particles = 3, .slots = 70, .steps = 10, .whole_paths = true, .discount = 0.9},
    stretch{.particles = 3, .slots = 70, .steps = 4, .discount = 0.9},
    staggered{.particles = 3, .slots = 70, .steps = 4, .discount = 0.9, .staggered = true};

/// A path of one slot as the rows tell it.
struct Path {
  std::int64_t slot = 0, begin = 0, length = 0;
  double total = 0, discounted = 0, counted = 0;
  bool ended = false, terminated = false;
};

/// The paths of a shard of whole paths, in the order of their ends and slots; those without an end last.
std::vector<Path> paths_of(const RolloutShard& shard, double discount) {
  std::vector<Path> all;
  for (std::int64_t slot = 0; slot < shard.slots; ++slot)
    for (std::int64_t t = 0; t < shard.steps; ++t) {
      const auto row = static_cast<std::size_t>(t * shard.slots + slot);
      if (t == 0 || all.back().ended) all.push_back({.slot = slot, .begin = t});
      Path& path = all.back();
      REQUIRE(shard.times[row] == static_cast<float>(path.length));
      path.total += shard.rewards[row];
      path.discounted += std::pow(discount, static_cast<double>(path.length)) * double{shard.rewards[row]};
      path.counted += shard.counts[row];
      path.length += 1;
      path.terminated = shard.terminated[row] == 1;
      path.ended = path.terminated || shard.truncated[row] == 1;
    }
  std::ranges::stable_sort(all, [](const Path& a, const Path& b) {
    return std::pair(a.begin + a.length, a.slot) < std::pair(b.begin + b.length, b.slot);
  });
  return all;
}

/// Everything that a shard holds, for comparisons of bits.
std::vector<std::vector<float>> contents(const Rollouts& rollouts) {
  std::vector<std::vector<float>> all;
  for (const RolloutShard& shard : rollouts.shards()) {
    for (const auto* numbers : {&shard.observations, &shard.actions, &shard.rewards, &shard.terminated,
                                &shard.truncated, &shard.counts, &shard.times})
      all.emplace_back(numbers->begin(), numbers->begin() + shard.rows());
    for (const auto* numbers : {&shard.final_observations, &shard.next_observations, &shard.episode_times})
      all.push_back(*numbers);
    std::vector<float> episodes{static_cast<float>(shard.steps)};
    for (const std::int64_t row : shard.final_rows) episodes.push_back(static_cast<float>(row));
    for (const FinishedEpisode& episode : shard.episodes)
      episodes.insert(episodes.end(),
                      {static_cast<float>(episode.length), static_cast<float>(episode.total_reward),
                       static_cast<float>(episode.discounted_reward), episode.terminated ? 1.0F : 0.0F});
    all.push_back(episodes);
  }
  return all;
}

}  // namespace

TEST_CASE("every path that began within the steps is played to its end and counted once", "[agents][rollouts]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Rollouts rollouts(*test::countdown(), paths, seed);
    std::int64_t counted = 0, truncated = 0;
    for (int collection = 0; collection < 3; ++collection) {
      rollouts.collect(policy);
      REQUIRE(rollouts.shards().size() == 6);
      for (const RolloutShard& shard : rollouts.shards()) {
        CHECK((shard.first_slot == 0 ? shard.slots == 64 : shard.slots == 6));
        std::size_t episode = 0, last = 0;
        double counted_at_the_end = 0;
        for (const Path& path : paths_of(shard, paths.discount)) {
          const bool counts = path.begin < paths.steps;
          REQUIRE(path.counted == static_cast<double>(counts ? path.length : 0));
          if (!counts) continue;
          REQUIRE(path.ended);
          REQUIRE(episode < shard.episodes.size());
          const FinishedEpisode& found = shard.episodes[episode++];
          CHECK(found.particle == shard.particle);
          CHECK(found.length == path.length);
          CHECK(found.terminated == path.terminated);
          CHECK(found.total_reward == Approx(path.total).epsilon(1e-5));
          CHECK(found.discounted_reward == Approx(path.discounted).epsilon(1e-5));
          counted += path.length;
          counted_at_the_end += path.begin + path.length == shard.steps ? 1 : 0;
          if (path.terminated) continue;
          // Cut off at the horizon: the row of its last step, and what was seen after it, 7 … 9 less 6.
          const std::int64_t row = (path.begin + path.length - 1) * shard.slots + path.slot;
          REQUIRE(last < shard.final_rows.size());
          CHECK(shard.final_rows[last] == row);
          CHECK(shard.final_observations[last] == shard.observations[static_cast<std::size_t>(row)] - 1);
          CHECK(path.length == Countdown::horizon);
          ++last, ++truncated;
        }
        CHECK(episode == shard.episodes.size());
        CHECK(last == shard.final_rows.size());
        CHECK(shard.steps >= paths.steps);
        if (shard.steps > paths.steps) CHECK(counted_at_the_end > 0);  // and no step is taken for nothing
      }
      CHECK(rollouts.total_steps() == counted);
    }
    CHECK(truncated > 100);
  }
}

TEST_CASE("paths begin anew in every collection, otherwise they go on", "[agents][rollouts]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  Rollouts anew(*test::countdown(), paths, 1), running(*test::countdown(), stretch, 1);
  anew.collect(policy);
  const std::vector<float> before = anew.shards().front().observations;
  anew.collect(policy);
  CHECK(anew.shards().front().observations != before);
  for (std::int64_t slot = 0; slot < 64; ++slot)
    CHECK(anew.shards().front().times[static_cast<std::size_t>(slot)] == 0);

  // Returns of running episodes across collections, followed by hand.
  std::vector<std::vector<double>> total(6), discounted(6), length(6);
  for (std::size_t i = 0; i < 6; ++i)
    for (auto* sums : {&total, &discounted, &length}) (*sums)[i].resize(64);
  std::vector<std::vector<float>> next(6);
  for (int collection = 0; collection < 5; ++collection) {
    running.collect(policy);
    CHECK(running.total_steps() == (collection + 1) * 3 * 70 * 4);
    for (std::size_t i = 0; i < 6; ++i) {
      const RolloutShard& shard = running.shards()[i];
      CHECK(shard.steps == 4);
      if (collection > 0) CHECK(std::equal(next[i].begin(), next[i].end(), shard.observations.begin()));
      next[i] = shard.next_observations;
      std::size_t episode = 0;
      for (std::int64_t row = 0; row < shard.rows(); ++row) {
        const auto r = static_cast<std::size_t>(row), s = static_cast<std::size_t>(row % shard.slots);
        REQUIRE(shard.counts[r] == 1);
        REQUIRE(shard.times[r] == length[i][s]);
        total[i][s] += shard.rewards[r];
        discounted[i][s] += std::pow(stretch.discount, length[i][s]) * double{shard.rewards[r]};
        length[i][s] += 1;
        if (shard.terminated[r] + shard.truncated[r] == 0) continue;
        REQUIRE(episode < shard.episodes.size());
        CHECK(static_cast<double>(shard.episodes[episode].length) == length[i][s]);
        CHECK(shard.episodes[episode].total_reward == Approx(total[i][s]).epsilon(1e-5));
        CHECK(shard.episodes[episode].discounted_reward == Approx(discounted[i][s]).epsilon(1e-5));
        ++episode;
        total[i][s] = discounted[i][s] = length[i][s] = 0;
      }
      CHECK(episode == shard.episodes.size());
    }
  }
}

TEST_CASE("a particle plays the same beside others as alone, and others play otherwise", "[agents][rollouts]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  RolloutShape alone = stretch;
  alone.particles = 1;
  Rollouts together(*test::countdown(), stretch, 2), single(*test::countdown(), alone, 2);
  for (int collection = 0; collection < 3; ++collection) together.collect(policy), single.collect(policy);
  const auto all = contents(together), own = contents(single);
  for (std::size_t i = 0; i < own.size(); ++i) CHECK(own[i] == all[i]);
  CHECK(together.shards()[0].actions != together.shards()[2].actions);
  CHECK(together.shards()[0].observations != together.shards()[2].observations);
}

TEST_CASE("every slot of a particle draws its own actions, in every collection", "[agents][rollouts]") {
  policies::ControlPolicy policy = test::countdown_policy(1);
  std::ranges::fill(policy.particles().values().row(0), 0.0F);  // an action is its noise, whatever is seen
  policy.refresh();
  RolloutShape shape = GENERATE(paths, stretch);
  shape.particles = 1;
  Rollouts rollouts(*test::countdown(), shape, 2);
  std::set<float> drawn;
  std::int64_t actions = 0;
  for (int collection = 0; collection < 3; ++collection) {
    rollouts.collect(policy);
    REQUIRE(rollouts.shards().size() > 1);
    for (const RolloutShard& shard : rollouts.shards()) {
      drawn.insert(shard.actions.begin(), shard.actions.begin() + shard.rows());
      actions += shard.rows();
    }
  }
  // Of some thousand floats hardly any two are alike by chance; of those that are drawn twice all are.
  CHECK(std::ssize(drawn) >= actions - 5);
}

TEST_CASE("the first episodes of staggered slots count as older, evenly within a particle and over all",
          "[agents][rollouts]") {
  const RolloutShape few{.particles = 2, .slots = 3, .staggered = true};
  // Places 0 … 5 of a horizon of 12: slot by slot, and within a slot particle by particle.
  CHECK(ages_at_start(few, 12) == std::vector<float>{0, 4, 8, 2, 6, 10});
  CHECK(ages_at_start(few, 3) == std::vector<float>{0, 1, 2, 0, 1, 2});
  RolloutShape none = few;
  none.staggered = false;
  CHECK(ages_at_start(none, 12) == std::vector<float>(6, 0.0F));
}

TEST_CASE("staggered slots are truncated at different steps, and the episodes that this cut short are not counted",
          "[agents][rollouts]") {
  constexpr std::int64_t horizon = 200;
  const auto pendulum = envs::controls().at("Pendulum-v1").builder();  // no episode ends before the horizon
  policies::ControlPolicy::Options options{.particles = 2, .hidden = {4}};
  options.posterior.flat_prior = true;
  const policies::ControlPolicy policy(options, pendulum->spec(), 3);
  OptionTable table;
  pendulum->describe(table);
  table.set("normalize_actions", "true");
  const RolloutShape shape{.particles = 2, .slots = 4, .steps = 450, .staggered = true};
  Rollouts rollouts(*pendulum, shape, 1);
  rollouts.collect(policy);
  for (const RolloutShard& shard : rollouts.shards()) {
    std::size_t ends = 0;
    for (std::int64_t slot = 0; slot < 4; ++slot) {
      const std::int64_t age = (slot * 2 + shard.particle) * horizon / 8;
      for (std::int64_t t = 0; t < shape.steps; ++t) {
        const auto row = static_cast<std::size_t>(t * 4 + slot);
        REQUIRE(shard.times[row] == static_cast<float>((t + age) % horizon));
        REQUIRE(shard.truncated[row] == ((t + age) % horizon == horizon - 1 ? 1.0F : 0.0F));
        ends += shard.truncated[row] == 1 ? 1 : 0;
      }
    }
    CHECK(shard.final_rows.size() == ends);  // what follows a cut episode has a value too
    CHECK(shard.episodes.size() == ends - (shard.particle == 0 ? 3 : 4));
    for (const FinishedEpisode& episode : shard.episodes) CHECK(episode.length == horizon);
  }
}

TEST_CASE("what is collected does not depend on threads", "[agents][rollouts]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  const int before = thread_count();
  for (const RolloutShape& shape : {paths, stretch}) {
    std::vector<std::vector<std::vector<float>>> found;
    for (const int threads : {1, 2, 5}) {
      set_thread_count(threads);
      Rollouts rollouts(*test::countdown(), shape, 7);
      for (int collection = 0; collection < 4; ++collection) rollouts.collect(policy);
      found.push_back(contents(rollouts));
    }
    CHECK(found[1] == found[0]);
    CHECK(found[2] == found[0]);
  }
  set_thread_count(before);
}

TEST_CASE("rollouts go on from a snapshot with the same bits", "[agents][rollouts]") {
  const policies::ControlPolicy policy = test::countdown_policy(3);
  for (const RolloutShape& shape : {paths, stretch, staggered}) {
    Rollouts whole(*test::countdown(), shape, 7), second(*test::countdown(), shape, 7);
    for (int collection = 0; collection < 3; ++collection) whole.collect(policy);
    const Snapshot saved = test::snapshot_of(whole);
    second.restore(saved);
    CHECK(test::same_bytes(test::snapshot_of(second), saved));
    for (int collection = 0; collection < 3; ++collection) {
      whole.collect(policy), second.collect(policy);
      CHECK(contents(second) == contents(whole));
      CHECK(second.total_steps() == whole.total_steps());
    }
  }
}

TEST_CASE("rollouts of another shape or environment are not taken up", "[agents][rollouts]") {
  Rollouts rollouts(*test::countdown(), stretch, 7);
  const Snapshot saved = test::snapshot_of(rollouts);
  RolloutShape wider = stretch, more = stretch;
  wider.slots = 71, more.particles = 4;
  CHECK_ERROR(Rollouts(*test::countdown(), wider, 7).restore(saved), data, "with 70 slots", "expected", "71 slots");
  CHECK_ERROR(Rollouts(*test::countdown(), more, 7).restore(saved), data, "3 particles", "expected", "4 particles");
  CHECK_ERROR(Rollouts(*test::two_states(), stretch, 7).restore(saved), data, "countdown version 1",
              "expected two states version 1");
  const Snapshot of_paths = test::snapshot_of(Rollouts(*test::countdown(), paths, 7));
  CHECK_ERROR(Rollouts(*test::two_states(), paths, 7).restore(of_paths), data, "countdown", "expected two states");
  for (RolloutShape none : {RolloutShape{.particles = 0}, RolloutShape{.slots = 0}, RolloutShape{.steps = 0}})
    CHECK_ERROR(Rollouts(*test::countdown(), none, 7), usage, "at least 1 particle, slot and step");
}
