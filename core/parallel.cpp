#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <memory>
#include <thread>

#if defined(__SANITIZE_THREAD__)
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

/// Says on leaving, also by an exception, that this thread is no longer inside a task.
struct InsideTask {
  bool& flag;
  ~InsideTask() { flag = false; }
};

// ThreadSanitizer does not see how oneTBB, which is built without it, hands tasks over: it is told.
#if defined(__SANITIZE_THREAD__)
void hand_over(const void* body) {
  __tsan_release(const_cast<void*>(body));
}
void take_over(const void* body) {
  __tsan_acquire(const_cast<void*>(body));
}
#else
void hand_over(const void*) {}
void take_over(const void*) {}
#endif

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
  hand_over(body);
  tbb::parallel_for(
      std::int64_t{0}, count,
      [=](std::int64_t i) {
        take_over(body);
        inside_task = true;
        const InsideTask leave{inside_task};
        task(body, i);
        hand_over(body);
      },
      tbb::simple_partitioner{});
  take_over(body);
}

}  // namespace detail
}  // namespace stein
