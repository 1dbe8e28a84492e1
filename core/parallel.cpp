#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <memory>
#include <thread>

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
  tbb::parallel_for(
      std::int64_t{0}, count,
      [=](std::int64_t i) {
        inside_task = true;
        const InsideTask leave{inside_task};
        task(body, i);
      },
      tbb::simple_partitioner{});
}

}  // namespace detail
}  // namespace stein
