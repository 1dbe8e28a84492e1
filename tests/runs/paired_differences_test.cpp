// Differences of runs on the same seeds: which pairs there are, and what is told of them.
#include <stein/runs/paired_differences.h>
#include <stein/runs/report_table.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "runs/toy_experiment.h"

using namespace stein;
using runs::RunRecord;
using Json = nlohmann::ordered_json;

namespace {

runs::RunKind paired_kind() {
  runs::RunKind kind = test::counter_kind_with([](runs::ReportLayout& report) { report.grouped_by = {"steps"}; });
  kind.paired = {"regret", "reward"};
  return kind;
}

const runs::RunKind kind_with_pairs = paired_kind();

RunRecord paired_record(const std::string& label, const std::vector<double>& regret, const Json& seeds,
                        std::int64_t steps = 10) {
  RunRecord record;
  record.kind = &kind_with_pairs;
  record.task = "numbers";
  record.label = label;
  std::vector<double> reward;
  for (const double value : regret) reward.push_back(100 - 2 * value);
  record.summary = {
      {"steps", steps}, {"seeds", seeds}, {"regret", runs::measured(regret)}, {"reward", runs::measured(reward)}};
  return record;
}

runs::PairedDifferences differences_of(const std::vector<RunRecord>& records, std::size_t most = 100) {
  return runs::paired_differences({records.begin(), records.end()}, most);
}

std::vector<std::string> pairs_of(const std::vector<RunRecord>& records) {
  std::vector<std::string> pairs;
  for (const runs::PairedDifference& difference : differences_of(records).list)
    if (difference.field == "regret") pairs.push_back(difference.first + difference.second);
  return pairs;
}

using Pairs = std::vector<std::string>;

}  // namespace

TEST_CASE("a difference is the mean over seeds of the first less the second, with Student's interval",
          "[runs][differences]") {
  const auto [list, left_out] =
      differences_of({paired_record("a", {10, 20, 60}, {0, 1, 2}), paired_record("b", {7, 18, 56}, {0, 1, 2})});
  CHECK(left_out == 0);
  REQUIRE(list.size() == 2);
  // 3, 2, 4: mean 3, sd 1, t of 2 degrees 4.302653, half an interval 4.302653/√3.
  const Json regret = list[0].to_json(), reward = list[1].to_json();
  const double half = 4.302653 / std::sqrt(3.0);
  CHECK(regret["field"] == "regret");
  CHECK(regret["first"] == "a");
  CHECK(regret["second"] == "b");
  CHECK(regret["difference"].get<double>() == Approx(3));
  CHECK(regret["sd"].get<double>() == Approx(1));
  CHECK(regret["interval"][0].get<double>() == Approx(3 - half));
  CHECK(regret["interval"][1].get<double>() == Approx(3 + half));
  CHECK(regret["seeds"] == Json{0, 1, 2});
  CHECK(reward["field"] == "reward");
  CHECK(reward["difference"].get<double>() == Approx(-6));
  CHECK(reward["sd"].get<double>() == Approx(2));
}

TEST_CASE("a single seed has a difference and no interval; a value that is missing has neither",
          "[runs][differences]") {
  const Json one = differences_of({paired_record("a", {5}, {3}), paired_record("b", {7}, {3})}).list.front().to_json();
  CHECK(one["difference"] == -2.0);
  CHECK(one["sd"].is_null());
  CHECK(one["interval"].is_null());
  const Json lost =
      differences_of({paired_record("a", {5, NAN}, {3, 4}), paired_record("b", {7, 8}, {3, 4})}).list.front().to_json();
  CHECK(lost["difference"].is_null());
  CHECK(lost["interval"].is_null());
}

TEST_CASE("pairs are of runs of one group with the same seeds, in the order of the runs", "[runs][differences]") {
  const std::vector<double> two{1, 2};
  CHECK(pairs_of({paired_record("a", two, {0, 1}), paired_record("b", two, {0, 1}), paired_record("c", two, {0, 1})}) ==
        Pairs{"ab", "ac", "bc"});
  CHECK(pairs_of({paired_record("a", two, {0, 1}), paired_record("b", two, {0, 2}), paired_record("c", two, {0, 1})}) ==
        Pairs{"ac"});
  CHECK(pairs_of({paired_record("a", two, {0, 1}), paired_record("b", two, {0, 1}, 20)}).empty());
  RunRecord letters = paired_record("b", two, {0, 1}), earlier = letters;
  letters.task = "letters";
  CHECK(pairs_of({paired_record("a", two, {0, 1}), letters}).empty());
  earlier.summary["reward"] = 3.5;  // without its seeds
  CHECK(pairs_of({paired_record("a", two, {0, 1}), earlier}).empty());
}

TEST_CASE("kinds that compare nothing have no pairs", "[runs][differences]") {
  static const runs::RunKind plain = test::counter_kind();
  RunRecord first = paired_record("a", {1, 2}, {0, 1}), second = paired_record("b", {1, 2}, {0, 1});
  first.kind = second.kind = &plain;
  CHECK(differences_of({first, second}).list.empty());
  CHECK(runs::make_differences_table({first, second}).empty());
}

TEST_CASE("the table of differences has a line a pair and a column a field", "[runs][differences][table]") {
  CHECK(runs::make_differences_table({paired_record("svgd", {10, 20, 60}, {0, 1, 2}),
                                      paired_record("lints", {7, 18, 56}, {0, 1, 2}),
                                      paired_record("other", {1}, {7})}) ==
        "Differences, paired by seed: the mean over seeds with its 95 % interval\n\n"
        "  first − second               regret                 reward\n"
        "  svgd − lints    3 [0.51586, 5.4841]  -6 [-10.968, -1.0317]\n");
  CHECK(runs::make_differences_table({paired_record("a", {3}, {0}), paired_record("b", {1}, {0})}) ==
        "Differences, paired by seed: the mean over seeds with its 95 % interval\n\n"
        "  first − second  regret  reward\n"
        "  a − b                2      -4\n");
}

TEST_CASE("of more than 30 pairs the table has the first, and says how many more there are",
          "[runs][differences][table]") {
  std::vector<RunRecord> records;
  for (int i = 0; i < 9; ++i)  // 36 pairs
    records.push_back(paired_record(fmt::format("run {}", i), {static_cast<double>(i)}, {0}));
  CHECK(differences_of(records, 30).left_out == 6);
  CHECK(differences_of(records, 30).list.size() == 60);
  const std::string table = runs::make_differences_table(records);
  CHECK_THAT(table, Catch::Contains("run 0 − run 1 ") && Catch::EndsWith("\n  and 6 more pairs\n"));
  CHECK_THAT(table, Catch::Contains("run 4 − run 8 ") && !Catch::Contains("run 5 − run 6 "));
}
