#include <stein/envs/classification.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/error_matcher.h"

namespace stein::envs {
namespace {

const Classification::Origin zoo{.name = "zoo", .data = "synthetic", .source = "made here"};

/// Four rows of two classes out of three.
Table animals() {
  return {.columns = {{.name = "legs", .numbers = {2, 4, 4, 2}},
                      {.name = "class", .categories = {"bird", "cat", "newt"}, .levels = {0, 1, 1, 0}},
                      {.name = "tame", .categories = {"no", "yes"}, .levels = {0, 1, 0, 1}}},
          .checksums = {{"zoo.csv", "abc"}}};
}

TEST_CASE("the arm of the row's class pays 1 and every other 0", "[envs][classification]") {
  Classification bandit(animals(), "class", zoo);
  const BanditSpec& spec = bandit.spec();
  CHECK(spec.arms == 3);
  CHECK(spec.arm_names == std::vector<std::string>{"bird", "cat", "newt"});
  CHECK(spec.context_size == 3);  // legs, and two categories
  CHECK(spec.source == "made here; zoo.csv, sha256 abc");
  CHECK(spec.reward_low == 0);
  CHECK(spec.reward_high == 1);
  CHECK(spec.reward_deviation.value() == Approx(std::sqrt(2.0) / 3).epsilon(1e-14));
  for (std::int64_t step = 0; step < 200; ++step) {
    const Context context = bandit.observe(1, step);
    const std::int64_t truth = context.dense[0] > 0 ? 1 : 0;  // cats have four legs
    for (std::int64_t arm = 0; arm < 3; ++arm) {
      REQUIRE(bandit.reward(arm) == (arm == truth ? 1 : 0));
      REQUIRE(bandit.expected_rewards()[static_cast<std::size_t>(arm)] == bandit.reward(arm));
    }
  }
}

TEST_CASE("probes are the first row of every class that has one", "[envs][classification]") {
  const auto probes = Classification(animals(), "class", zoo).probes();
  REQUIRE(probes.size() == 2);
  CHECK(probes[0].name == "bird");
  CHECK(probes[0].dense == std::vector<float>{-1, 1, -1});
  CHECK(probes[1].name == "cat");
  CHECK(probes[1].dense == std::vector<float>{1, -1, 1});
}

TEST_CASE("a target that has no classes is refused with its name", "[envs][classification]") {
  const auto made = [](const Table& table, const char* target) { return Classification(table, target, zoo); };
  CHECK_ERROR(made(animals(), "clas"), usage, "no column 'clas'", "'class'");
  CHECK_ERROR(made(animals(), "legs"), data, "'legs' of a bandit needs two classes or more, found numbers");
  Table table = animals();
  table.columns[1].levels[2] = -1;
  CHECK_ERROR(made(table, "class"), data, "'class' has no class in row 3");
  table = animals();
  table.columns[1].categories.resize(1);
  CHECK_ERROR(made(table, "class"), data, "two classes or more, found 1");
  table = animals();
  table.columns[2].levels[1] = -1;
  CHECK_ERROR(made(table, "class"), data, "'tame' has no value in row 2");
}

}  // namespace
}  // namespace stein::envs
