// What messages between ranks cost.
#pragma once

#include <stein/distributed/communicator.h>

#include <cstdint>
#include <vector>

namespace stein::distributed {

/// How long it takes until all ranks have what each of them gave.
struct MessageTime {
  std::int64_t bytes;  ///< that every rank gives
  double seconds;      ///< on the root; the median
};

/// How long messages of different sizes are measured.
struct MessageTimeOptions {
  std::int64_t largest = std::int64_t{1} << 24;  ///< [bytes], at least 64
  double seconds_a_size = 0.2;                   ///< repeated so long, 7 times at least
};

/// Collective. `all_gather` of 64 bytes a rank, of eight times as many, and so on up to the largest.
/// @throws Error(numeric) where a message arrives changed
std::vector<MessageTime> measure_messages(Communicator& ranks, const MessageTimeOptions& options = {});

}  // namespace stein::distributed
