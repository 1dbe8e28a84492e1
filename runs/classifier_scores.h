// What the test of a classifier says, whatever was classified.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

namespace stein::runs {

/// Scores of one classifier on test data.
struct ClassifierScore {
  double error = 0;           ///< share of wrong classes
  double log_likelihood = 0;  ///< mean log probability of the right class [nats]
  double ece = 0;             ///< expected calibration error (Guo et al. 2017)
  double brier = 0;           ///< mean squared distance of probabilities and one-hot classes (Brier 1950)
};

/// The field `test` of a classifier's summary and evaluation: {error, log_likelihood, ece, brier}, each measured over
/// seeds, or over what `each` says (`per_split`, `per_fold`). Throws Error(usage) where there is no score.
nlohmann::ordered_json classifier_test(std::span<const ClassifierScore> scores, const char* each = "per_seed");

}  // namespace stein::runs
