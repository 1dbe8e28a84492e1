// Sums over many items on several cores, with the same bits at any number of threads.
#pragma once

#include <stein/core/parallel.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace stein {

/// Σ of body(begin, end) over at most 64 blocks of [0, size), each a whole multiple of `least` items but the last: a
/// split that follows from the size alone. `Sum` starts as Sum{} and has +=.
template <class Sum, class Body>
Sum sum_of_blocks(std::int64_t size, std::int64_t least, const Body& body) {
  constexpr std::int64_t most_parts = 64;
  const std::int64_t share = (size + most_parts - 1) / most_parts;
  const std::int64_t part = std::max<std::int64_t>(1, (share + least - 1) / least) * least;
  std::array<Sum, most_parts> sums{};
  parallel_blocks(size, part, [&](std::int64_t begin, std::int64_t end) {
    sums[static_cast<std::size_t>(begin / part)] = body(begin, end);
  });
  Sum all{};
  for (const Sum& sum : sums) all += sum;
  return all;
}

}  // namespace stein
