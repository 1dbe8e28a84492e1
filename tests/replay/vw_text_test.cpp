// Lines written by hand from the published format, and what of them is no event.
#include <stein/replay/feature_hash.h>
#include <stein/replay/log_reader.h>
#include <stein/replay/vw_text.h>

#include <catch2/catch.hpp>
#include <span>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

using namespace stein;
using namespace stein::replay;

namespace {

using Kind = LineVerdict::Kind;

/// Costs of −10 to 10, so that rewards may be negative.
VwText::Options options(std::int64_t actions, std::int64_t columns = 8) {
  VwText::Options result;
  result.shared_features = result.action_features = columns;
  result.reward_low = -10, result.reward_high = 10;
  result.actions = actions;
  return result;
}

/// The verdict on the last of several lines; those before it belong to the same event, or are bad.
LineVerdict last_verdict(VwText& format, const std::string& lines, LoggedEvent& event, ArmTable& arms) {
  LineVerdict verdict{Kind::other};
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    REQUIRE(verdict.kind != Kind::event);
    verdict = format.read(std::string_view(lines).substr(begin, end - begin), arms, event);
    begin = end == std::string::npos ? lines.size() : end + 1;
  }
  return verdict;
}

std::string vw_reason(std::int64_t actions, const std::string& lines) {
  VwText format(options(actions));
  ArmTable arms(5);
  LoggedEvent event;
  const LineVerdict verdict = last_verdict(format, lines, event, arms);
  REQUIRE((verdict.kind == Kind::bad) == !verdict.reason.empty());
  if (verdict.kind == Kind::bad) CHECK(arms.size() == 0);
  return std::string(verdict.reason);
}

LogReader reader(const std::filesystem::path& file, std::int64_t actions, BadLines bad = BadLines::count) {
  return {{file}, std::make_unique<VwText>(options(actions)), 5, bad};
}

const std::string multi = "shared |User age:3 new\n| price:2\n0:-1.5:0.25 cake|Action:2 price:0.5 sweet\n\n";

}  // namespace

TEST_CASE("an event of several lines is one with every number of it", "[replay][vw-text]") {
  constexpr std::size_t columns = 64;
  VwText format(options(0, columns));
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(last_verdict(format, multi, event, arms).kind == Kind::event);
  CHECK(event.present == std::vector<std::int32_t>{0, 1});
  CHECK(arms.name(0) == "1");
  CHECK(arms.name(event.action) == "cake");
  CHECK(event.reward == 1.5);
  CHECK(event.propensity == 0.25);
  ColumnUse use(static_cast<std::int64_t>(columns));
  std::vector<float> shared(columns), actions(2 * columns);
  add_hashed(hash_name("age", hash_name("User")), 3, shared, use);
  add_hashed(hash_name("new", hash_name("User")), 1, shared, use);
  CHECK(event.dense == shared);
  add_hashed(hash_name("price", hash_name("")), 2, std::span(actions).first(columns), use);
  add_hashed(hash_name("price", hash_name("Action")), 1, std::span(actions).last(columns), use);  // weight 2
  add_hashed(hash_name("sweet", hash_name("Action")), 2, std::span(actions).last(columns), use);
  CHECK(event.arm_features == actions);

  // Without shared features, and with the first action chosen.
  CHECK(last_verdict(format, "1:0:1 | a |b c\n|\n|\n\n", event, arms).kind == Kind::event);
  CHECK(event.action == event.present[0]);
  CHECK(event.dense == std::vector<float>(columns));
  CHECK(event.present.size() == 3);
}

TEST_CASE("the last event of a file needs no empty line, and the next file begins another", "[replay][vw-text]") {
  const test::TemporaryDirectory folder;
  const std::string one = "shared | s\n0:-1:0.5 | a\n| b";
  const std::vector<std::filesystem::path> files{test::write(folder / "1", one + "\n\n" + one),
                                                 test::write(folder / "2", one + "\n"),
                                                 test::write(folder / "3", "\n\n" + one + "\n\n\n")};
  LogReader log(files, std::make_unique<VwText>(options(0)), 5);
  LoggedEvent event;
  for (int i = 0; i < 4; ++i) {
    CAPTURE(i);
    Snapshot saved;
    log.save(saved);
    LogReader other(files, std::make_unique<VwText>(options(0)), 5);
    other.restore(saved);
    int left = 0;
    while (other.next(event)) ++left;
    CHECK(left == 4 - i);
    REQUIRE(log.next(event));
    CHECK(event.present.size() == 2);
  }
  CHECK_FALSE(log.next(event));
  CHECK(log.bad_line_count() == 0);
}

