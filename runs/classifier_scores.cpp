#include <stein/core/error.h>
#include <stein/runs/classifier_scores.h>
#include <stein/runs/measured.h>

namespace stein::runs {

nlohmann::ordered_json classifier_test(const ClassifierScores& scores, const char* each) {
  const std::size_t count = scores.error.size();
  STEIN_CHECK(
      count > 0 && scores.log_likelihood.size() == count && scores.ece.size() == count && scores.brier.size() == count,
      "the test of a classifier needs as many errors, log-likelihoods, ECEs and Brier scores, got {}, {}, {}, {}",
      count, scores.log_likelihood.size(), scores.ece.size(), scores.brier.size());
  return {{"error", measured(scores.error, each)},
          {"log_likelihood", measured(scores.log_likelihood, each)},
          {"ece", measured(scores.ece, each)},
          {"brier", measured(scores.brier, each)}};
}

}  // namespace stein::runs
