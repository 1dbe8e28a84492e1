// In which order a training sees its rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stein::training {

/// Rows of a minibatch where `rows` are for training: `size`, or a fifth of the rows where there are fewer than that
/// and `size` is no more than a default: one step an epoch would be few. Throws Error(usage) for a size that somebody
/// must have asked for and that is more than the rows.
std::int64_t fitting_batch_size(std::int64_t size, std::int64_t rows);

/// All rows in an order that each epoch draws anew: a function of the seed and the epoch alone, so that a resumed
/// training sees what an uninterrupted one does.
class EpochOrder {
 public:
  /// Minibatches of `size` rows; the last one of an epoch takes what is left. Throws Error(usage) unless both are at
  /// least 1.
  EpochOrder(std::int64_t rows, std::int64_t size, std::uint64_t seed);

  /// How many an epoch has.
  std::int64_t minibatches() const { return (std::ssize(order_) + size_ - 1) / size_; }
  /// Rows of minibatch 0 ≤ c < minibatches() of an epoch; valid until another epoch is asked for. Throws Error(usage)
  /// for one that there is not.
  std::span<const std::int64_t> minibatch(std::int64_t epoch, std::int64_t c);

 private:
  std::int64_t size_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;  ///< whose order is there
  std::vector<std::int64_t> order_;
};

}  // namespace stein::training
