#include <stein/replay/logged_event.h>

#include <catch2/catch.hpp>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::replay;

TEST_CASE("events that were saved come back as they were", "[replay][events]") {
  const std::vector<LoggedEvent> events{{.time = 7,
                                         .dense = {1, 2},
                                         .present = {4, 1, 9},
                                         .arm_features = {1, 2, 3},
                                         .action = 9,
                                         .reward = 0.5,
                                         .propensity = 0.25,
                                         .weight = 2},
                                        {.time = 8, .active = {0, 5}, .present = {3}, .action = 3, .reward = -1},
                                        {.dense = {3}, .present = {0, 2}, .arm_features = {4, 5}, .propensity = 0.1}};
  std::vector<const LoggedEvent*> pointers;
  for (const LoggedEvent& event : events) pointers.push_back(&event);
  Snapshot saved;
  save_events(saved, pointers);
  const std::vector<LoggedEvent> restored = restored_events(saved);
  REQUIRE(restored.size() == events.size());
  for (std::size_t k = 0; k < events.size(); ++k) {
    CAPTURE(k);
    CHECK(restored[k].time == events[k].time);
    CHECK(restored[k].dense == events[k].dense);
    CHECK(restored[k].active == events[k].active);
    CHECK(restored[k].present == events[k].present);
    CHECK(restored[k].arm_features == events[k].arm_features);
    CHECK(restored[k].action == events[k].action);
    CHECK(restored[k].reward == events[k].reward);
    CHECK(restored[k].propensity == events[k].propensity);
    CHECK(restored[k].weight == events[k].weight);
  }
  const auto with = [&](const std::string& name, const auto& values) {
    Snapshot other;
    for (const auto& [each, array] : saved.arrays())
      if (each != name) other.put_array(each, array);
    other.put(name, values);
    return other;
  };
  using Ends = std::vector<std::int64_t>;
  CHECK_ERROR(restored_events(with("numbers", std::vector<double>{1, 2})), data, "expected 2 and 3 each");
  CHECK_ERROR(restored_events(with("dense_ends", Ends{2, 1, 3})), data, "'dense' fall from 2 to 1");
  CHECK_ERROR(restored_events(with("dense_ends", Ends{2, 2})), data, "2 saved 'dense' for 3 events");
  CHECK_ERROR(restored_events(with("dense_ends", Ends{2, 2, 9})), data, "saved 'dense' for 3 events");
}
