// The seeds of a run: its independent repetitions.
#pragma once

#include <cstdint>
#include <string_view>

namespace stein::runs {

/// Seeds first … end − 1.
struct SeedRange {
  std::uint64_t first = 0, end = 1;

  std::int64_t count() const { return static_cast<std::int64_t>(end - first); }
  bool contains(std::uint64_t seed) const { return seed >= first && seed < end; }
  /// From "A:B". Throws Error(usage) for anything else, for an empty range, and for more than 10,000 seeds.
  static SeedRange parse(std::string_view text);
};

}  // namespace stein::runs
