// Lines written by hand from the published format, and what of them is no event.
#include <stein/replay/yahoo_r6a.h>

#include <catch2/catch.hpp>

using namespace stein;
using namespace stein::replay;

namespace {

const std::string user = "|user 2:0.000012 3:0.000000 4:0.000006 5:0.000023 6:0.999958 1:1.000000";
const std::string first = "|109498 2:0.306008 3:0.000450 4:0.077048 5:0.230439 6:0.386055 1:1.000000";
const std::string second = "|109509 2:0.306008 3:0.000450 4:0.077048 5:0.230439 6:0.386055 1:1.000000";

/// What is said of a line; the event is of use if nothing is.
std::string r6a_reason(const std::string& line, LoggedEvent& event, ArmTable& arms) {
  const LineVerdict verdict = YahooR6a({}).read(line, arms, event);
  REQUIRE((verdict.kind == LineVerdict::Kind::bad) == !verdict.reason.empty());
  return std::string(verdict.reason);
}

}  // namespace

TEST_CASE("a line of R6A is an event with every number of it", "[replay][r6a]") {
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(r6a_reason("1241160900 109509 1 " + user + " " + first + " " + second, event, arms).empty());
  CHECK(event.time == 1241160900);
  CHECK(event.dense == std::vector<float>{1, 0.000012F, 0, 0.000006F, 0.000023F, 0.999958F});
  CHECK(event.present == std::vector<std::int32_t>{0, 1});
  CHECK(arms.name(0) == "109498");
  CHECK(arms.name(1) == "109509");
  CHECK(event.arm_features == std::vector<float>{1, 0.306008F, 0.00045F, 0.077048F, 0.230439F, 0.386055F, 1, 0.306008F,
                                                 0.00045F, 0.077048F, 0.230439F, 0.386055F});
  CHECK(event.action == 1);
  CHECK(event.reward == 1);
  CHECK(event.propensity == 0.5);

  // Another page: numbers of arms stay.
  CHECK(r6a_reason("1241160901 109509 0 " + user + " " + second, event, arms).empty());
  CHECK(event.present == std::vector<std::int32_t>{1});
  CHECK(event.action == 1);
  CHECK(event.reward == 0);
  CHECK(event.propensity == 1);
  CHECK(event.context().arm_features.size() == 6);
}

TEST_CASE("a page that is no page stays none when it comes again", "[replay][r6a]") {
  YahooR6a format({});
  ArmTable arms(5);
  LoggedEvent event;
  const std::string page = first + " |109509 2:0.3 3:x";
  for (int i = 0; i < 2; ++i)
    CHECK(format.read("1241160900 109498 0 " + user + " " + page, arms, event).kind == LineVerdict::Kind::bad);
  CHECK(format.read("1241160900 109498 0 " + user + " " + first, arms, event).kind == LineVerdict::Kind::event);
  CHECK(format.read("1241160900 109498 0 " + user + " " + page, arms, event).kind == LineVerdict::Kind::bad);
}

TEST_CASE("a line that is no event of R6A says why, and names no arms", "[replay][r6a]") {
  const auto [line, why] = GENERATE(table<std::string, std::string>({
      {"yesterday 109498 0 " + user + " " + first, "the time is no whole number"},
      {"1241160900.5 109498 0 " + user + " " + first, "the time is no whole number"},
      {"1241160900", "no displayed article"},
      {"1241160900 109498 2 " + user + " " + first, "the click is neither 0 nor 1"},
      {"1241160900 109498 " + user + " " + first, "the click is neither 0 nor 1"},
      {"1241160900 109498 0 " + first, "no features of the user"},
      {"1241160900 109498 0 |user 2:0.5 1:1 " + first, "a user with missing features"},
      {"1241160900 109498 0 |user 2:x 1:1 " + first, "a feature of the user that is no number"},
      {"1241160900 109498 0 " + user, "no articles to choose from"},
      {"1241160900 109498 0 " + user + " |109498 2:0.306008 3:0.000450", "an article with missing features"},
      {"1241160900 109498 0 " + user + " |109498", "an article with missing features"},
      {"1241160900 109498 0 " + user + " |109498 2:0.306008 3:0.00", "an article with missing features"},
      {"1241160900 109498 0 " + user + " |109498 2:nan 3:0 4:0 5:0 6:0 1:1",
       "a feature of an article that is no number"},
      {"1241160900 109498 0 " + user + " |109498 2:1e99 3:0 4:0 5:0 6:0 1:1",
       "a feature of an article that is no number"},
      {"1241160900 109498 0 " + user + " |109498 2:0 2:0 4:0 5:0 6:0 1:1", "a feature of an article that is no number"},
      {"1241160900 109498 0 " + user + " |109498 7:0 3:0 4:0 5:0 6:0 1:1", "a feature of an article that is no number"},
      {"1241160900 109498 0 |user 1000000000000000000:1 " + first, "a feature of the user that is no number"},
      {"1241160900 109498 0 " + user + " |109498 2:0,3:0 4:0 5:0 6:0 1:1", "a feature of an article that is no number"},
      {"1241160900 109498 0 " + user + " | 2:0 3:0 4:0 5:0 6:0 1:1", "an article without a name"},
      {"1241160900 109498 0 " + user + " " + first + " |", "an article without a name"},
      {"1241160900 109777 0 " + user + " " + first, "the displayed article is not among those to choose from"},
  }));
  CAPTURE(line);
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(r6a_reason(line, event, arms) == why);
  CHECK(YahooR6a({}).read("", arms, event).kind == LineVerdict::Kind::other);  // such as behind the last event
  CHECK(arms.size() == 0);
}

TEST_CASE("an article that is there twice makes no event", "[replay][r6a]") {
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(r6a_reason("1241160900 109498 0 " + user + " " + first + " " + second + " " + first, event, arms) ==
        "an article twice");
  CHECK(arms.size() == 0);
}

TEST_CASE("articles that stay on the page are what they were, whatever came between and whoever numbers them",
          "[replay][r6a]") {
  const std::string page = user + " " + first + " " + second, start = "1241160900 109509 0 ";
  YahooR6a format({});
  ArmTable arms(5), other(5);
  other.number("109777");
  LoggedEvent event;
  const auto is_whole = [&](ArmTable& table, const std::string& line) {
    event = {};
    return format.read(line, table, event).kind == LineVerdict::Kind::event;
  };
  CHECK(is_whole(arms, start + page));
  CHECK(is_whole(arms, start + page));
  CHECK(event.present == std::vector<std::int32_t>{0, 1});
  CHECK(event.arm_features.size() == 12);
  CHECK_FALSE(is_whole(arms, start + page + " |109777 2:x"));
  CHECK(is_whole(arms, start + page));
  CHECK(event.present == std::vector<std::int32_t>{0, 1});
  CHECK(is_whole(other, start + page));
  CHECK(event.present == std::vector<std::int32_t>{1, 2});
  CHECK(event.action == 2);
  CHECK_FALSE(is_whole(arms, "1241160900 109777 0 " + page));
  CHECK_FALSE(is_whole(arms, start + user));
}

TEST_CASE("a line of R6A is recognised, and one of its younger sister is not", "[replay][r6a]") {
  CHECK(YahooR6a::recognises("1241160900 109498 0 " + user + " " + first));
  CHECK_FALSE(
      YahooR6a::recognises("1317513291 id-560620 0 |user 1 9 11 13 23 16 18 17 19 15 43 14 39 30 66 50 27 104 20 "
                           "|id-552077 |id-555224"));
  CHECK_FALSE(YahooR6a::recognises("{\"_label_cost\":-1}"));
}
