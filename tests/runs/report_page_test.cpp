// The page of a report: groups, curves over seeds, and nothing that ends a script too early.
#include <stein/runs/report_page.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "runs/toy_experiment.h"

using namespace stein;
using runs::RunRecord;
using Json = nlohmann::ordered_json;

namespace {

/// Runs of it are alike if their steps are; the curve of "share" is averaged over two parts.
const runs::RunKind scripted_kind = test::counter_kind_with([](runs::ReportLayout& report) {
  report.grouped_by = {"steps"};
  report.script = "(tools) => ({name: '</script>'})";
  report.curve_parts = [](std::string_view tag) { return tag == "share" ? 2 : 0; };
  report.data = [](const RunRecord& record) { return Json{{"own", record.files.size()}}; };
});

RunRecord page_record(const std::string& label, std::int64_t steps) {
  RunRecord record;
  record.kind = &scripted_kind;
  record.task = "numbers";
  record.label = label;
  record.summary = {{"steps", steps}};
  return record;
}

std::string between(const std::string& page, const std::string& begin, const std::string& end) {
  const std::size_t from = page.find(begin);
  REQUIRE(from != std::string::npos);
  return page.substr(from + begin.size(), page.find(end, from) - from - begin.size());
}

/// What the page's scripts find in it.
Json data_of(const std::string& page) {
  return Json::parse(between(page, R"(<script id="data" type="application/json">)", "</script>"));
}

Json curve_of(const std::string& tag, const decltype(RunRecord::metrics)::mapped_type& metric) {
  RunRecord record = page_record("one", 8);
  record.metrics[tag] = metric;
  return data_of(runs::make_report_page({record}))["groups"][0]["runs"][0]["curves"][tag];
}

}  // namespace

TEST_CASE("a curve is the median over seeds with quartiles at every recorded step", "[runs][report]") {
  CHECK(curve_of("return", {{3, {{0, 1}, {1, 2}, {2, 4}}}, {5, {{1, 7}}}}) ==
        Json{{"step", {3, 5}}, {"median", {2.0, 7.0}}, {"low", {1.5, 7.0}}, {"high", {3.0, 7.0}}});
}

TEST_CASE("a curve in parts weighs a record by the steps since the seed's last one, and keeps what a seed had before",
          "[runs][report]") {
  // Parts of 4 steps. Seed 0: (10·2 + 20·2)/4 = 15, then 30. Seed 1: (0·1 + 100·3)/4 = 75, and nothing new.
  CHECK(curve_of("share", {{1, {{1, 0}}}, {2, {{0, 10}}}, {4, {{0, 20}, {1, 100}}}, {8, {{0, 30}}}}) ==
        Json{{"step", {4, 8}}, {"median", {45.0, 52.5}}, {"low", {30.0, 41.25}}, {"high", {60.0, 63.75}}});
}

TEST_CASE("numbers of a curve have six digits", "[runs][report]") {
  CHECK(curve_of("return", {{1, {{0, 1.0 / 3}}}, {2, {{0, -12345678.9}}}})["median"] == Json{0.333333, -12345700.0});
}

TEST_CASE("runs that can be compared stand together, in the order in which they were given", "[runs][report]") {
  RunRecord last = page_record("d", 20);
  last.task = "letters";
  last.files["counted.txt"] = "";
  const Json groups = data_of(
      runs::make_report_page({page_record("a", 20), page_record("b", 10), page_record("c", 20), last}))["groups"];
  REQUIRE(groups.size() == 3);
  const auto labels = [](const Json& group) {
    std::string text;
    for (const Json& run : group["runs"]) text += run["label"].get<std::string>();
    return text;
  };
  CHECK(labels(groups[0]) == "ac");
  CHECK(labels(groups[1]) == "b");
  CHECK(labels(groups[2]) == "d");
  CHECK(groups[1]["kind"] == "counter");
  CHECK(groups[1]["task"] == "numbers");
  CHECK(groups[1]["steps"] == 10);
  CHECK(groups[2]["task"] == "letters");
  CHECK(groups[0]["runs"][0]["own"] == 0);
  CHECK(groups[2]["runs"][0]["own"] == 1);
}

TEST_CASE("no text of a run or a script ends the page's scripts, and texts arrive unchanged", "[runs][report]") {
  const std::string evil = "</script><script>alert(1)</script>";
  const std::string page = runs::make_report_page({page_record(evil, 1)});
  CHECK(page.find("alert(1)</script>") == std::string::npos);
  CHECK(data_of(page)["groups"][0]["runs"][0]["label"] == evil);
  CHECK_THAT(page, Catch::Contains(R"(name: '<\/script>')"));
}

TEST_CASE("the page has the script of every kind once, and what it needs to be read offline", "[runs][report]") {
  const std::string page = runs::make_report_page({page_record("a", 1), page_record("b", 2)});
  const std::string kinds = between(page, "const kindScripts =", "</script>");
  CHECK_THAT(kinds, Catch::Contains("\"counter\":\n(tools) =>"));
  CHECK(std::ranges::count(kinds, '>') == 2);  // of one arrow, and of the text in it
  for (const char* mark : {"/* style */", "/* data */", "/* kinds */", "/* page */", "/* plotly */"}) {
    CAPTURE(mark);
    CHECK(page.find(mark) == std::string::npos);
  }
  CHECK_THAT(page, Catch::Contains("Plotly") && !Catch::Contains("src=\"http"));
}

TEST_CASE("a group of runs has the differences of all its pairs, up to a thousand", "[runs][report]") {
  static runs::RunKind paired = scripted_kind;
  paired.paired = {"share"};
  const auto groups_of = [](int count) {
    std::vector<RunRecord> records;
    for (int i = 0; i < count; ++i) {
      records.push_back(page_record(fmt::format("run {}", i), 20));
      records.back().kind = &paired;
      records.back().summary["seeds"] = {0, 1};
      records.back().summary["share"] = runs::measured(std::vector<double>{1.0 * i, 3.0 * i});
    }
    return data_of(runs::make_report_page(records))["groups"];
  };
  const Json two = groups_of(2)[0]["differences"];
  REQUIRE(two["list"].size() == 1);
  CHECK(two["list"][0]["difference"] == -2.0);
  CHECK(two["left_out"] == 0);
  const Json nine = groups_of(9)[0]["differences"];
  CHECK(nine["list"].size() == 36);
  CHECK(nine["left_out"] == 0);
  const Json many = groups_of(46)[0]["differences"];  // 46·45/2 = 1,035 pairs
  CHECK(many["list"].size() == 1'000);
  CHECK(many["left_out"] == 35);
}
