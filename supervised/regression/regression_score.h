// What predictions of numbers are worth.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

namespace stein::supervised {

/// The share of the test targets that a predicted interval is to hold.
inline constexpr double interval_level = 0.9;
/// z of the upper end of a Gaussian's central interval of that probability.
inline constexpr double gaussian_interval_end = 1.6448536269514722;
static_assert(interval_level == 0.9);

/// Scores of one regression on some rows, in the data's own units.
struct RegressionScore {
  double rmse = 0;            ///< √ of the mean squared error of the predicted mean
  double log_likelihood = 0;  ///< mean log density of the target under the predicted law [nats]
  double coverage = 0;        ///< share of targets inside the central interval of probability `interval_level`
  double interval_width = 0;  ///< mean length of that interval
};

/// {rmse, log_likelihood, coverage, interval_width}, each measured once a split. Throws Error(usage) where there is no
/// score. @param each  "per_split", "per_seed"
nlohmann::ordered_json regression_json(std::span<const RegressionScore> scores, const char* each);

}  // namespace stein::supervised
