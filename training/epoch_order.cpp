#include <stein/core/error.h>
#include <stein/core/shuffle.h>
#include <stein/training/epoch_order.h>

#include <algorithm>
#include <numeric>

namespace stein::training {

std::int64_t fitting_batch_size(std::int64_t size, std::int64_t rows) {
  constexpr std::int64_t largest_default = 100;
  STEIN_CHECK(size <= std::max(rows, largest_default), "batch_size={} is more than the {} rows for training", size,
              rows);
  return size <= rows ? size : (rows + 4) / 5;
}

EpochOrder::EpochOrder(std::int64_t rows, std::int64_t size, std::uint64_t seed)
    : size_(size), seed_(seed), order_(static_cast<std::size_t>(rows)) {
  STEIN_CHECK(rows >= 1 && size >= 1, "expected rows of training and of a minibatch, got {} and {}", rows, size);
}

std::span<const std::int64_t> EpochOrder::minibatch(std::int64_t epoch, std::int64_t c) {
  STEIN_CHECK(epoch >= 0 && c >= 0 && c < minibatches(), "expected a minibatch from 0 to {}, got {} of epoch {}",
              minibatches() - 1, c, epoch);
  if (epoch != epoch_) {
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    Draws draws({.seed = seed_, .step = static_cast<std::uint64_t>(epoch), .stream = Stream::minibatch}, 0);
    shuffle(std::span(order_), draws);
    epoch_ = epoch;
  }
  const std::span<const std::int64_t> all = order_;
  const auto first = static_cast<std::size_t>(c * size_);
  return all.subspan(first, std::min(static_cast<std::size_t>(size_), all.size() - first));
}

}  // namespace stein::training
