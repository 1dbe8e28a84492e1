#include <stein/runs/classifier_scores.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;

TEST_CASE("the test of a classifier has the same four numbers in the same shape", "[runs][measured]") {
  const std::vector<runs::ClassifierScore> scores{{.error = 0.1, .log_likelihood = -1, .ece = 0.01, .brier = 0.2},
                                                  {.error = 0.3, .log_likelihood = -2, .ece = 0.03, .brier = 0.6}};
  const auto test = runs::classifier_test(scores, "per_fold");
  CHECK(test.size() == 4);
  CHECK(test["error"]["mean"].get<double>() == Approx(0.2));
  CHECK(test["log_likelihood"]["per_fold"] == nlohmann::ordered_json{-1.0, -2.0});
  CHECK(test["ece"]["mean"].get<double>() == Approx(0.02));
  CHECK(test["brier"]["per_fold"] == nlohmann::ordered_json{0.2, 0.6});
  for (const char* score : {"error", "log_likelihood", "ece", "brier"}) CHECK(test[score]["sd"].is_number());
  CHECK_ERROR(runs::classifier_test({}), usage, "needs a score");
}
