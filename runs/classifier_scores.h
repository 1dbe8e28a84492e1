// What the test of a classifier says, whatever was classified.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace stein::runs {

/// Scores on test data, one for every seed, split or fold.
struct ClassifierScores {
  std::vector<double> error;           ///< share of wrong classes
  std::vector<double> log_likelihood;  ///< mean log probability of the right class [nats]
  std::vector<double> ece;             ///< expected calibration error (Guo et al. 2017)
  std::vector<double> brier;           ///< mean squared distance of probabilities and one-hot classes (Brier 1950)
};

/// The field `test` of a classifier's summary and evaluation: {error, log_likelihood, ece, brier}, each measured over
/// seeds, or over what `each` says (`per_split`, `per_fold`). Throws Error(usage) unless there are as many of each.
nlohmann::ordered_json classifier_test(const ClassifierScores& scores, const char* each = "per_seed");

}  // namespace stein::runs
