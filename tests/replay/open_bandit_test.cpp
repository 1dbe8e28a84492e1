// Lines written by hand from the published format, what of them is no event, and the published sample.
#include <stein/core/data/manifest.h>
#include <stein/replay/feature_hash.h>
#include <stein/replay/log_reader.h>
#include <stein/replay/open_bandit.h>
#include <stein/replay/timestamp.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"

using namespace stein;
using namespace stein::replay;

namespace {

const std::string header =
    ",timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1,user-item_affinity_0,"
    "user-item_affinity_1,user-item_affinity_7";
const std::string row = "0,2019-11-24 00:01:03.979311+00:00,7,2,1,0.25,cef3,2d03,0.5,0.0,2.0";
const std::string items = ",item_id,item_feature_0,item_feature_1\n0,0,-0.5,ceca\n1,7,0.25,270d\n2,1,1.5,ceca\n";

/// `row` with field `i` replaced.
std::string with(std::size_t i, const std::string& field) {
  std::string text;
  std::size_t begin = 0;
  for (std::size_t k = 0; begin <= row.size(); ++k) {
    const std::size_t end = std::min(row.find(',', begin), row.size());
    text += (k > 0 ? "," : "") + (k == i ? field : row.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

/// What is said of a line behind the header.
LineVerdict read(OpenBandit& format, const std::string& line, LoggedEvent& event, ArmTable& arms) {
  format.begin(header);
  format.begin_file();
  REQUIRE(format.read(header, arms, event).kind == LineVerdict::Kind::other);
  const LineVerdict verdict = format.read(line, arms, event);
  REQUIRE((verdict.kind == LineVerdict::Kind::bad) == !verdict.reason.empty());
  return verdict;
}

std::string reason(const std::string& line) {
  OpenBandit format({});
  LoggedEvent event;
  ArmTable arms(5);
  const std::string why(read(format, line, event, arms).reason);
  if (!why.empty()) CHECK(arms.size() == 0);
  return why;
}

/// The folder of the sample, of one policy and one campaign.
std::filesystem::path sample(const std::string& policy, const std::string& campaign) {
  for (const std::filesystem::path& folder : data_folders())
    if (std::filesystem::is_directory(folder / "obd")) return folder / "obd" / policy / campaign;
  test::skip("no data set obd");
}

}  // namespace

TEST_CASE("a row of Open Bandit is an event with every number of it", "[replay][open-bandit]") {
  OpenBandit format({.buckets = 4});
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(read(format, row, event, arms).kind == LineVerdict::Kind::event);
  CHECK(event.time == 1574553663);  // date -d '2019-11-24 00:01:03 UTC' +%s
  CHECK(event.present == std::vector<std::int32_t>{0, 1, 2});
  CHECK(arms.name(event.action) == "7");
  CHECK(event.reward == 1);
  CHECK(event.propensity == 0.25);
  CHECK(event.arm_features == std::vector<float>{0.5F, 0, 2});
  std::vector<float> expected(3 + 2 * 4);
  expected[1] = 1;  // position 2
  expected[3 + bucket_of(hash_name("cef3"), 4)] = 1;
  expected[7 + bucket_of(hash_name("2d03"), 4)] = 1;
  CHECK(event.dense == expected);
  CHECK(format.spec().arms == 3);
  CHECK(format.spec().context_size == 11);
  CHECK(format.spec().arm_names == std::vector<std::string>{"0", "1", "7"});
  CHECK_NOTHROW(event.context().check(format.spec()));
}

TEST_CASE("features of the items are taken from their table by the items' names", "[replay][open-bandit]") {
  const test::TemporaryDirectory folder;
  OpenBandit format({.buckets = 2, .item_context = test::write(folder / "items.csv", items).string()});
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(read(format, row, event, arms).kind == LineVerdict::Kind::event);
  CHECK(format.spec().arm_features == 4);  // affinity, a number, two buckets
  const bool second = bucket_of(hash_name("ceca"), 2) == 1, other = bucket_of(hash_name("270d"), 2) == 1;
  const float ceca0 = second ? 0 : 1, ceca1 = second ? 1 : 0, d0 = other ? 0 : 1, d1 = other ? 1 : 0;
  CHECK(event.arm_features == std::vector<float>{0.5F, -0.5F, ceca0, ceca1, 0, 1.5F, ceca0, ceca1, 2, 0.25F, d0, d1});
}

TEST_CASE("a table of items that does not go with the header is refused", "[replay][open-bandit]") {
  const test::TemporaryDirectory folder;
  const auto begin = [&](const std::string& text) {
    OpenBandit format({.item_context = test::write(folder / "items.csv", text).string()});
    format.begin(header);
  };
  CHECK_NOTHROW(begin(items));
  CHECK_ERROR(begin(items.substr(0, items.rfind("2,1,"))), data, "the item '1'", "items.csv");
  CHECK_ERROR(begin(items + "3,9,1,x\n"), data, "items.csv", "the item '9'", "no affinity");
  CHECK_ERROR(begin(items + "3,7,1,x\n"), data, "the item '7' is there twice");
  CHECK_ERROR(begin(items + "3,9\n"), data, "line 5", "expected 4 fields as in the header, got 2");
  CHECK_ERROR(begin(items + "3,9,\"1,x\n"), data, "line 5", "comma-separated");
  CHECK_ERROR(begin("a,b\n1,2\n"), data, "item_id");
  CHECK_ERROR(begin(""), data, "item_id");
  CHECK_ERROR(begin(",item_id,x\n0,0,nan\n0,1,1\n0,7,1\n"), data, "the item '0'", "not finite");
  CHECK_ERROR(OpenBandit({.item_context = (folder / "none.csv").string()}), data, "none.csv");
}

TEST_CASE("a row that is no event of Open Bandit says why, and names no arms", "[replay][open-bandit]") {
  const auto [line, why] = GENERATE(table<std::string, std::string>({
      {"", "another number of fields than the header has"},
      {"1,2,3", "another number of fields than the header has"},
      {row + ",1", "another number of fields than the header has"},
      {row.substr(0, 60), "another number of fields than the header has"},
      {"\"" + row, "no comma-separated values, or a quoted field that does not end on its line"},
      {row + "\r" + row, "no comma-separated values, or a quoted field that does not end on its line"},
      {with(1, "yesterday"), "no timestamp"},
      {with(1, "2019-11-24"), "no timestamp"},
      {with(2, "3"), "an item that the header does not have"},
      {with(2, "07"), "an item that the header does not have"},
      {with(2, "1000000000000000000"), "an item that the header does not have"},
      {with(3, "0"), "a position that is none of 1 to 3"},
      {with(3, "4"), "a position that is none of 1 to 3"},
      {with(3, "1e18"), "a position that is none of 1 to 3"},
      {with(4, "2"), "the click is neither 0 nor 1"},
      {with(5, "0"), "a propensity that is not in (0, 1]"},
      {with(5, "-0.25"), "a propensity that is not in (0, 1]"},
      {with(5, "1.5"), "a propensity that is not in (0, 1]"},
      {with(5, "nan"), "a propensity that is not in (0, 1]"},
      {with(5, ""), "a propensity that is not in (0, 1]"},
      {with(9, "x"), "an affinity that is no number"},
      {with(9, "inf"), "an affinity that is no number"},
      {with(9, "1e99"), "an affinity that is no number"},
      {header, "no timestamp"},
  }));
  CAPTURE(line);
  CHECK(reason(line) == why);
}

TEST_CASE("a header of another form is refused with what was expected and found", "[replay][open-bandit]") {
  OpenBandit format({});
  CHECK_ERROR(format.begin(""), data, "expected a header", "timestamp");
  CHECK_ERROR(format.begin("1241160900 109498 0 |user 1:1"), data, "expected a header", "|user");
  CHECK_ERROR(format.begin(",timestamp,item_id,position,click,propensity_score"), data, "user-item_affinity_<item>");
  CHECK_ERROR(format.begin(header + ",user-item_affinity_7"), data, "user-item_affinity_7 twice");
  CHECK_ERROR(format.begin(std::string(100'000, ',')), data, "65536 columns");
}

TEST_CASE("an item alone can be chosen with certainty", "[replay][open-bandit]") {
  OpenBandit format({});
  ArmTable arms(1);
  LoggedEvent event;
  const std::string one = "timestamp,item_id,position,click,propensity_score,user-item_affinity_a";
  format.begin(one);
  format.begin_file();
  format.read(one, arms, event);
  CHECK(format.read("2019-11-24 00:01:03+00:00,a,1,0,1.0,0", arms, event).kind == LineVerdict::Kind::event);
  CHECK(event.present == std::vector<std::int32_t>{0});
  CHECK(event.propensity == 1);
  CHECK(format.spec().context_size == 3);
}

TEST_CASE("every file of a log has the same header, and a reader goes on behind it", "[replay][open-bandit]") {
  const test::TemporaryDirectory folder;
  std::string rows = header + "\n";
  for (int i = 0; i < 5; ++i) rows += row + "\n" + with(4, "0") + "\n";
  const std::vector<std::filesystem::path> files{test::write(folder / "1.csv", rows),
                                                 test::write_gzip(folder / "2.csv.gz", rows)};
  const auto reader = [](const std::vector<std::filesystem::path>& paths) {
    return LogReader(paths, std::make_unique<OpenBandit>(OpenBandit::Options{}), 10);
  };
  LogReader log = reader(files);
  CHECK(log.spec().arms == 3);
  LoggedEvent event;
  for (int stop = 0; stop < 20; ++stop) {
    CAPTURE(stop);
    Snapshot saved;
    log.save(saved);
    LogReader other = reader(files);
    other.restore(saved);
    LoggedEvent first, second;
    REQUIRE(log.next(first));
    REQUIRE(other.next(second));
    CHECK(first.reward == second.reward);
    CHECK(first.present == second.present);
    CHECK(other.bad_line_count() == 0);
  }
  CHECK_FALSE(log.next(event));
  LogReader mixed =
      reader({files[0], test::write(folder / "3.csv", header + ",user-item_affinity_9\n" + row + ",1\n")});
  CHECK_ERROR(
      [&] {
        while (mixed.next(event)) {
        }
      }(),
      data, "3.csv", "line 1", "3 items");
}

TEST_CASE("points in time are read with fractions and offsets", "[replay][open-bandit]") {
  CHECK(read_timestamp("1970-01-01T00:00:00Z") == 0);
  CHECK(read_timestamp("1970-01-02 00:00:01.999+00:00") == 86'401);
  CHECK(read_timestamp("1970-01-01T01:30:00+01:30") == 0);
  CHECK(read_timestamp("2021-02-04T16:31:29.2460000Z") == 1612456289);  // date -d '2021-02-04 16:31:29 UTC' +%s
  CHECK(read_timestamp("2021-02-04T16:31:29") == 1612456289);
  for (const char* wrong : {"", "1970-01-01", "1970-13-01T00:00:00Z", "1970-01-01T00:00:00X", "1970-01-01T00:00:00Z ",
                            "1970-01-01x00:00:00Z", "1970-01-01T00:00:00.5.5Z"})
    CHECK_FALSE(read_timestamp(wrong).has_value());
  CHECK_FALSE(read_timestamp("1970-01-01T00:00:00." + std::string(1000, '0') + "Z").has_value());
}

TEST_CASE("a header of Open Bandit is recognised", "[replay][open-bandit]") {
  CHECK(OpenBandit::recognises(header));
  CHECK_FALSE(OpenBandit::recognises("1241160900 109498 0 |user 1:1"));
  CHECK_FALSE(OpenBandit::recognises("item_id,click"));
}

TEST_CASE("the published samples have their rows, clicks and propensities", "[replay][open-bandit][data-set]") {
  const auto [policy, campaign, arms, clicks] = GENERATE(table<std::string, std::string, int, int>(
      {{"random", "men", 34, 46}, {"random", "women", 46, 46}, {"bts", "men", 34, 69}, {"bts", "women", 46, 46}}));
  CAPTURE(policy, campaign);
  const std::filesystem::path folder = sample(policy, campaign);
  OpenBandit::Options options{.item_context = (folder / "item_context.csv").string()};
  LogReader log({folder / (campaign + ".csv.gz")}, std::make_unique<OpenBandit>(options), 100, BadLines::stop);
  CHECK(log.spec().arms == arms);
  CHECK(log.spec().context_size == 3 + 4 * 16);
  CHECK(log.spec().arm_features == 1 + 1 + 3 * 16);
  LoggedEvent event;
  double reward = 0;
  bool uniform = true;
  while (log.next(event)) {
    reward += event.reward;
    uniform = uniform && std::abs(event.propensity * arms - 1) < 1e-12;
    REQUIRE_NOTHROW(event.context().check(log.spec()));
  }
  CHECK(log.events() == 10'000);
  CHECK(reward == clicks);
  CHECK(uniform == (policy == "random"));
}
