#include <stein/core/error.h>
#include <stein/runs/classifier_scores.h>
#include <stein/runs/measured.h>

#include <vector>

namespace stein::runs {

nlohmann::ordered_json classifier_test(std::span<const ClassifierScore> scores, const char* each) {
  STEIN_CHECK(!scores.empty(), "the test of a classifier needs a score");
  const auto over_all = [&](double ClassifierScore::*number) {
    std::vector<double> values;
    for (const ClassifierScore& score : scores) values.push_back(score.*number);
    return measured(values, each);
  };
  return {{"error", over_all(&ClassifierScore::error)},
          {"log_likelihood", over_all(&ClassifierScore::log_likelihood)},
          {"ece", over_all(&ClassifierScore::ece)},
          {"brier", over_all(&ClassifierScore::brier)}};
}

}  // namespace stein::runs
