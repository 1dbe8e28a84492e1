// Tables written by hand: every way to say who was chosen, what it paid and how it was drawn, and what is no decision.
#include <stein/replay/csv_log.h>
#include <stein/replay/feature_hash.h>
#include <stein/replay/log_facts.h>
#include <stein/replay/log_reader.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

using namespace stein;
using namespace stein::replay;

namespace {

using Kind = LineVerdict::Kind;

const std::string header = "time,age,arm,city,reward,propensity,height";
const std::string row = "1574553663,31,red,Oslo,1,0.25,1.5";

/// A format that has read its header.
struct ReadCsv {
  CsvLog log;
  ArmTable arms{5};
  LoggedEvent event;

  explicit ReadCsv(const CsvLog::Options& options, const std::string& first_line = header) : log(options) {
    log.begin(first_line);
    log.begin_file();
    REQUIRE(log.read(first_line, arms, event).kind == Kind::other);
  }
  LineVerdict operator()(const std::string& line) { return log.read(line, arms, event); }
  std::string reason(const std::string& line) { return std::string((*this)(line).reason); }
};

const CsvLog::Options with_city{.categories = {"city"}, .buckets = 4};
const CsvLog::Options named{.categories = {"city"}, .buckets = 4, .arm_names = {"blue", "red", "green"}};

void begin(const std::string& line, const CsvLog::Options& options) {
  CsvLog(options).begin(line);
}

std::vector<float> one_hot(const std::string& text, std::size_t buckets) {
  std::vector<float> columns(buckets);
  columns[bucket_of(hash_name(text), buckets)] = 1;
  return columns;
}

/// Numbers of a context in the order of the columns' names: age, city, height.
std::vector<float> context_of(float age, const std::string& city, float height) {
  std::vector<float> context{age};
  const std::vector<float> columns = one_hot(city, 4);
  context.insert(context.end(), columns.begin(), columns.end());
  context.push_back(height);
  return context;
}

/// All events of a log of files, read with default options but for the categories.
std::vector<LoggedEvent> events_of(const std::vector<std::filesystem::path>& files, BadLines bad = BadLines::stop) {
  LogReader reader(files, std::make_unique<CsvLog>(with_city), 10, bad);
  std::vector<LoggedEvent> events;
  for (LoggedEvent event; reader.next(event);) events.push_back(event);
  return events;
}

}  // namespace

TEST_CASE("a row whose id was there already is a bad line, also in another file and after a checkpoint",
          "[replay][csv]") {
  CsvLog log({.id = "key"});
  ArmTable arms(10);
  LoggedEvent event;
  const std::string header = "key,x,arm,reward,propensity";
  const auto verdict = [&](const std::string& line) { return log.read(line, arms, event); };
  log.begin(header);
  log.begin_file();
  CHECK(log.spec().context_size == 1);
  REQUIRE(verdict(header).kind == Kind::other);
  CHECK(verdict("a,1,red,0,0.5").kind == Kind::event);
  CHECK(verdict("b,1,red,0,0.5").kind == Kind::event);
  CHECK(verdict("a,1,red,0,0.5").reason == "an event that was there already");
  CHECK(verdict(",1,red,0,0.5").reason == "no id");
  CHECK(verdict("c,1,red,x,0.5").kind == Kind::bad);
  CHECK(verdict("c,1,red,1,0.5").kind == Kind::event);  // the bad one was none
  Snapshot saved;
  log.save(saved);
  log.begin_file();
  REQUIRE(verdict(header).kind == Kind::other);
  CHECK(verdict("b,1,red,0,0.5").kind == Kind::bad);
  CsvLog later({.id = "key"});
  later.begin(header);
  later.restore(saved);
  later.begin_file();
  REQUIRE(later.read(header, arms, event).kind == Kind::other);
  CHECK(later.read("c,1,red,0,0.5", arms, event).kind == Kind::bad);
  CHECK(later.read("d,1,red,0,0.5", arms, event).kind == Kind::event);
  CHECK_ERROR(CsvLog({.id = "key"}).begin("x,arm,reward,propensity"), data, "'key' (option `id`");
}

