// How work that takes long is watched: whether it is to stop, how far it is, and where what is done is kept.
#pragma once

#include <stein/core/progress.h>
#include <stein/core/stop_token.h>

#include <cstdint>
#include <functional>
#include <string_view>

namespace stein {

/// What work looks at and tells. By default nobody watches. Cheap to copy; the progress and what keeps have to outlive
/// it.
class Watch {
 public:
  Watch() = default;
  /// Who may ask to stop, and sees no progress.
  Watch(const StopToken& stop) : stop_(stop) {}  // NOLINT(google-explicit-constructor): a stop is a way of watching
  Watch(const StopToken& stop, Progress& progress) : stop_(stop), progress_(&progress) {}
  /// @param keep  saves what is done, where that is worth while
  Watch(const StopToken& stop, Progress& progress, const std::function<void()>& keep)
      : stop_(stop), progress_(&progress), keep_(&keep) {}

  bool stop_requested() const { return stop_.stop_requested(); }
  const StopToken& stop() const { return stop_; }
  /// As those of Progress.
  void begin(std::string_view task, std::string_view unit, std::uint64_t total) const {
    if (progress_ != nullptr) progress_->begin(task, unit, total, 0);
  }
  void advance(std::uint64_t units = 1) const {
    if (progress_ != nullptr) progress_->advance(units);
  }

  /// To be called where work that is interrupted could go on from what is done so far.
  void keep() const {
    if (keep_ != nullptr) (*keep_)();
  }

 private:
  StopToken stop_{};
  Progress* progress_ = nullptr;
  const std::function<void()>* keep_ = nullptr;
};

}  // namespace stein
