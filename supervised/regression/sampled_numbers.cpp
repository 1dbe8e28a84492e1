#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/diagnostics/chain_agreement.h>
#include <stein/runs/of_each.h>
#include <stein/runs/seed_statistics.h>
#include <stein/supervised/regression/sampled_numbers.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace stein::supervised {
namespace {

/// Calls visit(row) for every row, several at a time.
template <class Visit>
void for_each_row(std::size_t rows, std::size_t samples, const Visit& visit) {
  constexpr std::int64_t numbers_of_task = 1 << 13;
  const auto rows_of_task =
      std::max<std::int64_t>(1, numbers_of_task / static_cast<std::int64_t>(std::max<std::size_t>(samples, 1)));
  parallel_blocks(static_cast<std::int64_t>(rows), rows_of_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) visit(static_cast<std::size_t>(row));
  });
}

double normal_probability(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double log_normal_density(double z) {
  return -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
}

/// log(e^a + e^b), where a may be −∞.
double log_sum(double a, double b) {
  const auto [low, high] = std::minmax(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}

}  // namespace

SampledNumbers::SampledNumbers(std::int64_t rows, std::vector<double> targets, const Scale& scale)
    : rows_(static_cast<std::size_t>(rows)), targets_(std::move(targets)), scale_(scale) {
  STEIN_CHECK(targets_.empty() || targets_.size() == rows_, "expected {} targets, got {}", rows, targets_.size());
}

void SampledNumbers::add(inference::MatrixView<const float> outputs, double noise_precision) {
  STEIN_CHECK(static_cast<std::size_t>(outputs.rows) == rows_ && outputs.columns == 1,
              "expected outputs [{}, 1], got [{}, {}]", rows_, outputs.rows, outputs.columns);
  if (!(noise_precision > 0) || !std::isfinite(noise_precision))
    fail(ErrorKind::numeric, "sample {} has a noise precision of {}: the weights have diverged", samples(),
         noise_precision);
  for (std::int64_t row = 0; row < outputs.rows; ++row) {
    if (!std::isfinite(outputs(row, 0)))
      fail(ErrorKind::numeric, "sample {} predicts {} for row {}", samples(), outputs(row, 0), row);
    outputs_.push_back(outputs(row, 0));
  }
  deviations_.push_back(scale_.deviation / std::sqrt(noise_precision));
}

void SampledNumbers::drop_last(std::int64_t count) {
  STEIN_CHECK(count >= 0 && count <= samples(), "cannot drop {} of {} samples", count, samples());
  if (count > 0) sums_ = {};
  deviations_.resize(deviations_.size() - static_cast<std::size_t>(count));
  outputs_.resize(deviations_.size() * rows_);
}

void SampledNumbers::check_any_sample() const {
  STEIN_CHECK(samples() > 0, "there is no sample yet");
}

void SampledNumbers::check_targets() const {
  check_any_sample();
  STEIN_CHECK(!targets_.empty(), "the targets of these rows are not known");
}

double SampledNumbers::log_density(std::size_t sample, std::size_t row) const {
  return log_normal_density((targets_[row] - mean(sample, row)) / deviations_[sample]) - std::log(deviations_[sample]);
}

SampledNumbers::Law SampledNumbers::law(std::size_t row, double value) const {
  Law sum;
  for (std::size_t s = 0; s < deviations_.size(); ++s) {
    const double z = (value - mean(s, row)) / deviations_[s];
    sum.probability += normal_probability(z);
    sum.density += std::exp(log_normal_density(z)) / deviations_[s];
  }
  const auto count = static_cast<double>(samples());
  return {sum.probability / count, sum.density / count};
}

/// Newton's steps inside a bracket, halving it where they would leave it.
double SampledNumbers::quantile(std::size_t row, double probability, double start, double deviation) const {
  double low = start, high = start;
  while (law(row, low).probability > probability) low -= deviation;
  while (law(row, high).probability < probability) high += deviation;
  double value = start;
  constexpr int most_steps = 60;
  for (int step = 0; step < most_steps; ++step) {
    const Law here = law(row, value);
    const double off = here.probability - probability;
    constexpr double tolerance = 1e-9;
    if (std::abs(off) < tolerance) break;
    (off > 0 ? high : low) = value;
    const double next = value - off / here.density;
    value = next > low && next < high ? next : 0.5 * (low + high);
  }
  return value;
}

PredictedNumber SampledNumbers::prediction(std::size_t row) const {
  double mean_sum = 0, square = 0, variance = 0;
  const auto count = static_cast<double>(samples());
  for (std::size_t s = 0; s < deviations_.size(); ++s) {
    const double off = mean(s, row) - mean_sum;
    mean_sum += off / static_cast<double>(s + 1);
    square += off * (mean(s, row) - mean_sum);
    variance += deviations_[s] * deviations_[s] / count;
  }
  PredictedNumber found{.mean = mean_sum,
                        .deviation = std::sqrt(variance + square / count),
                        .model_deviation = std::sqrt(square / count)};
  constexpr double tail = (1 - interval_level) / 2;
  const double reach = gaussian_interval_end * found.deviation;
  if (samples() == 1) {
    found.low = found.mean - reach, found.high = found.mean + reach;
  } else {
    found.low = quantile(row, tail, found.mean - reach, found.deviation);
    found.high = quantile(row, 1 - tail, found.mean + reach, found.deviation);
  }
  return found;
}

std::vector<PredictedNumber> SampledNumbers::predictions() const {
  check_any_sample();
  std::vector<PredictedNumber> found(rows_);
  for_each_row(rows_, deviations_.size(), [&](std::size_t row) { found[row] = prediction(row); });
  return found;
}

std::vector<double> SampledNumbers::probability_transforms() const {
  check_targets();
  std::vector<double> found(rows_);
  for_each_row(rows_, deviations_.size(), [&](std::size_t row) { found[row] = law(row, targets_[row]).probability; });
  return found;
}

std::vector<double> SampledNumbers::log_densities(std::span<const std::int64_t> samples) const {
  std::vector<double> found(rows_);
  for_each_row(rows_, samples.size(), [&](std::size_t row) {
    double sum = -std::numeric_limits<double>::infinity();
    for (const std::int64_t sample : samples) sum = log_sum(sum, log_density(static_cast<std::size_t>(sample), row));
    found[row] = sum - std::log(static_cast<double>(samples.size()));
  });
  return found;
}

const SampledNumbers::Sums& SampledNumbers::sums() const {
  if (sums_.samples == 0)
    sums_ = {.means = std::vector<double>(rows_),
             .log_densities = std::vector<double>(rows_, -std::numeric_limits<double>::infinity())};
  const auto first = static_cast<std::size_t>(sums_.samples);
  for_each_row(rows_, deviations_.size() - first, [&](std::size_t row) {
    for (std::size_t s = first; s < deviations_.size(); ++s) {
      sums_.means[row] += mean(s, row);
      sums_.log_densities[row] = log_sum(sums_.log_densities[row], log_density(s, row));
    }
  });
  sums_.samples = samples();
  return sums_;
}

double SampledNumbers::rmse() const {
  check_targets();
  const std::vector<double>& means = sums().means;
  double squares = 0;
  for (std::size_t row = 0; row < rows_; ++row) {
    const double off = targets_[row] - means[row] / static_cast<double>(samples());
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(rows_));
}

double SampledNumbers::constant_rmse() const {
  check_targets();
  double squares = 0;
  for (const double target : targets_) squares += (target - scale_.mean) * (target - scale_.mean);
  return std::sqrt(squares / static_cast<double>(rows_));
}

double SampledNumbers::log_likelihood() const {
  check_targets();
  const double share = std::log(static_cast<double>(samples()));
  const std::vector<double>& sums = this->sums().log_densities;
  return runs::mean(runs::of_each(sums, [&](double sum) { return sum - share; }));
}

RegressionScore SampledNumbers::averaged() const {
  RegressionScore score{.rmse = rmse(), .log_likelihood = log_likelihood()};
  const std::vector<PredictedNumber> predicted = predictions();
  const auto count = static_cast<double>(rows_);
  for (std::size_t row = 0; row < rows_; ++row) {
    score.coverage += (targets_[row] >= predicted[row].low && targets_[row] <= predicted[row].high) / count;
    score.interval_width += (predicted[row].high - predicted[row].low) / count;
  }
  return score;
}

RegressionScore SampledNumbers::single() const {
  check_targets();
  RegressionScore mean_score;
  const auto count = static_cast<double>(rows_), all = static_cast<double>(samples());
  for (std::size_t s = 0; s < deviations_.size(); ++s) {
    const double reach = gaussian_interval_end * deviations_[s];
    double squares = 0, log_density = 0, inside = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const double off = targets_[row] - mean(s, row);
      squares += off * off;
      log_density += log_normal_density(off / deviations_[s]) - std::log(deviations_[s]);
      inside += std::abs(off) <= reach;
    }
    mean_score.rmse += std::sqrt(squares / count) / all;
    mean_score.log_likelihood += log_density / count / all;
    mean_score.coverage += inside / count / all;
    mean_score.interval_width += 2 * reach / all;
  }
  return mean_score;
}

