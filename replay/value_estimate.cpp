#include <stein/core/error.h>
#include <stein/core/options.h>
#include <stein/replay/value_estimate.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace stein::replay {
namespace {

constexpr double usual_level = 0.95;

/// How many standard errors to each side an interval of this level has, by bisection.
double errors_at(double level) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

Interval interval_at(double value, double error, double errors) {
  return {value - errors * error, value + errors * error};
}

ValueEstimate estimate_of(double value, double variance, double effective_sample_size) {
  static const double errors = errors_at(usual_level);
  const double error = std::sqrt(std::max(variance, 0.0));  // rounding may leave less than nothing
  return {.value = value,
          .standard_error = error,
          .interval = interval_at(value, error, errors),
          .effective_sample_size = effective_sample_size};
}

/// 0 where weights are so large that their squares are no numbers.
double effective(double sum, double squares) {
  return squares > 0 && std::isfinite(squares) ? sum * sum / squares : 0;
}

template <std::size_t n>
void save_sums(Snapshot& snapshot, std::int64_t count, const std::array<double, n>& sums) {
  snapshot.put("count", count);
  snapshot.put("sums", std::span<const double>(sums));
}

Registry<EstimatorEntry> all_estimators() {
  using Event = JudgedEvent;
  using Options = EstimatorOptions;
  Registry<EstimatorEntry> all("estimator");
  all.add("ips", {"inverse propensities: Σ w r / n", false, [](const Event& e, const Options&) {
                    return EstimatorTerms{e.weight() * e.reward, 1, e.weight()};
                  }});
  all.add("clipped-ips", {"inverse propensities, large weights cut", false, [](const Event& e, const Options& o) {
                            const double weight = std::min(e.weight(), o.clip_weight);
                            return EstimatorTerms{weight * e.reward, 1, weight};
                          }});
  all.add("snips", {"self-normalised inverse propensities: Σ w r / Σ w", false, [](const Event& e, const Options&) {
                      return EstimatorTerms{e.weight() * e.reward, e.weight(), e.weight()};
                    }});
  all.add("dm", {"direct method: the rewards of a model", true,
                 [](const Event& e, const Options&) {
                   return EstimatorTerms{e.expected, 1, 1};
                 },
                 "dr"});
  all.add("dr",
          {"doubly robust: the model, corrected by inverse propensities", true, [](const Event& e, const Options&) {
             return EstimatorTerms{e.expected + e.weight() * (e.reward - e.predicted), 1, e.weight()};
           }});
  all.add("switch", {"doubly robust where weights are small, the model elsewhere", true,
                     [](const Event& e, const Options& o) {
                       const double weight = e.weight() <= o.switch_weight ? e.weight() : 0;
                       return EstimatorTerms{e.expected + weight * (e.reward - e.predicted), 1, weight};
                     },
                     "dr"});
  return all;
}

}  // namespace

const Registry<EstimatorEntry>& estimators() {
  static const Registry<EstimatorEntry> all = all_estimators();
  return all;
}

ValueEstimate ValueEstimate::at(double level) const {
  ValueEstimate same = *this;
  same.interval = interval_at(value, standard_error, errors_at(level));
  return same;
}

ValueEstimate with_error_of(const ValueEstimate& judge, const ValueEstimate& estimate) {
  return {.value = estimate.value,
          .standard_error = judge.standard_error,
          .interval = {std::min(judge.interval.low, estimate.value), std::max(judge.interval.high, estimate.value)},
          .effective_sample_size = judge.effective_sample_size};
}

void ValueEstimator::add(const EstimatorTerms& terms) {
  const auto& [a, b, weight] = terms;
  ++count_;
  numerator_ += a, denominator_ += b, weights_ += weight;
  squares_ += a * a, products_ += a * b, denominators_ += b * b, squared_weights_ += weight * weight;
}

/// Σ (a − v b)², divided by the square of the mean of b.
double ValueEstimator::squared_influence(double value) const {
  const double mean = denominator_ / static_cast<double>(count_);
  return (squares_ - 2 * value * products_ + value * value * denominators_) / (mean * mean);
}

