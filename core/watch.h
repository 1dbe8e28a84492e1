// How work that takes long is watched: whether it is to stop, and how far it is.
#pragma once

#include <stein/core/progress.h>
#include <stein/core/stop_token.h>

#include <cstdint>
#include <string_view>

namespace stein {

/// What work looks at and tells. By default nobody watches. Cheap to copy; the progress has to outlive it.
class Watch {
 public:
  Watch() = default;
  /// Who may ask to stop, and sees no progress.
  Watch(const StopToken& stop) : stop_(stop) {}  // NOLINT(google-explicit-constructor): a stop is a way of watching
  Watch(const StopToken& stop, Progress& progress) : stop_(stop), progress_(&progress) {}

  bool stop_requested() const { return stop_.stop_requested(); }
  const StopToken& stop() const { return stop_; }
  /// As those of Progress.
  void begin(std::string_view task, std::string_view unit, std::uint64_t total) const {
    if (progress_ != nullptr) progress_->begin(task, unit, total, 0);
  }
  void advance(std::uint64_t units = 1) const {
    if (progress_ != nullptr) progress_->advance(units);
  }

 private:
  StopToken stop_{};
  Progress* progress_ = nullptr;
};

}  // namespace stein
