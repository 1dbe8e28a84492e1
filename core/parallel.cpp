#include <stein/core/error.h>
#include <stein/core/flush_denormals.h>
#include <stein/core/parallel.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#ifdef STEIN_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace stein {
namespace {

struct ThreadLimit {
  int count = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::unique_ptr<tbb::global_control> control;
};

ThreadLimit& limit() {
  static ThreadLimit instance;
  return instance;
}

/// A moment that ThreadSanitizer, which sees nothing of oneTBB, is told of: what comes before `reached` in one thread
/// comes before what follows `passed` in another.
struct Moment {
#ifdef STEIN_THREAD_SANITIZER
  void reached() {
    __tsan_release(this);
  }
  void passed() {
    __tsan_acquire(this);
  }
#else
  void reached() {}
  void passed() {}
#endif
};

/// All tasks begin after `begin` and are over at `end`: two moments, so that no task seems to come before another one.
/// Destructors, because what a task threw ends the wait for all of them.
struct Wait {
  Moment begin, end;
  ~Wait() { end.passed(); }
};

/// Where a thread stands, and how many threads a call of `parallel_for` from there may use.
struct Place {
  bool inside_task = false;
  int threads = 1;
};

Place& place() {
  thread_local Place here;
  return here;
}

/// The time that a thread is inside a task.
class InsideTask {
 public:
  InsideTask(int threads, Wait& wait) : outer_(place()), wait_(wait) { place() = {true, threads}; }
  ~InsideTask() {
    place() = outer_;
    wait_.end.reached();
  }
  InsideTask(const InsideTask&) = delete;
  InsideTask& operator=(const InsideTask&) = delete;

 private:
  Place outer_;
  Wait& wait_;
};

/// What tasks throw. Of several that fail the lowest counts, whichever was first: as one thread would have found it.
class FirstFailure {
 public:
  bool precedes(std::int64_t task) const { return task_.load(std::memory_order_relaxed) < task; }
  /// Inside the handler of what `task` has thrown.
  void caught(std::int64_t task) {
    const std::scoped_lock lock(mutex_);
    if (precedes(task)) return;
    task_ = task;
    thrown_ = std::current_exception();
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::atomic<std::int64_t> task_ = std::numeric_limits<std::int64_t>::max();
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace

int thread_count() {
  return limit().count;
}

int available_threads() {
  return place().inside_task ? place().threads : thread_count();
}

void set_thread_count(int count) {
  STEIN_CHECK(count >= 1 && count <= 4096, "threads must be between 1 and 4096, got {}", count);
  limit().count = count;
  limit().control = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, count);
}

namespace detail {

void run_tasks(std::int64_t count, void (*task)(const void*, std::int64_t), const void* body) {
  const int threads = available_threads();
  if (count <= 1 || threads == 1) {
    const FlushDenormals flush;
    for (std::int64_t i = 0; i < count; ++i) task(body, i);
    return;
  }
  // For calls from inside a task; rounded up, so that ten tasks on sixteen threads leave none of them idle.
  const auto each = static_cast<int>(count >= threads ? 1 : (threads + count - 1) / count);
  FirstFailure failure;
  Wait wait;
  wait.begin.reached();
  const auto run = [=, &failure, &wait] {
    tbb::parallel_for(
        std::int64_t{0}, count,
        [=, &failure, &wait](std::int64_t i) {
          if (failure.precedes(i)) return;
          wait.begin.passed();
          const InsideTask inside(each, wait);
          const FlushDenormals flush;
          try {
            task(body, i);
          } catch (...) {
            failure.caught(i);
          }
        },
        tbb::simple_partitioner{});
  };
  // A task that waits for its own tasks takes up no others: they might use the memory of this thread.
  if (place().inside_task)
    tbb::this_task_arena::isolate(run);
  else
    run();
  failure.rethrow();
}

}  // namespace detail
}  // namespace stein
