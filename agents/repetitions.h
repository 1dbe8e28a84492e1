// What runs of several seeds have in common, whatever is repeated.
#pragma once

#include <stein/core/rng.h>

#include <cstdint>
#include <string>

namespace stein::agents {

/// Throws Error(usage) unless first < end.
void check_seeds(std::uint64_t first, std::uint64_t end);

/// Where a snapshot keeps the repetition with this seed.
std::string part_name(std::uint64_t seed);

/// Whether metrics are recorded after `count` steps: after every one at first, then about 64 times in every doubling of
/// their number.
bool is_recorded(std::int64_t count);

/// Another seed, from the first two words of `row` of a sheet of random numbers.
std::uint64_t derived_seed(const NoiseKey& key, std::uint32_t row = 0);

}  // namespace stein::agents
