// When a repetition records its metrics, and seeds derived from its seed.
#pragma once

#include <stein/core/rng.h>

#include <cstdint>
#include <string>

namespace stein::runs {

/// Whether metrics are recorded after `count` steps: after every one at first, then about 64 times in every doubling of
/// their number.
bool is_recorded(std::int64_t count);

/// Another seed, from the first two words of `row` of a sheet of random numbers.
std::uint64_t derived_seed(const NoiseKey& key, std::uint32_t row = 0);

}  // namespace stein::runs
