#include <stein/policies/interaction_window.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "core/error_matcher.h"

using namespace stein;
using policies::InteractionBatch;
using policies::InteractionWindow;

namespace {

const envs::BanditSpec dense_arms{
    .name = "dense", .arms = 3, .context_size = 2, .data = "synthetic", .source = "this test"};
const envs::BanditSpec one_hot_arms{
    .name = "one-hot", .arms = 3, .context_size = 9, .active_columns = 2, .data = "synthetic", .source = "this test"};

/// Interaction i: context (i, −i), arm i mod 3, reward 10 i.
void append(InteractionWindow& window, int i) {
  const std::vector<float> context{static_cast<float>(i), static_cast<float>(-i)};
  window.append({.dense = context, .active = {}}, {.action = i % 3, .reward = 10.0 * i});
}

}  // namespace

TEST_CASE("a window holds the last interactions, and a drawn row is one of them, whole", "[policies][window]") {
  InteractionWindow window(dense_arms, 5, 64);
  for (int i = 0; i < 12; ++i) {
    append(window, i);
    CHECK(window.rows() == std::min(i + 1, 5));
    const auto batch = window.draw(1, static_cast<std::uint64_t>(i));
    REQUIRE(batch.rows == 64);
    CHECK(batch.window == window.rows());
    for (std::size_t k = 0; k < 64; ++k) {
      const auto which = static_cast<int>(batch.dense[2 * k]);
      REQUIRE(which > i - 5);
      REQUIRE(which <= i);
      REQUIRE(batch.dense[2 * k + 1] == static_cast<float>(-which));
      REQUIRE(batch.actions[k] == which % 3);
      REQUIRE(batch.rewards[k] == 10.0f * static_cast<float>(which));
      REQUIRE(batch.numbers[k] == which);
    }
  }
}

TEST_CASE("a window without a bound holds all interactions, and all of them are seen once", "[policies][window]") {
  InteractionWindow window(dense_arms, 0, 64), restored(dense_arms, 0, 64);
  for (int i = 0; i < 5000; ++i) append(window, i);
  Snapshot saved;
  window.save(saved);
  restored.restore(saved);
  append(restored, 5000);
  for (const auto& [held, rows] : {std::pair{&window, 5000}, std::pair{&restored, 5001}}) {
    REQUIRE(held->rows() == rows);
    const InteractionBatch all = held->all();
    REQUIRE(all.rows == rows);
    REQUIRE(all.window == rows);
    for (std::int64_t i = 0; i < rows; ++i) {
      REQUIRE(all.numbers[static_cast<std::size_t>(i)] == i);
      REQUIRE(all.dense[static_cast<std::size_t>(2 * i)] == static_cast<float>(i));
      REQUIRE(all.rewards[static_cast<std::size_t>(i)] == 10.0F * static_cast<float>(i));
    }
    std::int64_t least = rows, most = 0;
    for (std::uint64_t update = 0; update < 200; ++update)
      for (const std::int64_t number : held->draw(1, update).numbers)
        least = std::min(least, number), most = std::max(most, number);
    CHECK(least < 10);  // of 12,800 draws: missing all of ten rows has probability e⁻²⁵
    CHECK(most > rows - 11);
  }
}

TEST_CASE("numbers of interactions go on behind a checkpoint, also one that has none", "[policies][window]") {
  for (const bool older : {false, true}) {
    InteractionWindow window(dense_arms, 5, 4), restored(dense_arms, 5, 4);
    for (int i = 0; i < 8; ++i) append(window, i);
    Snapshot saved, state;
    window.save(saved);
    for (const auto& [name, array] : saved.arrays())
      if (!older || name != "numbers") state.put_array(name, array);
    restored.restore(state);
    append(restored, 8);
    std::vector<std::int64_t> numbers;
    for (const std::int64_t number : restored.all().numbers) numbers.push_back(number);
    std::ranges::sort(numbers);
    // An older one does not say how many came before: its oldest counts as the first.
    CHECK(numbers == (older ? std::vector<std::int64_t>{1, 2, 3, 4, 5} : std::vector<std::int64_t>{4, 5, 6, 7, 8}));
    for (std::size_t k = 0; k < 5; ++k)
      CHECK(restored.all().dense[2 * k] == static_cast<float>(restored.all().numbers[k] + (older ? 3 : 0)));
  }
}

