#include <stein/replay/decision_log.h>
#include <stein/replay/log_reader.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <vector>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

using namespace stein;
using namespace stein::replay;

namespace {

const envs::BanditSpec quoted_shop{.name = "shop \"A\"",
                                   .arms = 3,
                                   .context_size = 2,
                                   .arm_features = 1,
                                   .reward_low = -1,
                                   .reward_high = 4,
                                   .reward_deviation = 0.1,
                                   .data = "synthetic",
                                   .source = "a test",
                                   .arm_names = {"red", "blue, dark", "green"}};

struct ReadDecisions {
  DecisionLog log{{}};
  ArmTable arms{10};
  LoggedEvent event;

  explicit ReadDecisions(const envs::BanditSpec& of = quoted_shop) { log.begin(decision_log_head(of)); }
  /// Of a file of its own.
  LineVerdict operator()(const std::string& line) {
    log.begin_file();
    return log.read(line, arms, event);
  }
};

const std::vector<float> context{0.1f, -3e-7f}, features{5, 6};
const std::vector<std::int32_t> present{2, 0};
const std::vector<double> propensities{0.25, 0.75};

std::string whole_line() {
  return decision_line({.seed = 3,
                        .step = 17,
                        .context = {.dense = context, .present = present, .arm_features = features},
                        .action = 2,
                        .reward = 1.5,
                        .propensities = propensities},
                       quoted_shop);
}

/// The line with `from` replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string line = whole_line();
  const std::size_t place = line.find(from);
  REQUIRE(place != std::string::npos);
  return line.replace(place, from.size(), to);
}

}  // namespace

TEST_CASE("a decision that was written is read with every number of it", "[replay][decisions]") {
  CHECK(whole_line() ==
        R"({"seed":3,"step":17,"row":-1,"context":[0.1,-3e-07],"present":[2,0],"arm_features":[5,6],"action":2,)"
        R"("arm":"green","reward":1.5,"propensities":[0.25,0.75],"deterministic":false})");
  ReadDecisions read;
  read.event.weight = 7;  // of an event before
  CHECK(read.log.spec().name == quoted_shop.name);
  CHECK(read.log.spec().arms == 3);
  CHECK(read.log.spec().context_size == 2);
  CHECK(read.log.spec().active_columns == 0);
  CHECK(read.log.spec().arm_features == 1);
  CHECK(read.log.spec().reward_low == -1);
  CHECK(read.log.spec().reward_high == 4);
  CHECK_FALSE(read.log.spec().bounded);
  CHECK(read.log.spec().data == "synthetic");
  CHECK(read.log.spec().source == "a test");
  CHECK(read.log.spec().reward_deviation == 0.1);
  CHECK(read.log.spec().arm_names == quoted_shop.arm_names);
  REQUIRE(read(whole_line()).kind == LineVerdict::Kind::event);
  CHECK(read.event.dense == context);
  CHECK(read.event.present == present);
  CHECK(read.event.arm_features == features);
  CHECK(read.event.action == 2);
  CHECK(read.event.reward == 1.5);
  CHECK(read.event.propensity == 0.25);
  CHECK(read.event.time == 17);
  CHECK(read.event.weight == 1);
  CHECK(read.event.active.empty());
  CHECK_NOTHROW(read.event.context().check(read.log.spec()));
  CHECK(read.arms.size() == 3);
  for (int arm = 0; arm < 3; ++arm) CHECK(read.arms.name(arm) == quoted_shop.arm_names[static_cast<std::size_t>(arm)]);
}

