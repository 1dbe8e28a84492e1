// When a warm-up estimates the mass matrix: Stan's windows.
#pragma once

#include <cstdint>

namespace stein::inference {

/// A first part that only finds a step size (75 steps), windows of 25, 50, 100, … steps that each estimate the
/// variances anew, the last one stretched to fill, and a last part that only tunes the step size (50). In a warm-up
/// shorter than 150 steps the three parts have 15, 75 and 10 % of it; one shorter than 20 estimates nothing.
class WarmUpWindows {
 public:
  explicit WarmUpWindows(std::int64_t steps) : steps_(steps) {
    if (steps < 20) {
      first_ = last_ = steps;
    } else if (steps < 150) {
      first_ = steps * 15 / 100;
      last_ = steps - steps / 10;
    } else {
      first_ = 75;
      last_ = steps - 50;
    }
  }

  bool warming_up(std::int64_t t) const { return t < steps_; }
  /// Whether step t = 0, 1, … lies in a window.
  bool estimates(std::int64_t t) const { return t >= first_ && t < last_; }
  /// Whether step t is the last of its window.
  bool closes(std::int64_t t) const {
    if (!estimates(t)) return false;
    std::int64_t end = first_, length = steps_ < 150 ? last_ - first_ : 25;
    while (end <= t) {
      end += length;
      length *= 2;
      if (end + length > last_) end = last_;
    }
    return t + 1 == end;
  }

 private:
  std::int64_t steps_, first_ = 0, last_ = 0;
};

}  // namespace stein::inference
