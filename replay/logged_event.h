// A decision that somebody made and logged, with what came of it.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// What an event of a log says; the vectors are used again for the next one.
struct LoggedEvent {
  std::int64_t time = 0;              ///< as the log has it [s], 0 where it has none
  std::vector<float> dense;           ///< what all arms share, [context_size], or empty
  std::vector<std::int32_t> active;   ///< the same as columns that are one, or empty
  std::vector<std::int32_t> present;  ///< [choices] numbers of the arms that could be chosen, each once
  std::vector<float> arm_features;    ///< [choices · arm_features]
  std::int64_t action = 0;            ///< the arm that was chosen, one of `present`
  double reward = 0;                  ///< what it paid
  double propensity = 1;              ///< with which it was chosen, in (0, 1]
  double weight = 1;                  ///< ≥ 1, events that it stands for: 1 / share of its like that was logged

  envs::Context context() const {
    return {.dense = dense, .active = active, .present = present, .arm_features = arm_features};
  }
  std::int64_t choices() const { return std::ssize(present); }
  /// Where the arm that was chosen stands among those that could be.
  std::int64_t place() const { return std::ranges::find(present, static_cast<std::int32_t>(action)) - present.begin(); }
};

/// Appends an event without the features of its arms, by far the most of it, to a message for another rank.
void write_event(const LoggedEvent& event, std::string& message);
/// Takes it off the front of the message.
void read_event(std::string_view& message, LoggedEvent& event);

/// Many events in few arrays.
void save_events(Snapshot& snapshot, std::span<const LoggedEvent* const> events);
/// Throws Error(data) if the saved state does not fit.
std::vector<LoggedEvent> restored_events(const Snapshot& snapshot);

}  // namespace stein::replay