TEST_CASE("where all arms are there, and contexts are one-hot, lines say less", "[replay][decisions]") {
  const envs::BanditSpec one_hot{.name = "b", .arms = 2, .context_size = 9, .active_columns = 2, .data = "real"};
  const std::vector<std::int32_t> active{1, 8};
  const std::vector<double> sure{0, 1};
  ReadDecisions read(one_hot);
  const std::string line =
      decision_line({.context = {.active = active}, .action = 1, .propensities = sure, .deterministic = true}, one_hot);
  CHECK(line == R"({"seed":0,"step":0,"row":-1,"active":[1,8],"action":1,"arm":"1","reward":0,"propensities":[0,1],)"
                R"("deterministic":true})");
  REQUIRE(read(line).kind == LineVerdict::Kind::event);
  CHECK(read.event.active == active);
  CHECK(read.event.present == std::vector<std::int32_t>{0, 1});
  CHECK(read.event.propensity == 1);
  CHECK(read.event.dense.empty());
  CHECK(read.log.spec().active_columns == 2);
  for (const char* wrong : {"[8,1]", "[8,8]"}) {
    std::string other = line;
    other.replace(other.find("[1,8]"), 5, wrong);
    CHECK(read(other).reason == "active columns that do not ascend");
  }
  for (const char* wrong : {"[1,9]", "[-1,8]"}) {
    std::string other = line;
    other.replace(other.find("[1,8]"), 5, wrong);
    CHECK(read(other).reason == "an active column that is none of the bandit's");
  }
}

TEST_CASE("a line has the expected rewards where they are known", "[replay][decisions]") {
  const std::vector<double> expected{0.5, 0.25, 1}, sure{1, 0, 0};
  const envs::BanditSpec plain{.name = "b", .arms = 3};
  const std::string line = decision_line({.row = 8, .expected_rewards = expected, .propensities = sure}, plain);
  CHECK(line == R"({"seed":0,"step":0,"row":8,"action":0,"arm":"0","reward":0,"expected_rewards":[0.5,0.25,1],)"
                R"("propensities":[1,0,0],"deterministic":false})");
  CHECK(ReadDecisions(plain)(line).kind == LineVerdict::Kind::event);
}

TEST_CASE("nothing of a decision is left in the next event", "[replay][decisions]") {
  ReadDecisions read;
  REQUIRE(read(whole_line()).kind == LineVerdict::Kind::event);
  const std::vector<float> three{7, 8, 9};
  const std::vector<double> sure{0, 0, 1};
  const std::string all_arms = decision_line(
      {.context = {.dense = context, .arm_features = three}, .action = 2, .propensities = sure}, quoted_shop);
  REQUIRE(read(all_arms).kind == LineVerdict::Kind::event);
  CHECK(read.event.present == std::vector<std::int32_t>{0, 1, 2});
  CHECK(read.event.arm_features == three);
  CHECK(read.event.propensity == 1);
  CHECK(read(with("\"context\":[0.1,-3e-07],", "")).reason == "a context of another size than the log's bandit has");
}

TEST_CASE("single rewards lie where the bandit says that they do", "[replay][decisions]") {
  envs::BanditSpec clicks = quoted_shop;
  clicks.bounded = true;
  ReadDecisions bounded(clicks), unbounded;
  for (const auto& [reward, is_there] : {std::pair{"-1", true}, {"4", true}, {"4.01", false}, {"-1.01", false}}) {
    CAPTURE(reward);
    const std::string line = with("\"reward\":1.5", std::string("\"reward\":") + reward);
    CHECK((bounded(line).kind == LineVerdict::Kind::event) == is_there);
    CHECK(unbounded(line).kind == LineVerdict::Kind::event);  // bounds are those of expected rewards
  }
}

TEST_CASE("numbers of a decision are read back to the last bit", "[replay][decisions]") {
  const envs::BanditSpec plain{.name = "b", .arms = 2, .context_size = 3};
  const std::vector<float> numbers{1.0F / 3, 1e-45F, -3.4028235e38F};
  const std::vector<double> two{1.0 / 3, 2.0 / 3};
  ReadDecisions read(plain);
  const LoggedDecision decision{.step = (std::int64_t{1} << 53) + 1,
                                .context = {.dense = numbers},
                                .action = 1,
                                .reward = -1.0 / 7,
                                .propensities = two};
  REQUIRE(read(decision_line(decision, plain)).kind == LineVerdict::Kind::event);
  CHECK(read.event.dense == numbers);
  CHECK(read.event.reward == -1.0 / 7);
  CHECK(read.event.propensity == 2.0 / 3);
  CHECK(read.event.time == (std::int64_t{1} << 53) + 1);
}

