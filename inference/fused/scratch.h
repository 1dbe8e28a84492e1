// Working memory of kernels: grown once, then reused.
#pragma once

#include <stein/inference/storage/aligned_buffer.h>

#include <cstdint>

namespace stein::inference::fused {

/// At least `size` numbers on a 64-byte boundary that belong to this thread until its next call with the same `Owner`;
/// their values are whatever was there before.
template <class Owner, class Number = float>
Number* scratch(std::int64_t size) {
  thread_local AlignedBuffer<Number> buffer;
  if (static_cast<std::int64_t>(buffer.size()) < size) buffer = AlignedBuffer<Number>(static_cast<std::size_t>(size));
  return buffer.data();
}

}  // namespace stein::inference::fused