std::vector<double> SampledNumbers::loss_curve(inference::Selection selection, std::int64_t at_most) const {
  check_targets();
  std::vector<double> losses;
  std::vector<double> growing(rows_, -std::numeric_limits<double>::infinity());  // log Σ of densities so far
  for (std::int64_t count = 1; count <= std::min(samples(), at_most); ++count) {
    if (selection == inference::Selection::thinned) {
      losses.push_back(-runs::mean(log_densities(inference::selected(selection, count, samples()))));
      continue;
    }
    const std::int64_t next = selection == inference::Selection::forward ? count - 1 : samples() - count;
    const std::vector<double> added = log_densities(std::span(&next, 1));
    for (std::size_t row = 0; row < rows_; ++row) growing[row] = log_sum(growing[row], added[row]);
    losses.push_back(std::log(static_cast<double>(count)) - runs::mean(growing));
  }
  return losses;
}

inference::Matrix<double> SampledNumbers::traces(std::int64_t at_most) const {
  return inference::traces_of(static_cast<std::int64_t>(rows_), samples(), at_most,
                              [&](std::int64_t k, std::int64_t row) {
                                return mean(static_cast<std::size_t>(k), static_cast<std::size_t>(row));
                              });
}

void SampledNumbers::save(Snapshot& snapshot) const {
  snapshot.put("deviations", deviations_);
  snapshot.put("outputs", outputs_);
}

void SampledNumbers::restore(const Snapshot& snapshot) {
  sums_ = {};
  deviations_ = snapshot.get_vector<double>("deviations");
  outputs_ = snapshot.get_vector<float>("outputs");
  if (outputs_.size() != deviations_.size() * rows_)
    fail(ErrorKind::data, "the checkpoint holds {} predictions, expected {} samples of {} rows", outputs_.size(),
         deviations_.size(), rows_);
}

}  // namespace stein::supervised