TEST_CASE("names that are no UTF-8 are written so that the log can be read", "[replay][decisions]") {
  const envs::BanditSpec latin{.name = "caf\xe9", .arms = 1, .arm_names = {"th\xe9"}};
  ReadDecisions read(latin);
  CHECK(read.log.spec().arm_names == std::vector<std::string>{"th\xef\xbf\xbd"});  // U+FFFD
  const std::vector<double> sure{1};
  CHECK(read(decision_line({.propensities = sure}, latin)).kind == LineVerdict::Kind::event);
}

TEST_CASE("a decision that is there twice counts once, also after a checkpoint", "[replay][decisions]") {
  ReadDecisions read;
  const auto kind = [&](const std::string& line) { return read.log.read(line, read.arms, read.event).kind; };
  CHECK(kind(whole_line()) == LineVerdict::Kind::event);
  CHECK(kind(with("\"seed\":3", "\"seed\":4")) == LineVerdict::Kind::event);
  CHECK(read.log.read(whole_line(), read.arms, read.event).reason == "a decision that was there already");
  CHECK(kind(with("\"step\":17", "\"step\":16")) == LineVerdict::Kind::bad);
  CHECK(kind(with("\"step\":17", "\"step\":18")) == LineVerdict::Kind::event);
  Snapshot saved;
  read.log.save(saved);
  ReadDecisions later;
  later.log.restore(saved);
  CHECK(later.log.read(with("\"step\":17", "\"step\":18"), later.arms, later.event).kind == LineVerdict::Kind::bad);
  CHECK(later.log.read(with("\"step\":17", "\"step\":19"), later.arms, later.event).kind == LineVerdict::Kind::event);
}

TEST_CASE("a line that is no decision says why", "[replay][decisions]") {
  ReadDecisions read;
  const auto reason = [&](const std::string& line) {
    const LineVerdict verdict = read(line);
    CHECK(verdict.kind == LineVerdict::Kind::bad);
    return std::string(verdict.reason);
  };
  CHECK(reason("") == "no JSON object");
  CHECK(reason(whole_line().substr(0, 60)) == "no JSON object");
  CHECK(reason("[1]") == "no JSON object");
  CHECK(reason(with("\"seed\":3", "\"sead\":3")) == "no seed");
  CHECK(reason(with("[0.1,-3e-07]", "[0.1,\"x\"]")) == "a context that is no list of numbers");
  CHECK(reason(with("[0.1,-3e-07]", "[0.1,1e300]")) == "a context that is no list of numbers");
  CHECK(reason(with("[0.1,-3e-07]", "[0.1]")) == "a context of another size than the log's bandit has");
  CHECK(reason(with("[5,6]", "[5]")) == "a context of another size than the log's bandit has");
  CHECK(reason(with("[5,6]", "7")) == "features of arms that are no numbers");
  CHECK(reason(with("[2,0]", "[2,3]")) == "an arm that is none of the bandit's");
  CHECK(reason(with("[2,0]", "[2,-1]")) == "an arm that is none of the bandit's");
  CHECK(reason(with("[2,0]", "[2,2]")) == "an arm that is there twice");
  CHECK(reason(with("[2,0]", "[]")) == "arms to choose from that are no numbers");
  CHECK(reason(with("[2,0]", "[2,99999999999]")) == "arms to choose from that are no numbers");
  CHECK(reason(with("\"action\":2", "\"action\":1")) == "the chosen arm is not among those to choose from");
  CHECK(reason(with("\"action\":2", "\"action\":1e18")) == "no action");
  CHECK(reason(with("\"reward\":1.5", "\"reward\":null")) == "a reward that is no number");
  CHECK(reason(with("[0.25,0.75]", "[0.25]")) == "no propensity for every arm");
  CHECK(reason(with("[0.25,0.75]", "[0.25,0.5,0.25]")) == "no propensity for every arm");
  CHECK(reason(with("[0.25,0.75]", "[0,1]")) == "a propensity that is not in (0, 1]");
  CHECK(reason(with("[0.25,0.75]", "[1.25,0]")) == "a propensity that is not in (0, 1]");
  CHECK(reason(with("\"step\":17,", "")) == "no step");
}

