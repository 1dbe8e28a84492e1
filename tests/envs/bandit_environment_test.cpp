// Every registered bandit keeps the contract of envs/bandit_environment.h.
#include <stein/core/atomic_file.h>
#include <stein/core/data/manifest.h>
#include <stein/core/rng.h>
#include <stein/envs/bandit_environment.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "skip.h"

namespace stein::envs {
namespace {

constexpr double critical_value = 6.1;

/// The data set of the bandit `name`, which is called otherwise where there are two of one kind.
std::string data_set_of(const std::string& name) {
  if (name == "covertype") return "covertype-full";
  return name == "covertype-15120" ? "covertype" : name;
}

/// The bandit `name` with its default options. Without its data set the section is skipped.
std::unique_ptr<BanditEnvironment> make_bandit(const std::string& name) {
  const auto builder = bandits().at(name).builder();
  OptionTable table;
  builder->describe(table);
  const test::TemporaryDirectory folder;
  if (name == "table") {  // which has no rows of its own
    write_file_atomically(folder / "rows.csv", "x,y,class\n.5,1,a\n-1,2,b\n2,3,c\n.1,4,b\n");
    table.set("file", (folder / "rows.csv").string());
    table.set("target", "class");
  }
  try {
    return builder->make({});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    WARN(error.what());
    test::skip("no data set " + data_set_of(name));
  }
}

/// Whether the bandit has to find a data set.
bool needs_files(const std::string& name) {
  return std::ranges::any_of(data_sets(), [&](const DataSet& set) { return set.name == data_set_of(name); });
}

/// What one step shows, copied.
struct Moment {
  std::vector<float> dense;
  std::vector<std::int32_t> active;
  std::vector<double> expected, rewards;
  std::int64_t row;
  bool operator==(const Moment&) const = default;
};

Moment look(BanditEnvironment& bandit, std::uint64_t seed, std::int64_t step) {
  const Context context = bandit.observe(seed, step);
  Moment moment{.dense = {context.dense.begin(), context.dense.end()},
                .active = {context.active.begin(), context.active.end()},
                .expected = {bandit.expected_rewards().begin(), bandit.expected_rewards().end()},
                .rewards = {},
                .row = bandit.row()};
  for (std::int64_t arm = 0; arm < bandit.spec().arms; ++arm) moment.rewards.push_back(bandit.reward(arm));
  return moment;
}

void check_context(const BanditSpec& spec, const std::vector<float>& dense, const std::vector<std::int32_t>& active) {
  if (spec.active_columns == 0) {
    REQUIRE(active.empty());
    REQUIRE(std::ssize(dense) == spec.context_size);
    REQUIRE(std::all_of(dense.begin(), dense.end(), [](float value) { return std::isfinite(value); }));
    return;
  }
  REQUIRE(dense.empty());
  REQUIRE(std::ssize(active) == spec.active_columns);
  REQUIRE(std::is_sorted(active.begin(), active.end(), std::less_equal<>()));  // strictly ascending
  REQUIRE(active.front() >= 0);
  REQUIRE(active.back() < spec.context_size);
}

/// Contexts, expected rewards and probes are what the spec says.
void check_shape(const std::string& name) {
  const auto bandit = make_bandit(name);
  const BanditSpec& spec = bandit->spec();
  CHECK(spec.name == name);
  CHECK(spec.arms >= 2);
  CHECK((spec.data == "real" || spec.data == "synthetic"));
  CHECK_FALSE(spec.source.empty());
  CHECK(spec.reward_deviation.value() > 0);
  for (std::int64_t step = 0; step < 200; ++step) {
    const Moment moment = look(*bandit, 1, step);
    check_context(spec, moment.dense, moment.active);
    REQUIRE(std::ssize(moment.expected) == spec.arms);
    for (const double value : moment.expected) {
      REQUIRE(value >= spec.reward_low - 1e-6);
      REQUIRE(value <= spec.reward_high + 1e-6);
    }
  }
  for (const BanditEnvironment::Probe& probe : bandit->probes()) {
    CHECK_FALSE(probe.name.empty());
    check_context(spec, probe.dense, probe.active);
  }
}

TEST_CASE("the default options of every bandit lie in their ranges and are described", "[envs][bandit]") {
  for (const auto& [name, entry] : bandits().entries()) {
    CHECK_FALSE(entry.description.empty());
    const auto builder = entry.builder();
    OptionTable table;
    builder->describe(table);
    for (const Option& option : table.options()) {
      INFO(name << ", " << option.name);
      CHECK_FALSE(option.help.empty());
      CHECK_NOTHROW(option.assign(option.text()));
    }
  }
}

/// A step depends on seed and step alone, in any order of visits.
void check_order_of_visits(const std::string& name) {
  const auto bandit = make_bandit(name), again = make_bandit(name);
  std::vector<Moment> forward;
  for (std::int64_t step = 0; step < 50; ++step) forward.push_back(look(*bandit, 7, step));
  int same_as_other_seed = 0;
  for (std::int64_t step = 49; step >= 0; --step) {
    same_as_other_seed += look(*again, 8, step) == forward[static_cast<std::size_t>(step)];
    REQUIRE(look(*again, 7, step) == forward[static_cast<std::size_t>(step)]);
    REQUIRE(bandit->observe(7, step).dense.size() == forward[0].dense.size());
  }
  CHECK(same_as_other_seed < 25);
  // A reward asked for twice, or after another arm's, is the same.
  const double first = bandit->reward(0);
  bandit->reward(bandit->spec().arms - 1);
  CHECK(bandit->reward(0) == first);
}

/// A copy is the same game at a step of its own.
void check_copies(const std::string& name) {
  const auto bandit = make_bandit(name), alone = make_bandit(name);
  bandit->observe(7, 3);
  const auto copy = bandits().at(name).builder()->copy(*bandit);
  for (std::int64_t step = 0; step < 20; ++step) {
    bandit->observe(7, step);
    REQUIRE(look(*copy, 8, step) == look(*alone, 8, step));
    const double reward = bandit->reward(0);
    alone->observe(7, step);
    REQUIRE(reward == alone->reward(0));
  }
  CHECK(copy->spec().source == bandit->spec().source);
}

/// An arm that does not exist is refused.
void check_refused_arms(const std::string& name) {
  const auto bandit = make_bandit(name);
  bandit->observe(1, 0);
  for (const std::int64_t arm : {std::int64_t{-1}, bandit->spec().arms}) {
    INFO("arm " << arm);
    CHECK_ERROR(bandit->reward(arm), usage, name, std::to_string(arm));
  }
}

/// (mean of the sample) / (its standard error), where the expected mean is 0; 0 for a sample of zeros.
double z_score(const std::vector<double>& sample) {
  double sum = 0, squares = 0;
  for (const double value : sample) sum += value, squares += value * value;
  return squares == 0 ? 0 : sum / std::sqrt(squares);
}

/// Rewards agree with expected rewards in the mean, and with the stated deviation.
void check_rewards(const std::string& name) {
  constexpr std::int64_t steps = 100'000;
  const auto bandit = make_bandit(name);
  const BanditSpec& spec = bandit->spec();
  const auto arms = static_cast<std::size_t>(spec.arms);
  std::vector<std::vector<double>> residuals(arms);
  std::vector<double> uniform_rewards;
  double mean = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    bandit->observe(3, step);
    for (std::size_t arm = 0; arm < arms; ++arm)
      residuals[arm].push_back(bandit->reward(static_cast<std::int64_t>(arm)) - bandit->expected_rewards()[arm]);
    Draws draws({3, static_cast<std::uint64_t>(step), Stream::test}, 0);
    uniform_rewards.push_back(bandit->reward(draws.integer(static_cast<std::uint32_t>(arms))));
    mean += uniform_rewards.back() / steps;
  }
  for (std::size_t arm = 0; arm < arms; ++arm) {
    INFO("arm " << arm);
    CHECK(std::abs(z_score(residuals[arm])) < critical_value);
  }
  // (r − mean)² − deviation² has mean zero; the mean's own error enters at second order only.
  std::vector<double> excess;
  for (const double reward : uniform_rewards)
    excess.push_back((reward - mean) * (reward - mean) - *spec.reward_deviation * *spec.reward_deviation);
  CHECK(std::abs(z_score(excess)) < critical_value);
}

/// Calls `check` with the name of every bandit that needs files, or of every one that does not.
void for_each_bandit(bool with_files, void (*check)(const std::string& name)) {
  for (const std::string& name : bandits().names())
    if (needs_files(name) == with_files) DYNAMIC_SECTION(name) {
        check(name);
      }
}

TEST_CASE("every bandit shows what its spec says", "[envs][bandit]") {
  for_each_bandit(false, check_shape);
}

TEST_CASE("a bandit's step depends on seed and step alone, in any order of visits", "[envs][bandit]") {
  for_each_bandit(false, check_order_of_visits);
}

TEST_CASE("a copy of a bandit is the same game at a step of its own", "[envs][bandit]") {
  for_each_bandit(false, check_copies);
}

TEST_CASE("an arm that does not exist is refused", "[envs][bandit]") {
  for_each_bandit(false, check_refused_arms);
}

TEST_CASE("rewards agree with expected rewards in the mean, and with the stated deviation", "[envs][bandit]") {
  for_each_bandit(false, check_rewards);
}

TEST_CASE("bandits of data sets keep the same contract", "[envs][bandit][data-set]") {
  for_each_bandit(true, [](const std::string& name) {
    check_shape(name);
    check_order_of_visits(name);
    check_copies(name);
    check_refused_arms(name);
    check_rewards(name);
  });
}

}  // namespace
}  // namespace stein::envs
