// Four tasks on two threads, two of which write a number: `apart`, each one of its own; `at_once`, the same one while
// both run; `in_turn`, the same one, the second after the first is over. ThreadSanitizer has to report the last two.
#include <stein/core/parallel.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

int main(int argument_count, char** arguments) {
  const std::string_view how = argument_count > 1 ? arguments[1] : "";
  stein::set_thread_count(2);
  // Relaxed: the order in which tasks begin must not be one that threads can rely on.
  std::atomic<int> begun = 0;
  int written[2] = {0, 0};
  stein::parallel_blocks(4, 1, [&](std::int64_t, std::int64_t) {
    const int place = begun.fetch_add(1, std::memory_order_relaxed);
    // Tasks 0 and 2 are one thread's, 1 and 3 the other's: each waits for the next one to begin.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (place < 3 && begun.load(std::memory_order_relaxed) < place + 2 &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    const int second = how == "at_once" ? 1 : 3;
    if (place == 0) written[0] = 1;
    if (place == second) written[how == "apart" ? 1 : 0] = 2;
  });
  std::printf("%s: %d tasks, wrote %d and %d\n", arguments[1], begun.load(), written[0], written[1]);
}