TEST_CASE("a log of decisions begins with what bandit it is of", "[replay][decisions]") {
  DecisionLog log({});
  CHECK_ERROR(log.begin(""), data, "begins with a line that says what bandit it is");
  CHECK_ERROR(log.begin(whole_line()), data, "begins with a line");
  std::string head = decision_log_head(quoted_shop);
  CHECK(DecisionLog::recognises(head));
  CHECK_FALSE(DecisionLog::recognises(whole_line()));
  head.replace(head.find("\"version\":1"), 11, "\"version\":2");
  CHECK_ERROR(log.begin(head), data, "version 1");
  for (const envs::BanditSpec& wrong :
       {envs::BanditSpec{.name = "none"}, envs::BanditSpec{.arms = 1, .context_size = -1},
        envs::BanditSpec{.arms = 2, .arm_names = {"one"}}, envs::BanditSpec{.arms = 2, .arm_names = {"one", "one"}},
        envs::BanditSpec{.arms = 1, .reward_deviation = 0.0}, envs::BanditSpec{.arms = std::int64_t{1} << 60},
        envs::BanditSpec{.arms = 1, .arm_features = -1}, envs::BanditSpec{.arms = 1, .bounded = true},
        envs::BanditSpec{.arms = 1, .context_size = 2, .active_columns = 3},
        envs::BanditSpec{.arms = 1, .reward_low = 2, .reward_high = 1},
        envs::BanditSpec{.arms = 1, .context_size = 2, .numbers = {{.column = "one"}}},
        envs::BanditSpec{.arms = 1, .context_size = 1, .numbers = {{.column = "one", .deviation = 0}}}})
    CHECK_ERROR(log.begin(decision_log_head(wrong)), data, "of no bandit that can be");
}

TEST_CASE("a context of a table is read by the names of its columns, as the table has them", "[replay][decisions]") {
  const envs::BanditSpec table{.name = "table",
                               .arms = 2,
                               .context_size = 5,
                               .data = "real",
                               .arm_names = {"basic", "pro"},
                               .numbers = {{.column = "age", .mean = 40.1, .deviation = 0.3},
                                           {.column = "city", .category = "Bergen", .mean = .25, .deviation = .5},
                                           {.column = "city", .category = "Oslo", .mean = .75, .deviation = .5},
                                           {.column = "code", .category = "7", .mean = .5, .deviation = .5},
                                           {.column = "code", .category = "12", .mean = .5, .deviation = .5}}};
  const envs::BanditSpec again = bandit_of_head(decision_log_head(table));
  REQUIRE(again.numbers.size() == 5);
  CHECK(again.numbers[0].mean == 40.1);
  CHECK(again.numbers[0].deviation == 0.3);
  CHECK(again.numbers[2].category == "Oslo");
  CHECK(bandit_of_head(decision_log_head(quoted_shop)).numbers.empty());
  DecisionLog log({});
  log.begin(decision_log_head(table));
  ArmTable arms(2);
  LoggedEvent event;
  const auto read = [&](const std::string& line) { return log.read_context(line, arms, event); };
  REQUIRE(read(R"({"context":{"code":7,"city":"Oslo","age":41}})").kind == LineVerdict::Kind::event);
  CHECK(event.dense == std::vector<float>{again.numbers[0].standard(41), -.5F, .5F, 1, -1});
  REQUIRE(read(R"({"context":{"age":40.1,"city":"Bergen","code":"12"}})").kind == LineVerdict::Kind::event);
  CHECK(event.dense == std::vector<float>{0, 1.5F, -1.5F, -1, 1});
  REQUIRE(read(R"({"context":[1,2,3,4,5]})").kind == LineVerdict::Kind::event);  // what the policy sees
  CHECK(event.dense == std::vector<float>{1, 2, 3, 4, 5});
  for (const auto& [line, reason] : std::vector<std::pair<std::string, std::string>>{
           {R"({"context":{"city":"Oslo","code":7}})", "the context has no column 'age'"},
           {R"({"context":{"age":1,"city":"Rome","code":7}})",
            R"(column 'city': "Rome" is none of its categories (Bergen, Oslo))"},
           {R"({"context":{"age":1,"city":"Oslo","code":"Oslo"}})",
            R"(column 'code': "Oslo" is none of its categories (7, 12))"},
           {R"({"context":{"age":"old","city":"Oslo","code":7}})", R"(column 'age': expected a number, found "old")"},
           {R"({"context":{"age":1,"city":"Oslo","code":7,"plan":"pro"}})",
            "the context has a column 'plan' that the policy did not learn from"},
           {R"({"context":7})", "a context that is neither a list of numbers nor an object of columns"},
           {R"({"context":[1,2,3,4,5],"arms":["basc"]})", "'basc' is none of the arms basic, pro"}}) {
    const LineVerdict verdict = read(line);
    CHECK(verdict.kind == LineVerdict::Kind::bad);
    CHECK(verdict.reason == reason);
  }
  ReadDecisions shop;
  CHECK(shop(with("[0.1,-3e-07]", R"({"x":1})")).reason == "a context that is no row of the bandit's table");
}

