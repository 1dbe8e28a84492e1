#include <stein/runs/classifier_scores.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/error_matcher.h"

using namespace stein;

TEST_CASE("the test of a classifier has the same four numbers in the same shape", "[runs][measured]") {
  const auto test = runs::classifier_test(
      {.error = {0.1, 0.3}, .log_likelihood = {-1, -2}, .ece = {0.01, 0.02}, .brier = {0.2, 0.4}}, "per_fold");
  CHECK(test.size() == 4);
  CHECK(test["error"]["mean"].get<double>() == Approx(0.2));
  CHECK(test["log_likelihood"]["per_fold"] == nlohmann::ordered_json{-1.0, -2.0});
  for (const char* score : {"error", "log_likelihood", "ece", "brier"}) CHECK(test[score]["sd"].is_number());
  CHECK_ERROR(runs::classifier_test({.error = {0.1}, .log_likelihood = {-1}, .ece = {0.1}, .brier = {}}), usage,
              "1, 1, 1, 0");
}
