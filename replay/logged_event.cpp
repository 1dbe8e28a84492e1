#include <stein/core/error.h>
#include <stein/replay/logged_event.h>

namespace stein::replay {

void LoggedEvent::save(Snapshot& snapshot) const {
  snapshot.put("whole_numbers", std::vector<std::int64_t>{time, action});
  snapshot.put("numbers", std::vector<double>{reward, propensity, weight});
  snapshot.put("dense", dense);
  snapshot.put("active", active);
  snapshot.put("present", present);
  snapshot.put("arm_features", arm_features);
}

void LoggedEvent::restore(const Snapshot& snapshot) {
  const auto whole = snapshot.get_vector<std::int64_t>("whole_numbers");
  const auto numbers = snapshot.get_vector<double>("numbers");
  if (whole.size() != 2 || numbers.size() != 3)
    fail(ErrorKind::data, "a saved event has {} and {} numbers, expected 2 and 3", whole.size(), numbers.size());
  time = whole[0], action = whole[1];
  reward = numbers[0], propensity = numbers[1], weight = numbers[2];
  dense = snapshot.get_vector<float>("dense");
  active = snapshot.get_vector<std::int32_t>("active");
  present = snapshot.get_vector<std::int32_t>("present");
  arm_features = snapshot.get_vector<float>("arm_features");
}

}  // namespace stein::replay
