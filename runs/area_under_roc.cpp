#include <stein/core/error.h>
#include <stein/runs/area_under_roc.h>

#include <algorithm>
#include <vector>

namespace stein::runs {

double area_under_roc(std::span<const double> lower, std::span<const double> higher) {
  STEIN_CHECK(!lower.empty() && !higher.empty(), "expected numbers in both groups, got {} and {}", lower.size(),
              higher.size());
  std::vector<double> sorted(lower.begin(), lower.end());
  std::ranges::sort(sorted);
  double pairs = 0;
  for (const double number : higher) {
    const auto [first, last] = std::ranges::equal_range(sorted, number);
    pairs += static_cast<double>(first - sorted.begin()) + 0.5 * static_cast<double>(last - first);
  }
  return pairs / (static_cast<double>(lower.size()) * static_cast<double>(higher.size()));
}

}  // namespace stein::runs
