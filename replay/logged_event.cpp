#include <stein/core/error.h>
#include <stein/distributed/shared_work.h>
#include <stein/replay/logged_event.h>

namespace stein::replay {
namespace {

/// What an event has besides vectors.
struct Numbers {
  std::int64_t time = 0, action = 0;
  double reward = 0, propensity = 1, weight = 1;
};

/// The vectors of events one behind the other, and behind which place each ends.
template <class T>
struct Joined {
  std::vector<T> values{};
  std::vector<std::int64_t> ends{};

  void append(const std::vector<T>& more) {
    values.insert(values.end(), more.begin(), more.end());
    ends.push_back(std::ssize(values));
  }
  void save(Snapshot& snapshot, const std::string& name) const {
    snapshot.put(name, values);
    snapshot.put(name + "_ends", ends);
  }
  /// Throws Error(data) unless there are `count` vectors.
  static Joined restored(const Snapshot& snapshot, const std::string& name, std::size_t count) {
    Joined joined{snapshot.get_vector<T>(name), snapshot.get_vector<std::int64_t>(name + "_ends")};
    std::int64_t last = 0;
    for (const std::int64_t end : joined.ends) {
      if (end < last) fail(ErrorKind::data, "the saved ends of '{}' fall from {} to {}", name, last, end);
      last = end;
    }
    if (joined.ends.size() != count || last != std::ssize(joined.values))
      fail(ErrorKind::data, "there are {} saved '{}' for {} events", joined.ends.size(), name, count);
    return joined;
  }
  std::vector<T> at(std::size_t k) const {
    return {values.begin() + (k == 0 ? 0 : ends[k - 1]), values.begin() + ends[k]};
  }
};

}  // namespace

void write_event(const LoggedEvent& event, std::string& message) {
  const Numbers numbers{event.time, event.action, event.reward, event.propensity, event.weight};
  distributed::write_numbers(std::span(&numbers, 1), message);
  distributed::write_list(event.dense, message);
  distributed::write_list(event.active, message);
  distributed::write_list(event.present, message);
}

void read_event(std::string_view& message, LoggedEvent& event) {
  Numbers numbers;
  distributed::read_numbers(message, std::span(&numbers, 1));
  event.time = numbers.time, event.action = numbers.action;
  event.reward = numbers.reward, event.propensity = numbers.propensity, event.weight = numbers.weight;
  distributed::read_list(message, event.dense);
  distributed::read_list(message, event.active);
  distributed::read_list(message, event.present);
  event.arm_features.clear();
}

void save_events(Snapshot& snapshot, std::span<const LoggedEvent* const> events) {
  std::vector<std::int64_t> whole;
  std::vector<double> numbers;
  Joined<float> dense, arm_features;
  Joined<std::int32_t> active, present;
  for (const LoggedEvent* event : events) {
    whole.insert(whole.end(), {event->time, event->action});
    numbers.insert(numbers.end(), {event->reward, event->propensity, event->weight});
    dense.append(event->dense), arm_features.append(event->arm_features);
    active.append(event->active), present.append(event->present);
  }
  snapshot.put("whole_numbers", whole);
  snapshot.put("numbers", numbers);
  dense.save(snapshot, "dense"), arm_features.save(snapshot, "arm_features");
  active.save(snapshot, "active"), present.save(snapshot, "present");
}

std::vector<LoggedEvent> restored_events(const Snapshot& snapshot) {
  const auto whole = snapshot.get_vector<std::int64_t>("whole_numbers");
  const auto numbers = snapshot.get_vector<double>("numbers");
  const std::size_t count = whole.size() / 2;
  if (whole.size() != 2 * count || numbers.size() != 3 * count)
    fail(ErrorKind::data, "saved events have {} and {} numbers, expected 2 and 3 each", whole.size(), numbers.size());
  const auto dense = Joined<float>::restored(snapshot, "dense", count),
             arm_features = Joined<float>::restored(snapshot, "arm_features", count);
  const auto active = Joined<std::int32_t>::restored(snapshot, "active", count),
             present = Joined<std::int32_t>::restored(snapshot, "present", count);
  std::vector<LoggedEvent> events(count);
  for (std::size_t k = 0; k < count; ++k)
    events[k] = {.time = whole[2 * k],
                 .dense = dense.at(k),
                 .active = active.at(k),
                 .present = present.at(k),
                 .arm_features = arm_features.at(k),
                 .action = whole[2 * k + 1],
                 .reward = numbers[3 * k],
                 .propensity = numbers[3 * k + 1],
                 .weight = numbers[3 * k + 2]};
  return events;
}

}  // namespace stein::replay