TEST_CASE("arms that were counted before can be chosen from the first event on", "[replay][csv]") {
  CsvLog log({}), own({.arm_names = {"red"}});
  ArmTable arms(10);
  LoggedEvent event;
  const std::string header = "x,arm,reward,propensity";
  log.know_arms({"red", "blue"}), own.know_arms({"red", "blue"});
  CHECK(own.spec().arm_names == std::vector<std::string>{"red"});  // whoever names them knows better
  log.begin(header);
  log.begin_file();
  REQUIRE(log.read(header, arms, event).kind == Kind::other);
  REQUIRE(log.read("1,blue,0,0.5", arms, event).kind == Kind::event);
  CHECK(event.present.size() == 2);
  CHECK(log.spec().arm_names == std::vector<std::string>{"red", "blue"});
  CHECK(log.spec().arms == 2);
}

TEST_CASE("categories that share a column and numbers far from 1 are warned of, over files and checkpoints",
          "[replay][csv]") {
  CsvLog log({.categories = {"city"}, .buckets = 2});
  ArmTable arms(10);
  LoggedEvent event;
  const std::string header = "city,hour,x,arm,reward,propensity";
  const auto said = [](const CsvLog& of) {
    std::string all;
    for (const std::string& text : of.warnings()) all += text + "|";
    return all;
  };
  log.begin(header);
  log.begin_file();
  REQUIRE(log.read(header, arms, event).kind == Kind::other);
  REQUIRE(log.read("Oslo,-1500,0.5,red,0,0.5", arms, event).kind == Kind::event);
  CHECK_THAT(said(log), Catch::Contains("'hour' has numbers as large as 1.5e+03") && !Catch::Contains("'x'") &&
                            !Catch::Contains("city"));
  log.begin_file();
  REQUIRE(log.read(header, arms, event).kind == Kind::other);
  for (const char* city : {"Roma", "Wien"})
    REQUIRE(log.read(std::string(city) + ",1,0.5,red,0,0.5", arms, event).kind == Kind::event);
  CHECK_THAT(said(log), Catch::Contains("'hour'") && Catch::Contains("the categories of 'city' were hashed into"));
  Snapshot saved;
  log.save(saved);
  CsvLog later({.categories = {"city"}, .buckets = 2});
  later.begin(header);
  later.restore(saved);
  CHECK(said(later) == said(log));
}

TEST_CASE("a row of a table is an event with every number of it", "[replay][csv]") {
  ReadCsv read(named);
  read.event.weight = 7;  // of an event before
  read.event.active = {1}, read.event.arm_features = {1};
  REQUIRE(read(row).kind == Kind::event);
  CHECK(read.event.time == 1574553663);
  CHECK(read.event.dense == context_of(31, "Oslo", 1.5F));
  CHECK(read.event.present == std::vector<std::int32_t>{0, 1, 2});
  CHECK(read.arms.name(read.event.action) == "red");
  CHECK(read.event.action == 1);
  CHECK(read.event.reward == 1);
  CHECK(read.event.propensity == 0.25);
  CHECK(read.event.weight == 1);
  CHECK(read.log.spec().arms == 3);
  CHECK(read.log.spec().arm_names == named.arm_names);
  CHECK(read.log.spec().context_size == 6);
  CHECK(read.log.spec().bounded);
  CHECK(read.log.spec().reward_low == 0);
  CHECK(read.log.spec().reward_high == 1);
  CHECK_NOTHROW(read.event.context().check(read.log.spec()));
}

