#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <memory>
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
/// Destructors, because an exception may end a task and the wait for it.
struct Wait {
  Moment begin, end;
  ~Wait() { end.passed(); }
};

/// The time that a thread is inside a task.
struct InsideTask {
  bool& flag;
  Wait& wait;
  ~InsideTask() {
    flag = false;
    wait.end.reached();
  }
};

}  // namespace

int thread_count() {
  return limit().count;
}

void set_thread_count(int count) {
  STEIN_CHECK(count >= 1 && count <= 4096, "threads must be between 1 and 4096, got {}", count);
  limit().count = count;
  limit().control = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, count);
}

namespace detail {

void run_tasks(std::int64_t count, void (*task)(const void*, std::int64_t), const void* body) {
  thread_local bool inside_task = false;
  if (count <= 1 || thread_count() == 1 || inside_task) {
    for (std::int64_t i = 0; i < count; ++i) task(body, i);
    return;
  }
  Wait wait;
  wait.begin.reached();
  tbb::parallel_for(
      std::int64_t{0}, count,
      [task, body, &wait](std::int64_t i) {
        wait.begin.passed();
        inside_task = true;
        const InsideTask inside{inside_task, wait};
        task(body, i);
      },
      tbb::simple_partitioner{});
}

}  // namespace detail
}  // namespace stein