TEST_CASE("a bad line spoils its event and no other, and is counted once", "[replay][vw-text]") {
  const test::TemporaryDirectory folder;
  const std::string good = "0:1:0.5 | a\n| b\n\n";
  const std::filesystem::path file = test::write(folder / "log", good + "| a\nnonsense\n0:1:7 | c\nworse\n\n" + good);
  LogReader log = reader(file, 0);
  LoggedEvent event;
  REQUIRE(log.next(event));
  Snapshot saved;
  log.save(saved);
  REQUIRE(log.next(event));
  CHECK_FALSE(log.next(event));
  CHECK(log.bad_lines() == std::map<std::string, std::int64_t>{{"a line without features", 1}});
  LogReader other = reader(file, 0);
  other.restore(saved);
  REQUIRE(other.next(event));
  CHECK_FALSE(other.next(event));
  CHECK(other.bad_line_count() == 1);
  LogReader strict = reader(file, 0, BadLines::stop);
  CHECK_ERROR(
      [&] {
        while (strict.next(event)) {
        }
      }(),
      data, file.string(), "line 5", "a line without features");
}

TEST_CASE("a line is an event where the number of actions is given", "[replay][vw-text]") {
  VwText format(options(4, 64));
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(format.read("2:3:0.25 | a c:0.5", arms, event).kind == Kind::event);
  CHECK(event.present == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(arms.name(event.action) == "2");
  CHECK(event.reward == -3);
  CHECK(event.propensity == 0.25);
  CHECK(event.arm_features.empty());
  std::vector<float> shared(64);
  ColumnUse use(64);
  add_hashed(hash_name("a", hash_name("")), 1, shared, use);
  add_hashed(hash_name("c", hash_name("")), 0.5F, shared, use);
  CHECK(event.dense == shared);
  CHECK(format.spec().arms == 4);
  CHECK(format.spec().arm_features == 0);
  CHECK_NOTHROW(event.context().check(format.spec()));

  // With several labels only their actions could be chosen.
  CHECK(format.read("4 3:0:1 1 'tag | a", arms, event).kind == Kind::event);
  CHECK(event.present == std::vector<std::int32_t>{3, 2, 0});
  CHECK(event.action == 2);
  CHECK_FALSE(std::signbit(event.reward));
}

TEST_CASE("examples without an outcome are contexts, and no events", "[replay][vw-text]") {
  LoggedEvent event;
  ArmTable arms(5);
  VwText single(options(3)), several(options(0));
  for (const char* line : {"| a", "2 | a", "1 2 | a", "tag| a", ""}) {
    CAPTURE(line);
    CHECK(single.read(line, arms, event).kind == Kind::other);
  }
  CHECK(single.read_context("| a", arms, event).kind == Kind::event);
  CHECK(event.present.size() == 3);
  CHECK(single.read_context("1 3 | a", arms, event).kind == Kind::event);
  CHECK(event.present == std::vector<std::int32_t>{0, 2});
  CHECK(single.read_context("", arms, event).kind == Kind::other);

  CHECK(last_verdict(several, "shared | s\n| a\n| b\n\n", event, arms).kind == Kind::other);
  for (const char* line : {"shared | s", "| a", "| b"})
    CHECK(several.read_context(line, arms, event).kind == Kind::other);
  CHECK(several.read_context("", arms, event).kind == Kind::event);
  CHECK(event.present.size() == 2);
  CHECK(event.dense.size() == 8);
  CHECK(event.arm_features.size() == 16);
}

TEST_CASE("a line that is no event of cb says why, and names no arms", "[replay][vw-text]") {
  const auto [line, why] = GENERATE(table<std::string, std::string>({
      {"nonsense", "a line without features"},
      {"1:2:0.4", "a line without features"},
      {"1:2:0.4| a", "no blank between a label and the bar"},
      {"shared| a", "no blank between a label and the bar"},
      {"shared | a", "a line of an event of several lines (then the option `actions` is 0)"},
      {"1:2 | a", "a label that is not action:cost:probability"},
      {"1:2:0.4:5 | a", "a label that is not action:cost:probability"},
      {"x | a", "a label that is not action:cost:probability"},
      {"1:x:0.4 | a", "a label that is not action:cost:probability"},
      {"1:nan:0.4 | a", "a label that is not action:cost:probability"},
      {"1:1:nan | a", "a label that is not action:cost:probability"},
      {"0:1:0.4 | a", "an action that is none of 1 to `actions`"},
      {"4:1:0.4 | a", "an action that is none of 1 to `actions`"},
      {"-1:1:0.4 | a", "an action that is none of 1 to `actions`"},
      {"1000000000000000000:1:0.4 | a", "an action that is none of 1 to `actions`"},
      {"10000000000000000000:1:0.4 | a", "a label that is not action:cost:probability"},
      {"1:1:0 | a", "a probability that is not in (0, 1]"},
      {"1:1:-0.4 | a", "a probability that is not in (0, 1]"},
      {"1:1:1.4 | a", "a probability that is not in (0, 1]"},
      {"1:11:0.4 | a", "a reward that is not between `reward_low` and `reward_high`"},
      {"1:1:0.4 2:1:0.4 | a", "two chosen actions"},
      {"1:1:0.4 2 2 | a", "an action twice"},
      {"1:1:0.4 | a:x", "a feature whose value is no number"},
      {"1:1:0.4 | a:", "a feature whose value is no number"},
      {"1:1:0.4 | a:nan", "a feature whose value is no number"},
      {"1:1:0.4 | a:inf", "a feature whose value is no number"},
      {"1:1:0.4 | a:1e99", "a feature whose value is no number"},
      {"1:1:0.4 | a:1:2", "a feature whose value is no number"},
      {"1:1:0.4 |n:x a", "a namespace whose weight is no number"},
      {"1:1:0.4 |n:3e38 a:3e38", "a feature that is not finite"},
  }));
  CAPTURE(line);
  CHECK(vw_reason(3, line) == why);
}

TEST_CASE("an event of cb_adf that is none says why, and names no arms", "[replay][vw-text]") {
  const auto [lines, why] = GENERATE(table<std::string, std::string>({
      {"shared | a\n\n", "no actions to choose from"},
      {"| a\nshared | b\n", "shared features behind the first line of an event"},
      {"shared | a\nshared | b\n", "shared features behind the first line of an event"},
      {"0:1:0.5 | a\n0:1:0.5 | b\n",
       "two chosen actions (if every line is an event, the option `actions` says how many there are)"},
      {"0:1:0.5 1 | a\n", "a label that is not action:cost:probability"},
      {"0:1 | a\n", "a label that is not action:cost:probability"},
      {"0:1:2 | a\n\n", "a probability that is not in (0, 1]"},
      {"0:1:0 | a\n\n", "a probability that is not in (0, 1]"},
      {"0:99:0.5 | a\n\n", "a reward that is not between `reward_low` and `reward_high`"},
      {"shared | a:x\n", "a feature whose value is no number"},
      {"0:1:0.5 | a:nan\n", "a feature whose value is no number"},
      {"0:1:0.5 |n:3e38 a:3e38\n\n", "a feature that is not finite"},
      {"0:1:0.5 cake| a\ncake| b\n\n", "an action twice"},
      {"0:1:0.5 2| a\n| b\n\n", "an action twice"},
      {"0:1:0.5 | a\n| b\n| c\n| d\n| e\n| f", "more actions than the option `arms` allows"},
  }));
  CAPTURE(lines);
  CHECK(vw_reason(0, lines) == why);
}

TEST_CASE("events without an end and lines of 10^6 features do no harm", "[replay][vw-text]") {
  std::string endless;
  for (int i = 0; i < 100'000; ++i) endless += "| a\n";
  LoggedEvent event;
  ArmTable arms(5);
  VwText format(options(0));
  CHECK(last_verdict(format, endless, event, arms).kind == Kind::other);  // the rest of a bad event
  CHECK(format.finish(arms, event).kind == Kind::other);
  CHECK(last_verdict(format, multi, event, arms).kind == Kind::event);
  std::string wide = "1:1:0.5 |";
  for (int i = 0; i < 1'000'000; ++i) wide += " f" + std::to_string(i);
  CHECK(vw_reason(3, wide).empty());
  CHECK(vw_reason(3, "1:1:0.5 " + std::string(1'000'000, '|')).empty());
}

TEST_CASE("a single action in text is an event, chosen with certainty", "[replay][vw-text]") {
  CHECK(vw_reason(1, "1:1:1 |").empty());
  CHECK(vw_reason(0, "0:1:1 |\n\n").empty());
}

TEST_CASE("lines of Vowpal Wabbit's text are recognised", "[replay][vw-text]") {
  for (const char* line : {"shared | a", "0:1:0.5 | a", "1:2:0.4 | a c", "| a", "2 1:2:0.4 | a", "0:1:0.5 tag| a"}) {
    CAPTURE(line);
    CHECK(VwText::recognises(line));
  }
  for (const char* line :
       {"", "1241160900 109498 0 |user 2:0.5 1:1 |109498 2:0.3", "{\"c\":\"|\"}", "a,b|c", "1 | a"}) {
    CAPTURE(line);
    CHECK_FALSE(VwText::recognises(line));
  }
}
