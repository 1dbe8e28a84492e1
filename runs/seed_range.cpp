#include <stein/core/error.h>
#include <stein/runs/seed_range.h>

#include <charconv>

namespace stein::runs {

SeedRange SeedRange::parse(std::string_view text) {
  constexpr std::uint64_t most_seeds = 10'000;
  SeedRange range;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  const bool has_first = first.ec == std::errc{} && first.ptr != end && *first.ptr == ':';
  const auto last = std::from_chars(has_first ? first.ptr + 1 : end, end, range.end);
  STEIN_CHECK(has_first && last.ec == std::errc{} && last.ptr == end,
              "seeds are given as A:B, from A up to but without B, for instance 0:5; got '{}'", text);
  STEIN_CHECK(range.first < range.end, "seeds {} hold no seed: the second number must be larger", text);
  STEIN_CHECK(range.end - range.first <= most_seeds, "at most {} seeds can run side by side, got {}", most_seeds,
              range.end - range.first);
  return range;
}

}  // namespace stein::runs
