#include <stein/runs/report_table.h>

#include <catch2/catch.hpp>

#include "runs/toy_experiment.h"

using namespace stein;
using runs::RunRecord;
using Json = nlohmann::ordered_json;

namespace {

const runs::RunKind table_kind = test::counter_kind_with([](runs::ReportLayout& report) {
  report.first_column = "method";
  report.columns = {{"count", [](const Json& s) { return runs::mean_and_deviation(s["counts"]); }},
                    {"locked in", [](const Json& s) { return s.value("locked", "-"); }}};
});

RunRecord table_record(const std::string& label, std::vector<double> counts, const std::string& task = "numbers",
                       std::int64_t steps = 10) {
  RunRecord record;
  record.kind = &table_kind;
  record.task = task;
  record.label = label;
  record.summary = {{"steps", steps}, {"seeds", Json(counts)}, {"counts", runs::measured(counts)}};
  return record;
}

}  // namespace

TEST_CASE("runs of one task stand under one heading, aligned by characters", "[runs][table]") {
  RunRecord second = table_record("b, a longer name", {100, 101});
  second.summary["locked"] = "1 of 2";
  CHECK(runs::make_report_table({table_record("a", {2, 3}), second}) ==
        "numbers, 10 numbers, 2 seeds\n\n"
        "  method                  count  locked in\n"
        "  a                   2.5 ± 0.7          -\n"
        "  b, a longer name  100.5 ± 0.7     1 of 2\n");
}

TEST_CASE("a column that is empty for all runs is left out", "[runs][table]") {
  RunRecord first = table_record("a", {1}), second = table_record("b", {2});
  first.summary["locked"] = second.summary["locked"] = "";
  CHECK(runs::make_report_table({first, second}) ==
        "numbers, 10 numbers, 1 seed\n\n"
        "  method  count\n  a         1.0\n  b         2.0\n");
  second.summary["locked"] = "x";
  CHECK(runs::make_report_table({first, second}) ==
        "numbers, 10 numbers, 1 seed\n\n"
        "  method  count  locked in\n  a         1.0           \n  b         2.0          x\n");
}

TEST_CASE("a text of several lines takes as many rows", "[runs][table]") {
  RunRecord first = table_record("a", {1}), second = table_record("b", {2});
  first.summary["locked"] = "x\ny\n", second.summary["locked"] = "z";
  CHECK(runs::make_report_table({first, second}) ==
        "numbers, 10 numbers, 1 seed\n\n"
        "  method  count  locked in\n  a         1.0          x\n                         y\n  b         2.0          "
        "z\n");
}

TEST_CASE("runs of other tasks, lengths, data and numbers of seeds have headings of their own", "[runs][table]") {
  RunRecord real = table_record("d", {5});
  real.summary["data"] = "real";
  const std::string table = runs::make_report_table({table_record("a", {1}), table_record("b", {2}, "letters"),
                                                     table_record("c", {3}, "numbers", 0), real,
                                                     table_record("e", {1, 2}), table_record("f", {4})});
  CHECK(table ==
        "numbers, 10 numbers, 1 seed\n\n"
        "  method  count  locked in\n  a         1.0          -\n  f         4.0          -\n\n"
        "letters, 10 numbers, 1 seed\n\n"
        "  method  count  locked in\n  b         2.0          -\n\n"
        "numbers, all numbers, 1 seed\n\n"
        "  method  count  locked in\n  c         3.0          -\n\n"
        "numbers (real data), 10 numbers, 1 seed\n\n"
        "  method  count  locked in\n  d         5.0          -\n\n"
        "numbers, 10 numbers, 2 seeds\n\n"
        "  method      count  locked in\n  e       1.5 ± 0.7          -\n");
}

TEST_CASE("tables of a sweep say task, length and seeds, and runs that differ in these stand apart", "[runs][table]") {
  const RunRecord other = table_record("steps=20", {2, 3}, "letters", 20);
  CHECK(runs::make_report_table({table_record("stride=1", {1}), table_record("stride=2", {2}), other}, "a sweep") ==
        "a sweep\n\n"
        "numbers, 10 numbers, 1 seed\n\n"
        "  run       count  locked in\n"
        "  stride=1    1.0          -\n"
        "  stride=2    2.0          -\n\n"
        "letters, 20 numbers, 2 seeds\n\n"
        "  run           count  locked in\n"
        "  steps=20  2.5 ± 0.7          -\n");
  CHECK(runs::make_report_table({other}, "a sweep") ==
        "a sweep\n\n"
        "letters, 20 numbers, 2 seeds\n\n"
        "  run           count  locked in\n"
        "  steps=20  2.5 ± 0.7          -\n");
  CHECK(runs::make_report_table({}, "a sweep") == "a sweep\n");
}

TEST_CASE("a sweep over lengths or tasks is one table: the names of its runs say what they differ in",
          "[runs][table]") {
  CHECK(runs::make_report_table({table_record("steps=10", {1}), table_record("steps=20", {2}, "numbers", 20)},
                                "a sweep") ==
        "a sweep\n\n"
        "  run       count  locked in\n"
        "  steps=10    1.0          -\n"
        "  steps=20    2.0          -\n");
}