TEST_CASE("without a list of arms those can be chosen that have come so far", "[replay][csv]") {
  ReadCsv read(with_city);
  CHECK(read.log.spec().arms == 0);
  const auto with_arm = [](const std::string& arm) { return "0,31," + arm + ",Oslo,1,0.25,1.5"; };
  const auto check = [&](const std::string& arm, std::int64_t action, std::int64_t choices) {
    REQUIRE(read(with_arm(arm)).kind == Kind::event);
    CHECK(read.event.action == action);
    CHECK(read.event.choices() == choices);
    CHECK(read.arms.name(action) == arm);
  };
  check("red", 0, 1);
  check("blue", 1, 2);
  check("red", 0, 2);
  CHECK(read.reason("0,31,green,Oslo,2,0.25,1.5") == "a reward that is not between `reward_low` and `reward_high`");
  CHECK(read.arms.size() == 2);  // the bad line names no arm
  check("green", 2, 3);
  check("4", 3, 4), check("5", 4, 5);
  CHECK_ERROR(read(with_arm("6")), data, "more than 5 arms", "`arms`");
}

TEST_CASE("the first event of an arm that nobody named weighs too much under uniform arms", "[replay][csv]") {
  // Four arms drawn uniformly, p = 1/4: the k-th new arm comes with k to choose from, so that its weight is 4 / k.
  ReadCsv read(CsvLog::Options{}, "arm,reward,propensity");
  const auto weight = [&](const std::string& arm) {
    REQUIRE(read(arm + ",1,0.25").kind == Kind::event);
    return uniform_terms(read.event).weight;
  };
  CHECK(weight("a") == 4);
  CHECK(weight("b") == 2);
  CHECK(weight("c") == Approx(4.0 / 3));
  CHECK(weight("d") == 1);
  CHECK(weight("a") == 1);
}

TEST_CASE("arms without propensities were drawn uniformly among those that are named", "[replay][csv]") {
  CsvLog::Options options{.arm_names = {"a", "b", "c", "d"}};
  const auto propensity = [&](const std::string& first_line, const std::string& line) {
    ReadCsv read(options, first_line);
    REQUIRE(read(line).kind == Kind::event);
    CHECK(read.event.choices() == 4);
    return read.event.propensity;
  };
  CHECK(propensity("arm,reward", "b,1") == 0.25);
  CHECK(propensity("arm,reward,propensity", "b,1,0.5") == 0.5);
  CHECK_ERROR(begin("arm,reward", {}), data, "no column of propensities", "`arm_names`", "1 / number of arms");
  options.propensity = "";
  CHECK(propensity("arm,reward", "b,1") == 0.25);
  CHECK(propensity("arm,reward,propensity", "b,1,0.5") == 0.25);  // a number of the context like any other
  CHECK_ERROR(begin("arm,reward,propensity", {.propensity = ""}), data, "`arm_names`");
}

TEST_CASE("a misspelt column is never taken for a missing one", "[replay][csv]") {
  const CsvLog::Options uniform{.arm_names = {"a", "b"}};
  CHECK_ERROR(begin("arm,reward,propensty", uniform), data, "no column 'propensity'", "did you mean 'propensty'?");
  CHECK_ERROR(begin("arm,reward,propensity_score", uniform), data, "did you mean 'propensity_score'?");
  CHECK_ERROR(begin("arm,reward", {.propensity = "p", .arm_names = {"a"}}), data, "no column 'p' (option `propensity`");
  CHECK_ERROR(begin("arm,reward,propensity", {.time = "when"}), data, "no column 'when' (option `time`");
  CHECK_ERROR(begin("arm,reward,propensity,town", with_city), data, "no column 'city' (option `categories`");
  CHECK_NOTHROW(begin("arm,reward,propensity,size", {}));  // two letters from `time`, which may be missing
}

