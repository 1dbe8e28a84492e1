#include <stein/bench/event_stream.h>
#include <stein/replay/synthetic_news.h>

#include <algorithm>

namespace stein::bench {
namespace {

using replay::SyntheticNews;

/// Row i of `from`, of which each has so many numbers.
template <class T>
void take_row(const std::vector<T>& from, std::int64_t i, std::int64_t width, std::vector<T>& to) {
  const auto begin = from.begin() + i * width;
  to.assign(begin, begin + width);
}

}  // namespace

EventStream::EventStream(const Shape& shape, std::int64_t count, std::int64_t lifetime) {
  SyntheticNews news({.lifetime = lifetime});
  for (std::int64_t i = 0; i < count; ++i) {
    const replay::LoggedEvent event = news.event(i);
    if (shape.columns == SyntheticNews::features) {
      dense_.insert(dense_.end(), event.dense.begin(), event.dense.end());
    } else {
      const auto& other = news.event(i + 1).dense;
      for (const float x : event.dense)
        for (const float y : other) dense_.push_back(x * y);
    }
    if (shape.arm_features)
      arm_features_.insert(arm_features_.end(), event.arm_features.begin(), event.arm_features.end());
    present_.insert(present_.end(), event.present.begin(), event.present.end());
    actions_.push_back(static_cast<std::int32_t>(event.action));
    rewards_.push_back(event.reward);
  }
  spec_ = {.name = "news",
           .arms = 1 + *std::ranges::max_element(present_),
           .context_size = shape.columns,
           .arm_features = shape.arm_features ? SyntheticNews::features : 0};
}

const replay::LoggedEvent& EventStream::event(std::int64_t i) {
  take_row(dense_, i, spec_.context_size, event_.dense);
  take_row(present_, i, SyntheticNews::places, event_.present);
  take_row(arm_features_, i, SyntheticNews::places * spec_.arm_features, event_.arm_features);
  event_.action = actions_[static_cast<std::size_t>(i)];
  event_.reward = rewards_[static_cast<std::size_t>(i)];
  return event_;
}

}  // namespace stein::bench
