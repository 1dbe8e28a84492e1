// Work on several cores with results that do not depend on how many there are: tasks are fixed by the caller, never by
// the number of threads. oneTBB underneath.
#pragma once

#include <cstdint>
#include <type_traits>

namespace stein {

/// Number of threads that `parallel_for` may use; initially the number of cores.
int thread_count();

/// Sets the number of threads of `parallel_for` for the whole process. Throws Error(usage) unless 1 ≤ count ≤ 4096.
void set_thread_count(int count);

/// Number of threads that a call of `parallel_for` from here may use: inside a task its share of those that the tasks
/// beside it leave over, 1 where there are as many tasks as threads.
int available_threads();

namespace detail {
void run_tasks(std::int64_t count, void (*task)(const void*, std::int64_t), const void* body);
}

/// Calls body(i) once for every i in [0, count), in any order, on up to `thread_count()` threads. Where some throw,
/// throws what the lowest i of these threw: all below it have run, of those above it maybe not all. With one task, or
/// one thread left, all run in the calling thread, in order. Of five tasks on sixteen threads each may run tasks of its
/// own on four: they share what is free. Inside, denormal numbers are zeros (core/flush_denormals.h), whichever thread
/// runs a task.
template <class Body>
void parallel_for(std::int64_t count, const Body& body) {
  detail::run_tasks(
      count, [](const void* erased, std::int64_t i) { (*static_cast<const Body*>(erased))(i); }, &body);
}

/// Splits [0, size) into blocks of `block` items and calls body(begin, end) for each: the split is fixed by `block`
/// alone.
template <class Body>
void parallel_blocks(std::int64_t size, std::int64_t block, const Body& body) {
  parallel_for((size + block - 1) / block, [&](std::int64_t i) {
    const std::int64_t begin = i * block;
    body(begin, begin + block < size ? begin + block : size);
  });
}

}  // namespace stein
