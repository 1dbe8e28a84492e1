#include <stein/replay/fixed_propensities.h>

#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

using namespace stein;
using namespace stein::replay;
using policies::Propensities;

namespace {

const envs::BanditSpec page{.name = "page", .arms = 3, .context_size = 4, .arm_names = {"red", "a, b", "blue"}};
const std::string by_position = "column,arm,propensity\n0,red,0.25\n0,\"a, b\",0.75\n\n1,blue,1\n";

struct Table {
  test::TemporaryDirectory folder;
  std::string file;

  explicit Table(const std::string& text) : file(test::write(folder / "table.csv", text).string()) {}
  FixedPropensities policy(const envs::BanditSpec& of = page) const { return {{.table = file}, of, 5}; }
};

std::vector<double> propensities_of(FixedPropensities& policy, const envs::Context& context) {
  const policies::Decision decision = policy.decide(context, 0, Propensities::exact);
  CHECK_FALSE(decision.deterministic);
  return {decision.propensities.begin(), decision.propensities.end()};
}

}  // namespace

TEST_CASE("a table has a distribution for each of several columns of the context", "[replay][fixed-propensities]") {
  FixedPropensities policy = Table(by_position).policy();
  const std::vector<float> first{1, 0, 7, 8}, second{0, 1, 7, 8};
  CHECK(propensities_of(policy, {.dense = first}) == std::vector<double>{0.25, 0.75, 0});
  CHECK(propensities_of(policy, {.dense = second}) == std::vector<double>{0, 0, 1});
  const std::vector<std::int32_t> active{1, 3};
  CHECK(propensities_of(policy, {.active = active}) == std::vector<double>{0, 0, 1});
  CHECK(policy.decide({.dense = second}, 0, Propensities::none).propensities.empty());
}

TEST_CASE("a table without columns holds in every context", "[replay][fixed-propensities]") {
  FixedPropensities policy = Table("propensity,arm\n0.5,blue\n0.5,red\n").policy();
  CHECK(propensities_of(policy, {}) == std::vector<double>{0.5, 0, 0.5});
}

TEST_CASE("arms that cannot be chosen leave their share to the others", "[replay][fixed-propensities]") {
  FixedPropensities policy = Table("arm,propensity\nred,0.2\n\"a, b\",0.3\nblue,0.5\n").policy();
  const std::vector<std::int32_t> present{2, 1}, none{0};
  CHECK(propensities_of(policy, {.present = present}) == std::vector<double>{0.5 / 0.8, 0.3 / 0.8});
  FixedPropensities other = Table("arm,propensity\nblue,1\n").policy();
  CHECK_ERROR(other.decide({.present = none}, 0, Propensities::none), data, "table.csv", "none of the arms");
}

TEST_CASE("arms are drawn as often as the table says", "[replay][fixed-propensities]") {
  FixedPropensities policy = Table("arm,propensity\nred,0.2\nblue,0.8\n").policy();
  constexpr int draws = 40'000;
  std::map<std::int64_t, int> counts;
  for (int step = 0; step < draws; ++step) ++counts[policy.decide({}, step, Propensities::none).action];
  CHECK(counts.size() == 2);
  const double deviation = std::sqrt(draws * 0.2 * 0.8);
  CHECK(std::abs(counts[0] - 0.2 * draws) < 6.1 * deviation);
  FixedPropensities same = Table("arm,propensity\nred,0.2\nblue,0.8\n").policy();
  for (int step = 0; step < 50; ++step)
    CHECK(policy.decide({}, step, Propensities::none).action == same.decide({}, step, Propensities::none).action);
  const Table even("arm,propensity\nred,0.5\nblue,0.5\n");
  FixedPropensities one({.table = even.file}, page, 5), other({.table = even.file}, page, 6);
  int equal = 0;  // of 64 even draws: 32 ± 4, beyond 6.1 of them below 1e-9
  for (int step = 0; step < 64; ++step)
    equal += one.decide({}, step, Propensities::none).action == other.decide({}, step, Propensities::none).action;
  CHECK(std::abs(equal - 32) < 6.1 * 4);
}

TEST_CASE("a context that no distribution of the table is for is refused", "[replay][fixed-propensities]") {
  FixedPropensities policy = Table(by_position).policy();
  const std::vector<float> neither{0, 0, 1, 1}, both{1, 1, 0, 0};
  CHECK_ERROR(policy.decide({.dense = neither}, 0, Propensities::none), data, "no distribution");
  CHECK_ERROR(policy.decide({.dense = both}, 0, Propensities::none), data, "two distributions");
}

TEST_CASE("a run goes on with the table that it began with, and with no other", "[replay][fixed-propensities]") {
  const Table begun("arm,propensity\nred,0.2\nblue,0.8\n");
  Snapshot saved;
  begun.policy().save(saved);
  FixedPropensities reordered = Table("propensity,arm\n0.8,blue\n0.2,red\n").policy();
  reordered.restore(saved);
  FixedPropensities other = Table("arm,propensity\nred,0.3\nblue,0.7\n").policy(),
                    of_column = Table("column,arm,propensity\n0,red,0.2\n0,blue,0.8\n").policy();
  CHECK_ERROR(other.restore(saved), data, "table.csv", "not the table that the run began with");
  CHECK_ERROR(of_column.restore(saved), data, "not the table");
}

TEST_CASE("a table that is none says where", "[replay][fixed-propensities]") {
  const auto refused = [](const std::string& text, const std::string& part, const std::string& other) {
    CAPTURE(text);
    CHECK_ERROR(Table(text).policy(), data, "table.csv", part, other);
  };
  refused("", "line 1", "expected a header");
  refused("arm,p\nred,1\n", "line 1", "expected a header");
  refused("arm,propensity,x\nred,1,2\n", "line 1", "expected a header");
  refused("arm,propensity\n", "no arm", "table");
  refused("arm,propensity\nyellow,1\n", "line 2", "no arm 'yellow'");
  refused("arm,propensity\nred,0.5\nred,0.5\n", "line 3", "'red' is there twice");
  refused("arm,propensity\nred,1,2\n", "line 2", "another number of fields");
  refused("arm,propensity\nred,-0.5\n", "line 2", "in [0, 1], got '-0.5'");
  refused("arm,propensity\nred,nan\n", "line 2", "in [0, 1], got 'nan'");
  refused("arm,propensity\nred,0.5\n", "whose sum is 1", "0.5");
  refused("column,arm,propensity\n0,red,1\n2,red,0.9\n", "whose sum is 1", "in column 2");
  refused("column,arm,propensity\n4,red,1\n", "line 2", "a column of 0 to 3, got '4'");
  refused("column,arm,propensity\n-1,red,1\n", "line 2", "a column of 0 to 3, got '-1'");
  CHECK_ERROR(FixedPropensities({}, page, 0), usage, "`table`");
  CHECK_ERROR(Table(by_position).policy({.name = "numbers", .arms = 3}), usage, "no names");
  CHECK_ERROR(FixedPropensities({.table = "none.csv"}, page, 0), data, "none.csv");
}
