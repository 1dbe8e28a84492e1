// The yardstick of memory-bound work: how fast this machine copies.
#pragma once

#include <stein/inference/storage/aligned_buffer.h>

#include <cstdint>

namespace stein::bench {

/// Copies `size` floats from one buffer to another on all threads, in SIMD, past the cache: stores that read nothing.
/// On the machines at hand that is the fastest of all copies where they do not fit the cache.
class Copy {
 public:
  explicit Copy(std::int64_t size) : from_(static_cast<std::size_t>(size)), to_(from_.size()) {}
  void operator()();
  static constexpr double bytes = 8;  ///< a number: read and written

 private:
  inference::AlignedBuffer<float> from_, to_;
};

}  // namespace stein::bench
