#include <stein/core/error.h>
#include <stein/runs/repetitions.h>

#include <algorithm>
#include <bit>

namespace stein::runs {

bool is_recorded(std::int64_t count) {
  constexpr std::uint64_t records_per_doubling = 64;
  const auto steps = static_cast<std::uint64_t>(count);
  return steps % std::max<std::uint64_t>(1, std::bit_floor(steps) / records_per_doubling) == 0;
}

std::uint64_t derived_seed(const NoiseKey& key, std::uint32_t row) {
  const PhiloxBlock words = random_block(key, row, 0);
  return (std::uint64_t{words[0]} << 32) | words[1];
}

}  // namespace stein::runs
