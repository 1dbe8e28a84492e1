#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/supervised/regression/regression_score.h>

#include <stein/core/error.h>

#include <nlohmann/json.hpp>

namespace stein::supervised {

nlohmann::ordered_json regression_json(std::span<const RegressionScore> scores, const char* each) {
  STEIN_CHECK(!scores.empty(), "there is no score of a regression");
  const auto measured = [&](double RegressionScore::*score) {
    return runs::measured(runs::of_each(scores, score), each);
  };
  return {{"rmse", measured(&RegressionScore::rmse)},
          {"log_likelihood", measured(&RegressionScore::log_likelihood)},
          {"coverage", measured(&RegressionScore::coverage)},
          {"interval_width", measured(&RegressionScore::interval_width)}};
}

}  // namespace stein::supervised
