// The wish to stop early, shared between whoever asks (a signal, a test) and the loops that look at it once a step.
#pragma once

#include <atomic>
#include <memory>

namespace stein {

/// A flag that copies share; setting and reading it is safe from any thread and from a signal handler.
class StopToken {
 public:
  StopToken() : requested_(std::make_shared<std::atomic<bool>>(false)) {}

  bool stop_requested() const noexcept { return requested_->load(std::memory_order_relaxed); }
  /// Asks to stop, for good.
  void request_stop() const noexcept { requested_->store(true, std::memory_order_relaxed); }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

  std::shared_ptr<std::atomic<bool>> requested_;
};

}  // namespace stein