TEST_CASE("one repetition of a log can be read alone, and a context without a decision", "[replay][decisions]") {
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "log.jsonl") << decision_log_head(quoted_shop) << '\n'
                                      << whole_line() << '\n'
                                      << with("\"seed\":3", "\"seed\":4") << '\n';
  for (const auto& [seed, events] : {std::pair{-1, 2}, {4, 1}, {5, 0}, {0, 0}}) {
    LogReader reader({folder / "log.jsonl"}, std::make_unique<DecisionLog>(DecisionLog::Options{seed}), 1000);
    CHECK(reader.spec().arms == 3);
    LoggedEvent event;
    int read = 0;
    while (reader.next(event)) ++read;
    CHECK(read == events);
    CHECK(reader.bad_line_count() == 0);
  }
  const std::string other_head = decision_log_head({.name = "other", .arms = 3, .context_size = 2, .arm_features = 1});
  std::ofstream(folder / "other.jsonl") << other_head << '\n' << whole_line() << '\n';
  std::filesystem::copy_file(folder / "log.jsonl", folder / "again.jsonl");
  LogReader both({folder / "log.jsonl", folder / "again.jsonl"}, std::make_unique<DecisionLog>(DecisionLog::Options{}),
                 1000);
  LogReader mixed({folder / "log.jsonl", folder / "other.jsonl"}, std::make_unique<DecisionLog>(DecisionLog::Options{}),
                  1000);
  LoggedEvent event;
  int read_of_both = 0;
  while (both.next(event)) ++read_of_both;
  CHECK(read_of_both == 4);
  CHECK(mixed.next(event));
  CHECK(mixed.next(event));
  CHECK_ERROR(mixed.next(event), data, "other.jsonl", "line 1", "first line of the log's first file");
  ReadDecisions read;
  REQUIRE(read.log.read_context(R"({"context":[1,2],"arm_features":[1,2,3]})", read.arms, read.event).kind ==
          LineVerdict::Kind::event);
  CHECK(read.event.choices() == 3);
  CHECK_ERROR(read.log.read_context(R"({"context":[1]})", read.arms, read.event), usage, "has 2 numbers, got 1");
  const std::int64_t known = read.arms.size();  // names of contexts that are refused are no arms
  CHECK_ERROR(read.log.read_context(R"({"context":[1],"arms":["new"]})", read.arms, read.event), usage, "got 1");
  CHECK(read.arms.size() == known);
  CHECK(read.log.read_context(R"({"context":["x"]})", read.arms, read.event).kind == LineVerdict::Kind::bad);
}
