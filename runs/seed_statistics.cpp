#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace stein::runs {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// The 97.5 % quantiles of Student's t with 1, 2, …, 30 degrees of freedom.
constexpr std::array student_t_table{12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004,
                                     2.262157,  2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905,
                                     2.109816,  2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899,
                                     2.059539,  2.055529, 2.051831, 2.048407, 2.045230, 2.042272};

/// 1/freedom and quantile, further on; the last is that of the normal distribution.
constexpr std::array<std::pair<double, double>, 5> student_t_tail{
    {{1. / 30, 2.042272}, {1. / 40, 2.021075}, {1. / 60, 2.000298}, {1. / 120, 1.979930}, {0, 1.959964}}};

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return undefined;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(std::span<const double> values) {
  if (values.size() < 2) return undefined;
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double quantile(std::span<const double> values, double share) {
  if (values.empty()) return undefined;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

double student_t(std::size_t freedom) {
  if (freedom == 0) return undefined;
  if (freedom <= student_t_table.size()) return student_t_table[freedom - 1];
  const double place = 1 / static_cast<double>(freedom);
  const auto after = std::ranges::find_if(student_t_tail, [&](const auto& entry) { return entry.first <= place; });
  const auto before = std::prev(after);
  return std::lerp(after->second, before->second, (place - after->first) / (before->first - after->first));
}

double half_width(std::span<const double> values) {
  if (values.size() < 2) return undefined;
  return student_t(values.size() - 1) * deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace stein::runs
