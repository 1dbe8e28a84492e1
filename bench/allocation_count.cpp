#include <stein/bench/allocation_count.h>

#include <atomic>
#include <memory>

namespace stein::bench {
namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> counted_allocations{0};

std::int64_t count_in(const std::function<void()>& body) {
  counted_allocations = 0;
  counting = true;
  body();
  counting = false;
  return counted_allocations;
}

}  // namespace

void count_allocation() noexcept {
  if (counting.load(std::memory_order_relaxed)) counted_allocations.fetch_add(1, std::memory_order_relaxed);
}

std::optional<std::int64_t> allocations_in(const std::function<void()>& body) {
  static const bool is_counted = count_in([] { ::operator delete(::operator new(1)); }) > 0;
  if (!is_counted) return std::nullopt;
  return count_in(body);
}

}  // namespace stein::bench
