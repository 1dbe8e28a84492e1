// What samples of the weights say of the classes of some rows, and what their averages would have said.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/prediction/collector.h>
#include <stein/inference/prediction/predictive.h>
#include <stein/inference/storage/matrix.h>
#include <stein/runs/classifier_scores.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace stein::training {

/// The score of predicted class probabilities. A tie goes to the first class.
/// @param probabilities  [n, K]
/// @param labels         [n]
runs::ClassifierScore score_of(inference::MatrixView<const double> probabilities, std::span<const std::int64_t> labels);

/// The logits of every sample: n · K floats each, no weights. From them follow scores of single samples and of averages
/// over any of them, so one run gives the forward, the backward and the thinned curve of Gan et al. 2017, section 4.2.
class SampledClasses {
 public:
  /// For n = `labels.size()` rows of these classes, 0 … K − 1.
  SampledClasses(std::vector<std::int64_t> labels, std::int64_t classes);

  /// Adds a sample. @param logits  [n, K]
  void add(inference::MatrixView<const float> logits);
  /// Removes the last samples, those of steps that were taken back.
  void drop_last(std::int64_t count);

  std::int64_t samples() const { return samples_; }
  const std::vector<std::int64_t>& labels() const { return labels_; }

  // All that follows throws Error(usage) before the first sample.

  /// The average over all samples, with its spread.
  inference::Predictive predictive() const { return average(); }
  /// The score of the average over all samples.
  runs::ClassifierScore averaged() const;
  /// The mean over samples of their scores: what one of them is worth.
  runs::ClassifierScore single() const;
  /// The error of every sample alone.
  std::vector<double> errors() const;
  /// Errors of averages over 1, 2, … samples(): the first k, the last k, or k at equal distances.
  /// @param at_most  so many averages
  std::vector<double> error_curve(inference::Selection selection,
                                  std::int64_t at_most = std::numeric_limits<std::int64_t>::max()) const;

  /// [rows, samples()] log probability of the label under every sample, of some of the rows, `at_most` at equal
  /// distances.
  inference::Matrix<double> traces(std::int64_t at_most) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if it was saved for other rows.
  void restore(const Snapshot& snapshot);

 private:
  std::int64_t rows() const { return std::ssize(labels_); }
  inference::MatrixView<const float> sample(std::int64_t k) const;
  /// Over all samples.
  const inference::Predictive& average() const;
  /// What sample k alone says.
  inference::Predictive alone(std::int64_t k) const;

  std::vector<std::int64_t> labels_;
  std::int64_t classes_, samples_ = 0;
  std::vector<float> logits_;  ///< [samples, n, K]
  /// Of some of the first samples; `average` adds the others: each epoch asks for that of all so far.
  mutable std::optional<inference::Predictive> average_;
};

}  // namespace stein::training
