// Events of a log as a parser hands them over: one object, whose numbers the next event replaces.
#pragma once

#include <stein/replay/logged_event.h>

#include <cstdint>
#include <vector>

namespace stein::bench {

/// Events of SyntheticNews, their numbers end to end in memory.
class EventStream {
 public:
  /// What an event brings.
  struct Shape {
    std::int64_t columns = 6;   ///< of the context: 6 features of a reader, or 36, their products with another reader's
    bool arm_features = false;  ///< six numbers of every arm
  };
  EventStream(const Shape& shape, std::int64_t count, std::int64_t lifetime);

  std::int64_t size() const { return std::ssize(actions_); }
  const envs::BanditSpec& spec() const { return spec_; }
  /// Valid until the next call.
  const replay::LoggedEvent& event(std::int64_t i);

 private:
  envs::BanditSpec spec_;
  std::vector<float> dense_, arm_features_;
  std::vector<std::int32_t> present_, actions_;
  std::vector<double> rewards_;
  replay::LoggedEvent event_;
};

}  // namespace stein::bench
