// What a trained classifier is worth.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/diagnostics/chain_agreement.h>
#include <stein/inference/prediction/predictive.h>
#include <stein/runs/classifier_scores.h>
#include <stein/training/average_curves.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace stein::training {

/// What a classifier is worth on a part of the data.
struct ClassifierResult {
  std::int64_t rows = 0;
  std::int64_t samples = 1;               ///< of which averages were taken
  runs::ClassifierScore single{};         ///< one sample alone, averaged over the samples
  runs::ClassifierScore averaged{};       ///< the average of the samples' probabilities
  runs::ClassifierScore final_weights{};  ///< the weights where training ended; of a variational method the mean
  std::optional<runs::ClassifierScore> chosen{};         ///< the weights with the least validation error
  AverageCurves curves{};                                ///< errors
  std::vector<double> sample_errors{};                   ///< of every sample alone
  std::optional<inference::ChainAgreement> agreement{};  ///< of a chain's predictions

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
};

/// All that a run tells of a classifier that is trained.
struct ClassifierOutcome {
  std::optional<ClassifierResult> validation;  ///< nothing where there are no validation rows
  ClassifierResult test;
  inference::Predictive predicted;  ///< of the test rows

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if `predicted` is of other rows.
  void restore(const Snapshot& snapshot);
};

}  // namespace stein::training
