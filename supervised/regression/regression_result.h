// What a trained regression is worth.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/diagnostics/chain_agreement.h>
#include <stein/supervised/regression/regression_score.h>
#include <stein/supervised/regression/sampled_numbers.h>
#include <stein/training/average_curves.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace stein::supervised {

/// What a regression is worth on a part of the data.
struct RegressionResult {
  std::int64_t rows = 0;
  std::int64_t samples = 1;                 ///< of which averages were taken
  double constant_rmse = 0;                 ///< of who always says the mean of the training targets
  RegressionScore single{};                 ///< one sample alone, averaged over the samples
  RegressionScore averaged{};               ///< all samples together
  RegressionScore final_weights{};          ///< the weights where training ended; of a variational method the mean
  std::optional<RegressionScore> chosen{};  ///< the weights with the least validation loss
  training::AverageCurves curves{};         ///< −log density [nats]
  std::optional<inference::ChainAgreement> agreement{};  ///< of a chain's predictions

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
};

/// All that a run tells of a regression that is trained.
struct RegressionOutcome {
  std::optional<RegressionResult> validation{};  ///< nothing where there are no validation rows
  RegressionResult test{};
  std::vector<PredictedNumber> predicted{};  ///< of the test rows
  std::vector<double> probabilities{};       ///< of the test rows: SampledNumbers::probability_transforms
  std::vector<PredictedNumber> line{};       ///< along RegressionParts::line, where there is one

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
};

}  // namespace stein::supervised