TEST_CASE("a header without the needed columns says what is missing and what is there", "[replay][csv]") {
  CHECK_ERROR(begin("arms,click,propensity,age", {}), data, "no column 'arm' (option `arm`, did you mean 'arms'?)",
              "no column 'reward' (option `reward`)", "its columns are arms, click, propensity, age");
  CHECK_ERROR(begin("", {}), data, "expected a header");
  CHECK_ERROR(begin("1241160900 109498 0 |user 1:1", {}), data, "no column 'arm'", "|user");
  CHECK_ERROR(begin("\"arm,reward,propensity", {}), data, "expected a header", "\"arm");
  CHECK_ERROR(begin(std::string(100'000, ','), {}), data, "65536");
  CHECK_ERROR(begin("arm,reward,propensity,x,y,x", {}), data, "the column 'x' twice");
  CHECK_ERROR(begin("arm,reward,propensity,arm", {}), data, "the column 'arm' twice");
}

TEST_CASE("options of a table that contradict each other are refused", "[replay][csv]") {
  CHECK_ERROR(CsvLog({.arm = "x", .reward = "x"}), usage, "'x' is named twice");
  CHECK_ERROR(CsvLog({.categories = {"time"}}), usage, "'time' is named twice");
  CHECK_NOTHROW(CsvLog({.propensity = "", .time = "", .categories = {"time"}}));
  CHECK_ERROR(CsvLog({.arm = ""}), usage, "`arm`");
  CHECK_ERROR(CsvLog({.arm_names = {"a", "b", "a"}}), usage, "names 'a' twice");
  CHECK_ERROR(CsvLog({.reward_low = 1}), usage, "reward_low");
  CHECK_ERROR(CsvLog({.buckets = 0}), usage, "buckets");
}

TEST_CASE("columns have the names that options give them", "[replay][csv]") {
  ReadCsv read({.arm = "item", .reward = "gain", .propensity = "p", .time = "when", .reward_low = -2, .reward_high = 5},
               "p,item,when,gain,arm");
  REQUIRE(read("0.5,x,2019-11-24 00:01:03.9+00:00,-1.5,8").kind == Kind::event);
  CHECK(read.arms.name(read.event.action) == "x");
  CHECK(read.event.time == 1574553663);  // date -d '2019-11-24 00:01:03 UTC' +%s
  CHECK(read.event.reward == -1.5);
  CHECK(read.event.propensity == 0.5);
  CHECK(read.event.dense == std::vector<float>{8});
  CHECK(read("0.5,x,0,5,8").kind == Kind::event);
  CHECK(read.reason("0.5,x,0,5.1,8") == "a reward that is not between `reward_low` and `reward_high`");
  CHECK(read.log.spec().reward_low == -2);
  CHECK(read.log.spec().reward_high == 5);
}

TEST_CASE("a table needs no times and no context, and columns without a name are left out", "[replay][csv]") {
  ReadCsv read({}, ",propensity,arm,reward,");
  REQUIRE(read("17,0.5,a,1,x").kind == Kind::event);
  CHECK(read.event.time == 0);
  CHECK(read.event.dense.empty());
  CHECK(read.log.spec().context_size == 0);
}

TEST_CASE("seconds may have a fraction and be before 1970", "[replay][csv]") {
  ReadCsv read({}, "time,arm,reward,propensity");
  const auto time = [&](const std::string& text) {
    REQUIRE(read(text + ",a,1,0.5").kind == Kind::event);
    return read.event.time;
  };
  CHECK(time("1574553663.979") == 1574553663);
  CHECK(time("-0.5") == -1);
  CHECK(time("1e9") == 1'000'000'000);
  CHECK(time("\"1970-01-02T00:00:00Z\"") == 86'400);
}

TEST_CASE("the context has its columns by name, whatever their order in a file", "[replay][csv]") {
  const test::TemporaryDirectory folder;
  const std::vector<LoggedEvent> events = events_of(
      {test::write(folder / "1.csv", header + "\n" + row + "\n"),
       test::write(folder / "2.csv", "height,reward,arm,propensity,city,time,age\n1.5,1,red,0.25,Oslo,5,31\n")});
  REQUIRE(events.size() == 2);
  CHECK(events[0].dense == context_of(31, "Oslo", 1.5F));
  CHECK(events[1].dense == events[0].dense);
  CHECK(events[1].action == events[0].action);
  CHECK(events[1].time == 5);
  CHECK_ERROR(events_of({folder / "1.csv", test::write(folder / "3.csv", header + ",x\n" + row + ",1\n")}), data,
              "3.csv", "line 1", "columns of the log's first file");
  CHECK_ERROR(events_of({folder / "1.csv", test::write(folder / "4.csv", row + "\n")}), data, "4.csv", "line 1",
              "no column 'arm'");
}

TEST_CASE("quotes, commas in names, line ends of two bytes and a byte order mark are read", "[replay][csv]") {
  const test::TemporaryDirectory folder;
  const std::filesystem::path file = test::write(folder / "log.csv",
                                                 "\xef\xbb\xbf\"arm\",reward,propensity,\"size, cm\",city\r\n"
                                                 "\"red, \"\"dark\"\"\",1,0.5,\"3\",\"Paris, France\"\r\n"
                                                 "\r\n"
                                                 " red ,\"0\",0.5, 4 ,\r\n"
                                                 "blue,0,0.5,4,\" Oslo\"");
  const std::vector<LoggedEvent> events = events_of({file});
  REQUIRE(events.size() == 3);
  CHECK(events[0].present.size() == 1);
  CHECK(events[1].present.size() == 2);
  const auto expected = [](const std::string& city, float size) {
    std::vector<float> context = one_hot(city, 4);
    context.push_back(size);
    return context;
  };
  CHECK(events[0].dense == expected("Paris, France", 3));
  CHECK(events[1].dense == expected("", 4));  // no text is a category of its own
  CHECK(events[2].dense == expected(" Oslo", 4));
  LogReader reader({file}, std::make_unique<CsvLog>(with_city), 10);
  LoggedEvent event;
  REQUIRE(reader.next(event));
  CHECK(reader.arms().name(0) == "red, \"dark\"");
  REQUIRE(reader.next(event));
  CHECK(reader.arms().name(1) == "red");
}

TEST_CASE("a row that is no decision says why, and names no arms", "[replay][csv]") {
  const auto [line, why] = GENERATE(table<std::string, std::string>({
      {"1,2,3", "another number of fields than the header has"},
      {row + ",1", "another number of fields than the header has"},
      {"\"" + row, "no comma-separated values, or a quoted field that does not end on its line"},
      {row + "\r" + row, "no comma-separated values, or a quoted field that does not end on its line"},
      {"x\"y,31,red,Oslo,1,0.25,1.5", "no comma-separated values, or a quoted field that does not end on its line"},
      {header, "a time that is neither seconds nor a date with a time"},
      {",31,red,Oslo,1,0.25,1.5", "a time that is neither seconds nor a date with a time"},
      {"2019-11-24,31,red,Oslo,1,0.25,1.5", "a time that is neither seconds nor a date with a time"},
      {"1e300,31,red,Oslo,1,0.25,1.5", "a time that is neither seconds nor a date with a time"},
      {"nan,31,red,Oslo,1,0.25,1.5", "a time that is neither seconds nor a date with a time"},
      {"0,31,red,Oslo,,0.25,1.5", "no reward"},
      {"0,31,red,Oslo,yes,0.25,1.5", "no reward"},
      {"0,31,red,Oslo,1.01,0.25,1.5", "a reward that is not between `reward_low` and `reward_high`"},
      {"0,31,red,Oslo,-1,0.25,1.5", "a reward that is not between `reward_low` and `reward_high`"},
      {"0,31,red,Oslo,nan,0.25,1.5", "a reward that is not between `reward_low` and `reward_high`"},
      {"0,31,red,Oslo,1,,1.5", "a propensity that is not in (0, 1]"},
      {"0,31,red,Oslo,1,0,1.5", "a propensity that is not in (0, 1]"},
      {"0,31,red,Oslo,1,-0.25,1.5", "a propensity that is not in (0, 1]"},
      {"0,31,red,Oslo,1,1.01,1.5", "a propensity that is not in (0, 1]"},
      {"0,31,red,Oslo,1,nan,1.5", "a propensity that is not in (0, 1]"},
      {"0,31,red,Oslo,1,0.25%,1.5", "a propensity that is not in (0, 1]"},
      {"0,,red,Oslo,1,0.25,1.5", "no number in the column 'age', which is none of the option `categories`"},
      {"0,31,red,Oslo,1,0.25, ", "no number in the column 'height', which is none of the option `categories`"},
      {"0,old,red,Oslo,1,0.25,1.5", "no number in the column 'age', which is none of the option `categories`"},
      {"0,nan,red,Oslo,1,0.25,1.5", "no number in the column 'age', which is none of the option `categories`"},
      {"0,inf,red,Oslo,1,0.25,1.5", "no number in the column 'age', which is none of the option `categories`"},
      {"0,1e39,red,Oslo,1,0.25,1.5", "no number in the column 'age', which is none of the option `categories`"},
      {"0,\"1,5\",red,Oslo,1,0.25,1.5", "no number in the column 'age', which is none of the option `categories`"},
      {"0,31,,Oslo,1,0.25,1.5", "no arm"},
  }));
  CAPTURE(line);
  ReadCsv read(with_city);
  CHECK(read(line).kind == Kind::bad);
  CHECK(read.reason(line) == why);
  CHECK(read.arms.size() == 0);
  CHECK(read(row).kind == Kind::event);
  CHECK(read("").kind == Kind::other);
}

TEST_CASE("an arm that is not in the list of arms makes a bad line", "[replay][csv]") {
  ReadCsv read(named);
  for (const char* arm : {"yellow", "Red"})
    CHECK(read.reason("0,31," + std::string(arm) + ",Oslo,1,0.25,1.5") ==
          "an arm that the option `arm_names` does not have");
  CHECK(read.reason("0,31,,Oslo,1,0.25,1.5") == "no arm");
  CHECK(read.arms.size() == 0);
  CHECK(read(row).kind == Kind::event);
}

TEST_CASE("an arm whose name is no UTF-8 ends the log", "[replay][csv]") {
  ReadCsv read(with_city);
  CHECK(read("0,31,caf\xc3\xa9,Oslo,1,0.25,1.5").kind == Kind::event);
  CHECK_ERROR(read("0,31,caf\xe9,Oslo,1,0.25,1.5"), data, "no UTF-8", "iconv");
  CHECK(read.arms.size() == 1);
}

TEST_CASE("a number too small for a float is zero", "[replay][csv]") {
  ReadCsv read(CsvLog::Options{}, "arm,reward,propensity,x");
  REQUIRE(read("a,-0.0,0.5,1e-60").kind == Kind::event);
  CHECK(read.event.dense == std::vector<float>{0});
  CHECK_FALSE(std::signbit(read.event.reward));
}

TEST_CASE("a column of texts that is none of the categories is found at once", "[replay][csv]") {
  const test::TemporaryDirectory folder;
  std::string text = header + "\n";
  for (int i = 0; i < 200; ++i) text += row + "\n";
  LogReader reader({test::write(folder / "log.csv", text)}, std::make_unique<CsvLog>(CsvLog::Options{}), 10);
  LoggedEvent event;
  CHECK_ERROR(reader.next(event), data, "log.csv", "one of the option `categories`", "looks like csv");
}

TEST_CASE("contexts alone have a header of their own, in whatever order, with or without the other columns",
          "[replay][csv]") {
  const std::vector<float> expected = context_of(31, "Oslo", 1.5F);
  const std::vector<std::pair<std::string, std::string>> rows{{header, "1574553663,31,red,Oslo,1,0.25,1.5"},
                                                              {header, ",31,,Oslo,,,1.5"},
                                                              {"age,city,height", "31,Oslo,1.5"},
                                                              {"height,city,age", "1.5,\"Oslo\", 31"}};
  for (const auto& [columns, line] : rows) {
    CAPTURE(columns, line);
    CsvLog log(named);
    ArmTable arms(5);
    LoggedEvent event;
    log.begin_contexts(columns);
    CHECK(log.read_context(columns, arms, event).kind == Kind::other);
    CHECK(log.read_context("", arms, event).kind == Kind::other);
    REQUIRE(log.read_context(line, arms, event).kind == Kind::event);
    CHECK(event.dense == expected);
    CHECK(event.choices() == 3);
    CHECK_NOTHROW(event.context().check(log.spec()));
  }
  CsvLog log(named);
  ArmTable arms(5);
  LoggedEvent event;
  log.begin_contexts("age,city,height");
  const auto reason = [&](const std::string& line) { return std::string(log.read_context(line, arms, event).reason); };
  CHECK(reason("31,Oslo") == "another number of fields than the header has");
  CHECK(reason("31,\"Oslo,1") == "no comma-separated values, or a quoted field that does not end on its line");
  CHECK(reason("31,Oslo,") == "no number in the column 'height', which is none of the option `categories`");
  CHECK(reason("Oslo,31,1.5") == "no number in the column 'age', which is none of the option `categories`");
  CHECK_ERROR(CsvLog(named).begin_contexts("age,age"), data, "'age' twice");
}

TEST_CASE("without names of arms those can be chosen that are known", "[replay][csv]") {
  CsvLog log(with_city);
  ArmTable arms(5);
  LoggedEvent event;
  log.begin_contexts("height,city,age");
  CHECK(log.read_context("1.5,Oslo,31", arms, event).reason.starts_with("no arm is known"));
  arms.number("red"), arms.number("blue");
  REQUIRE(log.read_context("1.5,Oslo,31", arms, event).kind == Kind::event);
  CHECK(event.dense == context_of(31, "Oslo", 1.5F));
  CHECK(event.present == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("a reader of tables goes on behind any event", "[replay][csv]") {
  const test::TemporaryDirectory folder;
  std::string first = header + "\n", second = "reward,height,city,arm,age,propensity,time\n";
  for (int i = 0; i < 4; ++i) {
    first += "1,31,a" + std::to_string(i) + ",Oslo,1,0.25,1.5\nbad\n";
    second += "0," + std::to_string(i) + ",Roma,b" + std::to_string(i) + ",3,0.5,9\n";
  }
  const std::vector<std::filesystem::path> files{test::write(folder / "1.csv", first),
                                                 test::write_gzip(folder / "2.csv.gz", second)};
  const auto reader = [&] { return LogReader(files, std::make_unique<CsvLog>(with_city), 10); };
  LogReader log = reader();
  for (int stop = 0; stop < 8; ++stop) {
    CAPTURE(stop);
    Snapshot saved;
    log.save(saved);
    LogReader other = reader();
    other.restore(saved);
    LoggedEvent event, same;
    REQUIRE(log.next(event));
    REQUIRE(other.next(same));
    CHECK(event.choices() == stop + 1);
    CHECK(same.present == event.present);
    CHECK(same.dense == event.dense);
    CHECK(same.action == event.action);
  }
  LoggedEvent event;
  CHECK_FALSE(log.next(event));
  CHECK(log.bad_line_count() == 4);
}

TEST_CASE("a header of names is recognised, and no log of another format", "[replay][csv]") {
  for (const char* line : {"arm,reward", ",user,item,click", "\"a, b\",c", "item_id,click"})
    CHECK(CsvLog::recognises(line));
  for (const char* line :
       {"", "arm", "1,2,3", "a,2", "1241160900 109498 0 |user 1:1,2", "shared | a,b", R"({"a":1,"b":2})",
        R"(["a","b"])", "0:1:0.5 | a, b", "timestamp,item_id,position,click,propensity_score,user-item_affinity_0"})
    CHECK_FALSE(CsvLog::recognises(line));
}
