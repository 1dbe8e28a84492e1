#include <stein/replay/synthetic_news.h>
#include <stein/replay/yahoo_r6a.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::replay;

TEST_CASE("a printed line says what the event is, to the last digit", "[replay][news]") {
  SyntheticNews news({.seed = 4, .lifetime = 100});
  YahooR6a format({});
  ArmTable arms(1000);
  std::map<std::string, std::int32_t> names;
  for (std::int64_t i = 0; i < 500; ++i) {
    const LoggedEvent made = news.event(i);
    LoggedEvent read;
    REQUIRE(format.read(news.line(), arms, read).kind == LineVerdict::Kind::event);
    REQUIRE(read.time == made.time);
    REQUIRE(read.dense == made.dense);
    REQUIRE(read.arm_features == made.arm_features);
    REQUIRE(read.reward == made.reward);
    REQUIRE(read.propensity == made.propensity);
    REQUIRE(read.present.size() == made.present.size());
    for (std::size_t k = 0; k < read.present.size(); ++k)
      REQUIRE(arms.name(read.present[k]) == std::to_string(109'000 + made.present[k]));
    REQUIRE(arms.name(read.action) == std::to_string(109'000 + made.action));
  }
}

TEST_CASE("articles come and go one at a time, and stay as long as was said", "[replay][news]") {
  SyntheticNews news({.lifetime = 200});
  std::map<std::int32_t, std::int64_t> days;
  std::vector<std::int32_t> before = news.event(0).present;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const std::vector<std::int32_t> now = news.event(i).present;
    CHECK(std::set<std::int32_t>(now.begin(), now.end()).size() == 20);
    std::int64_t changes = 0;
    for (std::size_t k = 0; k < now.size(); ++k) changes += now[k] != before[k];
    CHECK(changes == (i > 0 && i % 10 == 0 ? 1 : 0));
    for (const std::int32_t article : now) ++days[article];
    before = now;
  }
  for (const auto& [article, count] : days) CHECK(count <= 200);
  CHECK(std::ranges::count(days, 200, [](const auto& each) { return each.second; }) > 150);
}

TEST_CASE("clicks have the chances that are told, about four in a hundred", "[replay][news]") {
  constexpr std::int64_t events = 200'000;
  double clicks = 0, expected = 0, variance = 0, mean = 0, best = 0;
  std::vector<double> shown(SyntheticNews::places);
  SyntheticNews news({.seed = 9});
  for (std::int64_t i = 0; i < events; ++i) {
    const LoggedEvent& event = news.event(i);
    const auto p = news.click_probabilities();
    const auto place = static_cast<std::size_t>(std::ranges::find(event.present, event.action) - event.present.begin());
    ++shown[place];
    clicks += event.reward;
    expected += p[place];
    variance += p[place] * (1 - p[place]);
    mean += std::accumulate(p.begin(), p.end(), 0.0) / (SyntheticNews::places * static_cast<double>(events));
    best += std::ranges::max(p) / static_cast<double>(events);
  }
  CHECK(std::abs(clicks - expected) < 4.9 * std::sqrt(variance));
  // Counts of 200,000 draws are binomial(200,000, 1/20): sd 97.5. 6.1 of it: below 1e-9 each.
  for (const double count : shown) CHECK(std::abs(count - 10'000) < 6.1 * 97.5);
  CHECK(mean > 0.03);
  CHECK(mean < 0.05);
  CHECK(best > 2 * mean);  // there is something to learn
}

TEST_CASE("events are the same in any order, and other seeds have others", "[replay][news]") {
  SyntheticNews forward({.seed = 1, .lifetime = 50}), backward({.seed = 1, .lifetime = 50}),
      other({.seed = 2, .lifetime = 50});
  std::vector<std::string> lines;
  for (std::int64_t i = 0; i < 200; ++i) forward.event(i), lines.push_back(forward.line());
  for (std::int64_t i = 200; i-- > 0;) {
    backward.event(i);
    CHECK(backward.line() == lines[static_cast<std::size_t>(i)]);
  }
  other.event(0);
  CHECK(other.line() != lines[0]);
  CHECK_ERROR(SyntheticNews({.lifetime = 3}), usage, "'lifetime'");
}
