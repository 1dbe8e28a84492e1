// What samples of the weights predict for the targets of some rows, and what their averages would have predicted.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/prediction/collector.h>
#include <stein/inference/storage/matrix.h>
#include <stein/supervised/regression/regression_score.h>
#include <stein/supervised/tables/table_encoding.h>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stein::supervised {

/// An equal mixture of Gaussians: what samples predict together for one row.
struct PredictedNumber {
  double mean = 0;
  double deviation = 0;        ///< of the target: √(mean of the variances + variance of the means)
  double model_deviation = 0;  ///< of the samples' means alone: what is not known of the weights
  double low = 0, high = 0;    ///< central interval of probability `interval_level`
};

/// Means and noise of every sample: n floats each, no weights. All numbers that it gives are in the targets' own units.
class SampledNumbers {
 public:
  /// @param targets  [n] of the rows, in their own units; empty of rows whose targets are not known
  /// @param scale    what a network's output 0 and 1 stand for
  SampledNumbers(std::int64_t rows, std::vector<double> targets, const Scale& scale);

  /// Adds a sample. Throws Error(numeric) for outputs or a precision that are not finite, and unless the precision is >
  /// 0.
  /// @param outputs          [n, 1] of the network
  /// @param noise_precision  γ on the network's scale
  void add(inference::MatrixView<const float> outputs, double noise_precision);
  /// Removes the last samples, those of steps that were taken back.
  void drop_last(std::int64_t count);

  std::int64_t samples() const { return std::ssize(deviations_); }
  const std::vector<double>& targets() const { return targets_; }

  // All that follows throws Error(usage) before the first sample; scores, curves and ranks need targets.

  /// What all samples predict together, for each row.
  std::vector<PredictedNumber> predictions() const;
  /// √ of the mean squared error of their mean.
  double rmse() const;
  /// √ of the mean squared error of who always says the mean that the scale has.
  double constant_rmse() const;
  /// Mean log density of the targets under all samples together [nats].
  double log_likelihood() const;
  /// The score of all samples together.
  RegressionScore averaged() const;
  /// The mean over samples of their scores: what one of them is worth.
  RegressionScore single() const;
  /// F(y) of each target under what all samples predict together: uniform on (0, 1) where predictions are calibrated
  /// (Dawid 1984).
  std::vector<double> probability_transforms() const;
  /// −log density of averages over 1, 2, … samples(): the first k, the last k, or k at equal distances [nats].
  std::vector<double> loss_curve(inference::Selection selection,
                                 std::int64_t at_most = std::numeric_limits<std::int64_t>::max()) const;

  /// [rows, samples()] the mean that every sample predicts for some of the rows, `at_most` at equal distances.
  inference::Matrix<double> traces(std::int64_t at_most) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if it was saved for other rows.
  void restore(const Snapshot& snapshot);

 private:
  double mean(std::size_t sample, std::size_t row) const {
    return scale_.from_unit(static_cast<double>(outputs_[sample * rows_ + row]));
  }
  /// Σ_s Φ((y − mean_s)/sd_s) / S, and its density.
  struct Law {
    double probability = 0, density = 0;
  };
  Law law(std::size_t row, double value) const;
  /// Of the target of a row under one sample.
  double log_density(std::size_t sample, std::size_t row) const;
  double quantile(std::size_t row, double probability, double start, double deviation) const;
  PredictedNumber prediction(std::size_t row) const;
  /// log density of each target under the given samples together.
  std::vector<double> log_densities(std::span<const std::int64_t> samples) const;
  void check_any_sample() const;
  void check_targets() const;

  /// What scores are sums of, of the first so many samples: each epoch asks for those of all so far.
  struct Sums {
    std::int64_t samples = 0;
    std::vector<double> means, log_densities;  ///< [n] Σ_s mean_s; log Σ_s density of the target
  };
  /// Of all samples.
  const Sums& sums() const;

  std::size_t rows_;
  std::vector<double> targets_;
  Scale scale_;
  std::vector<float> outputs_;      ///< [samples, n]
  std::vector<double> deviations_;  ///< [samples] sd of the noise, in the targets' units
  mutable Sums sums_;               ///< of some of the samples; `sums` adds the others
};

}  // namespace stein::supervised
