// Statistics of independent chains against exact laws. Standard errors come from the spread over chains, never from
// autocorrelation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace stein::inference {

/// |z| beyond which a law is refused: false alarms of 1e-9 a comparison for many chains, of 7e-8 for 64, the fewest
/// that are compared (Student's t).
inline constexpr double critical_value = 6.1;
/// |z| that every mutant must exceed.
inline constexpr double mutant_value = 10;

/// A number for each chain: its average of one statistic over time.
class ChainAverages {
 public:
  explicit ChainAverages(std::int64_t chains) : sums_(static_cast<std::size_t>(chains)) {}

  void add(std::int64_t chain, double value) { sums_[static_cast<std::size_t>(chain)] += value; }
  void count() { ++times_; }

  double mean() const {
    double sum = 0;
    for (const double value : sums_) sum += value;
    return sum / static_cast<double>(sums_.size()) / times_;
  }
  double standard_error() const {
    const double centre = mean();
    double square = 0;
    for (const double value : sums_) square += std::pow(value / times_ - centre, 2);
    const auto chains = static_cast<double>(sums_.size());
    return std::sqrt(square / (chains - 1) / chains);
  }
  /// How many standard errors the chains are from `law`; huge if they are no numbers.
  double z(double law) const {
    const double value = (mean() - law) / standard_error();
    return std::isfinite(value) ? value : 1e9;
  }

 private:
  std::vector<double> sums_;
  double times_ = 0;
};

}  // namespace stein::inference
