#include <stein/core/error.h>
#include <stein/replay/confidence_sequence.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein::replay {
namespace {

constexpr int slopes = 80;  // the least λ is 0.9 · 2^−39.5: fit for 10^12 observations of full spread

/// λ_k, ψ(λ_k) and −log w_k, w_k = 1 / ((k + 1)(k + 2)), whose sum over all k is 1.
struct Slope {
  double lambda, psi, price;
};

const std::array<Slope, slopes>& all_slopes() {
  static const auto made = [] {
    std::array<Slope, slopes> found{};
    for (int k = 0; k < slopes; ++k) {
      const double lambda = 0.9 * std::exp2(-k / 2.0);
      found[static_cast<std::size_t>(k)] = {lambda, -std::log1p(-lambda) - lambda, std::log((k + 1.0) * (k + 2.0))};
    }
    return found;
  }();
  return made;
}

}  // namespace

ConfidenceSequence::ConfidenceSequence(double low, double high, double level)
    : low_(low), width_(high - low), miss_(1 - level) {
  STEIN_CHECK(low < high && std::isfinite(low) && std::isfinite(high),
              "a confidence sequence needs bounds low < high, got {} and {}", low, high);
  STEIN_CHECK(level > 0 && level < 1, "the level of a confidence sequence must lie in (0, 1), got {}", level);
}

void ConfidenceSequence::add(double observation) {
  const double scaled = (observation - low_) / width_;
  STEIN_CHECK(scaled >= 0 && scaled <= 1, "a confidence sequence for numbers in [{}, {}] got {}", low_, low_ + width_,
              observation);
  const double guess = (0.5 + sum_) / static_cast<double>(1 + count_);
  squares_ += (scaled - guess) * (scaled - guess);
  sum_ += scaled;
  ++count_;
}

double ConfidenceSequence::mean() const {
  return low_ + width_ * (count_ > 0 ? sum_ / static_cast<double>(count_) : 0.5);
}

Interval ConfidenceSequence::interval() const {
  if (count_ == 0) return {low_, low_ + width_};
  double distance = std::numeric_limits<double>::infinity();
  for (const auto& [lambda, psi, price] : all_slopes())
    distance = std::min(distance, (std::log(2 / miss_) + price + psi * squares_) / lambda);
  const double half = width_ * distance / static_cast<double>(count_);
  return {std::max(low_, mean() - half), std::min(low_ + width_, mean() + half)};
}

void ConfidenceSequence::save(Snapshot& snapshot) const {
  snapshot.put("count", count_);
  snapshot.put("sum", sum_);
  snapshot.put("squares", squares_);
}

void ConfidenceSequence::restore(const Snapshot& snapshot) {
  count_ = snapshot.get_scalar<std::int64_t>("count");
  sum_ = snapshot.get_scalar<double>("sum");
  squares_ = snapshot.get_scalar<double>("squares");
}

}  // namespace stein::replay