TEST_CASE("rows are drawn uniformly with replacement", "[policies][window]") {
  InteractionWindow window(dense_arms, 10, 100);
  for (int i = 0; i < 10; ++i) append(window, i);
  std::map<int, double> drawn;
  constexpr int updates = 1000;
  for (int update = 0; update < updates; ++update)
    for (const float reward : window.draw(7, static_cast<std::uint64_t>(update)).rewards)
      ++drawn[static_cast<int>(reward) / 10];
  // Counts of 100,000 draws are binomial(100,000, 1/10): sd 94.87.
  for (int i = 0; i < 10; ++i) CHECK(std::abs(drawn[i] - 10'000) / 94.87 < 6.1);
}

TEST_CASE("a minibatch depends on the seed and the update alone", "[policies][window]") {
  InteractionWindow window(one_hot_arms, 50, 8);
  for (std::int32_t i = 0; i < 30; ++i) {
    const std::vector<std::int32_t> active{i % 4, 4 + i % 5};
    window.append({.dense = {}, .active = active}, {.action = 0, .reward = static_cast<double>(i)});
  }
  const auto rewards = [&](std::uint64_t seed, std::uint64_t update) {
    const auto batch = window.draw(seed, update);
    CHECK(batch.dense.empty());
    CHECK(batch.active.size() == 16);
    return std::vector<float>(batch.rewards.begin(), batch.rewards.end());
  };
  const auto first = rewards(3, 0);
  CHECK(rewards(3, 1) != first);
  CHECK(rewards(4, 0) != first);
  CHECK(rewards(3, 0) == first);
}

TEST_CASE("a restored window goes on like the saved one", "[policies][window]") {
  InteractionWindow window(dense_arms, 5, 4);
  for (int i = 0; i < 8; ++i) append(window, i);
  Snapshot snapshot;
  window.save(snapshot);
  InteractionWindow restored(dense_arms, 5, 4);
  restored.restore(snapshot);
  for (int i = 8; i < 12; ++i) {
    append(window, i);
    append(restored, i);
    const auto a = window.draw(1, static_cast<std::uint64_t>(i)), b = restored.draw(1, static_cast<std::uint64_t>(i));
    CHECK(std::vector<float>(a.rewards.begin(), a.rewards.end()) ==
          std::vector<float>(b.rewards.begin(), b.rewards.end()));
    CHECK(std::vector<float>(a.dense.begin(), a.dense.end()) == std::vector<float>(b.dense.begin(), b.dense.end()));
  }
  InteractionWindow smaller(dense_arms, 3, 4);
  CHECK_ERROR(smaller.restore(snapshot), data, "5 interactions", "room for 3");
}

TEST_CASE("a window keeps the weights of its interactions, and a restored one has them too", "[policies][window]") {
  InteractionWindow window(dense_arms, 5, 4), plain(dense_arms, 5, 4);
  const std::vector<float> context{1, 2};
  plain.append({.dense = context}, {.action = 1});
  CHECK(plain.draw(1, 0).weights.empty());  // all 1
  window.append({.dense = context}, {.action = 1, .weight = 2.5});
  const auto weights = window.draw(1, 0).weights;
  CHECK(std::vector<float>(weights.begin(), weights.end()) == std::vector<float>(4, 2.5F));
  InteractionWindow mixed(dense_arms, 5, 64);
  for (const double weight : {2.0, 3.0, 1.0})  // the last is like any other
    mixed.append({.dense = context}, {.action = 1, .reward = 10 * weight, .weight = weight});
  const auto drawn = mixed.draw(1, 0);
  REQUIRE(drawn.weights.size() == 64);
  for (std::size_t k = 0; k < 64; ++k) CHECK(drawn.rewards[k] == 10 * drawn.weights[k]);
  for (InteractionWindow* each : {&window, &plain}) {
    Snapshot saved;
    each->save(saved);
    InteractionWindow restored(dense_arms, 5, 4);
    restored.restore(saved);
    restored.append({.dense = context}, {.action = 1, .weight = 7});
    each->append({.dense = context}, {.action = 1, .weight = 7});
    for (std::uint64_t update = 1; update < 6; ++update) {
      const auto ours = restored.draw(1, update).weights, its = each->draw(1, update).weights;
      CHECK(std::vector<float>(ours.begin(), ours.end()) == std::vector<float>(its.begin(), its.end()));
    }
  }
}

TEST_CASE("a window refuses what it cannot hold", "[policies][window]") {
  CHECK_ERROR(InteractionWindow(dense_arms, -1, 1), usage, "buffer", "got -1");
  CHECK_ERROR(InteractionWindow(dense_arms, 1, -3), usage, "batch", "got -3");
  InteractionWindow window(dense_arms, 5, 4);
  CHECK_ERROR(window.draw(1, 0), usage, "interaction");
  const std::vector<float> context{1, 2, 3};
  CHECK_ERROR(window.append({.dense = context}, {}), usage, "has 2 numbers, got 3");
}