ValueEstimate ValueEstimator::estimate() const {
  const auto n = static_cast<double>(count_);
  const double value = numerator_ / denominator_;
  return estimate_of(value, squared_influence(value) / (n * n), effective(weights_, squared_weights_));
}

void ValueEstimator::save(Snapshot& snapshot) const {
  save_sums(snapshot, count_,
            std::array{numerator_, denominator_, weights_, squares_, products_, denominators_, squared_weights_});
}

void ValueEstimator::restore(const Snapshot& snapshot) {
  std::array<double, 7> sums{};
  snapshot.get("sums", std::span<double>(sums));
  count_ = snapshot.get_scalar<std::int64_t>("count");
  numerator_ = sums[0], denominator_ = sums[1], weights_ = sums[2], squares_ = sums[3], products_ = sums[4];
  denominators_ = sums[5], squared_weights_ = sums[6];
}

void PairedValues::add(const EstimatorTerms& first, const EstimatorTerms& second) {
  first_.add(first), second_.add(second);
  products_[0] += first.numerator * second.numerator, products_[1] += first.numerator * second.denominator;
  products_[2] += first.denominator * second.numerator, products_[3] += first.denominator * second.denominator;
}

double PairedValues::joint_influence(double first, double second) const {
  const auto n = static_cast<double>(first_.count());
  return (products_[0] - second * products_[1] - first * products_[2] + first * second * products_[3]) * n * n /
         (first_.denominator_ * second_.denominator_);
}

ValueEstimate PairedValues::difference() const {
  const auto n = static_cast<double>(first_.count());
  const ValueEstimate one = first_.estimate(), other = second_.estimate();
  const double squares = first_.squared_influence(one.value) + second_.squared_influence(other.value) -
                         2 * joint_influence(one.value, other.value);
  return estimate_of(one.value - other.value, squares / (n * n),
                     std::min(one.effective_sample_size, other.effective_sample_size));
}

ValueEstimate PairedValues::ratio() const {
  const auto n = static_cast<double>(first_.count());
  const ValueEstimate one = first_.estimate(), other = second_.estimate();
  const double ratio = one.value / other.value;
  const double squares = first_.squared_influence(one.value) + ratio * ratio * second_.squared_influence(other.value) -
                         2 * ratio * joint_influence(one.value, other.value);
  return estimate_of(ratio, squares / (n * n * other.value * other.value),
                     std::min(one.effective_sample_size, other.effective_sample_size));
}

void PairedValues::save(Snapshot& snapshot) const {
  Snapshot first, second;
  first_.save(first), second_.save(second);
  snapshot.put_part("first", first), snapshot.put_part("second", second);
  snapshot.put("products", products_);
}

void PairedValues::restore(const Snapshot& snapshot) {
  first_.restore(snapshot.part("first")), second_.restore(snapshot.part("second"));
  snapshot.get("products", std::span(products_));
}

void WeightDiagnostics::add(double weight) {
  ++count_;
  zeros_ += weight == 0;
  sum_ += weight, squares_ += weight * weight;
  largest_ = std::max(largest_, weight);
}

double WeightDiagnostics::mean() const {
  return sum_ / static_cast<double>(count_);
}

double WeightDiagnostics::standard_error() const {
  const auto n = static_cast<double>(count_);
  return std::sqrt(std::max(squares_ / n - mean() * mean(), 0.0) / n);
}

double WeightDiagnostics::effective_sample_size() const {
  return effective(sum_, squares_);
}

double WeightDiagnostics::share_of_zeros() const {
  return static_cast<double>(zeros_) / static_cast<double>(count_);
}

void WeightDiagnostics::save(Snapshot& snapshot) const {
  save_sums(snapshot, count_, std::array{static_cast<double>(zeros_), sum_, squares_, largest_});
}

void WeightDiagnostics::restore(const Snapshot& snapshot) {
  std::array<double, 4> sums{};
  snapshot.get("sums", std::span<double>(sums));
  count_ = snapshot.get_scalar<std::int64_t>("count");
  zeros_ = static_cast<std::int64_t>(sums[0]), sum_ = sums[1], squares_ = sums[2], largest_ = sums[3];
}

}  // namespace stein::replay
