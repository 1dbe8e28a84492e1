// Lines written by hand from the published format, and what of them is no event.
#include <stein/replay/yahoo_r6b.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::replay;

namespace {

std::string r6b_reason(const std::string& line, LoggedEvent& event, ArmTable& arms) {
  return std::string(YahooR6b({}).read(line, arms, event).reason);
}

}  // namespace

TEST_CASE("a line of R6B is an event with every number of it", "[replay][r6b]") {
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(r6b_reason("1317513291 id-560620 1 |user 1 9 136 13 |id-552077 |id-560620 |id-555224", event, arms).empty());
  CHECK(event.time == 1317513291);
  REQUIRE(event.dense.size() == 136);
  for (const std::size_t there : {0, 8, 135, 12}) CHECK(event.dense[there] == 1);
  CHECK(std::accumulate(event.dense.begin(), event.dense.end(), 0.0F) == 4);
  CHECK(event.present == std::vector<std::int32_t>{0, 1, 2});
  CHECK(arms.name(2) == "id-555224");
  CHECK(event.action == 1);
  CHECK(event.reward == 1);
  CHECK(event.propensity == Approx(1.0 / 3));
  CHECK(event.context().arm_features.empty());
}

TEST_CASE("a line that is no event of R6B says why, and names no arms", "[replay][r6b]") {
  const auto [line, why] = GENERATE(table<std::string, std::string>({
      {"now id-1 0 |user 1 |id-1", "the time is no whole number"},
      {"1317513291 |user 1 |id-1", "no displayed article"},
      {"1317513291 id-1 yes |user 1 |id-1", "the click is neither 0 nor 1"},
      {"1317513291 id-1 0 |id-1", "no features of the user"},
      {"1317513291 id-1 0 |user 0 |id-1", "a feature of the user that is none of 1 to 136"},
      {"1317513291 id-1 0 |user 137 |id-1", "a feature of the user that is none of 1 to 136"},
      {"1317513291 id-1 0 |user 1000000000000000000 |id-1", "a feature of the user that is none of 1 to 136"},
      {"1317513291 id-1 0 |user nan |id-1", "a feature of the user that is none of 1 to 136"},
      {"1317513291 id-1 0 |user 2:0.5 |id-1", "a feature of the user that is none of 1 to 136"},
      {"1317513291 id-1 0 |user 1 |id-1 3", "an article with features"},
      {"1317513291 id-1 0 |user 1 |", "an article without a name"},
      {"1317513291 id-1 0 |user 1", "no articles to choose from"},
      {"1317513291 id-1 0 |user 1 |id-1 |id-1", "an article twice"},
      {"1317513291 id-1 0 |us", "no features of the user"},
      {"1317513291 id-2 0 |user 1 |id-1", "the displayed article is not among those to choose from"},
  }));
  CAPTURE(line);
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(r6b_reason(line, event, arms) == why);
  CHECK(arms.size() == 0);
}

TEST_CASE("one article alone is chosen with certainty, and 10^6 of them are read in no time", "[replay][r6b]") {
  LoggedEvent event;
  ArmTable few(1), many(1'000'000);
  CHECK(r6b_reason("1317513291 a 0 |user 1 |a", event, few).empty());
  CHECK(event.propensity == 1);
  std::string line = "1317513291 7 0 |user 1";
  for (int i = 0; i < 1'000'000; ++i) line += " |" + std::to_string(i);
  CHECK_ERROR(r6b_reason(line, event, few), data, "more than 1 arms");
  CHECK(r6b_reason(line, event, many).empty());
  CHECK(event.present.size() == 1'000'000);
  CHECK(r6b_reason(line + " |7", event, many) == "an article twice");
}
