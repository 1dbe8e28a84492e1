// The wish to stop early, shared between whoever asks (a signal, a test) and the loops that look at it once a step.
#pragma once

#include <atomic>
#include <memory>

namespace stein {

/// A flag that copies share; setting and reading it is safe from any thread and from a signal handler.
class StopToken {
 public:
  StopToken() : signal_(std::make_shared<std::atomic<int>>(not_requested)) {}

  bool stop_requested() const noexcept { return signal_->load(std::memory_order_relaxed) != not_requested; }

  /// The signal that asked to stop (SIGINT, SIGTERM); 0 if a program asked, or if nobody has.
  int signal() const noexcept {
    const int value = signal_->load(std::memory_order_relaxed);
    return value == not_requested ? 0 : value;
  }

  /// Asks to stop. The first request stands; later ones change nothing.
  void request_stop(int signal = 0) const noexcept {
    int expected = not_requested;
    signal_->compare_exchange_strong(expected, signal, std::memory_order_relaxed);
  }

 private:
  static constexpr int not_requested = -1;
  static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

  std::shared_ptr<std::atomic<int>> signal_;
};

}  // namespace stein
