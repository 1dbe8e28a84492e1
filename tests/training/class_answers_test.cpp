// What is answered of rows: each class with its own probability and its own spread.
#include <stein/training/class_answers.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

namespace stein::training {
namespace {

TEST_CASE("an answer has the mean and the spread of every class, and names the likeliest", "[training][answers]") {
  inference::Predictive predictive(inference::Likelihood::categorical, 2, 3);
  // Logits that say (.2, .5, .3) and (.2, .3, .5) of row 0, (.6, .3, .1) twice of row 1.
  const std::vector<float> first{std::log(0.2F), std::log(0.5F), std::log(0.3F),
                                 std::log(0.6F), std::log(0.3F), std::log(0.1F)},
      second{std::log(0.2F), std::log(0.3F), std::log(0.5F), std::log(0.6F), std::log(0.3F), std::log(0.1F)};
  predictive.add(inference::MatrixView<const float>{first.data(), 2, 3});
  predictive.add(inference::MatrixView<const float>{second.data(), 2, 3});
  const auto answers = class_answers(predictive, {"a", "b", "c"});
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["class"] == "b");  // a tie goes to the first
  CHECK(answers[0]["probabilities"]["a"].get<double>() == Approx(0.2).margin(1e-5));
  CHECK(answers[0]["probabilities"]["c"].get<double>() == Approx(0.4).margin(1e-5));
  CHECK(answers[0]["deviations"]["a"].get<double>() == Approx(0).margin(1e-5));
  CHECK(answers[0]["deviations"]["b"].get<double>() == Approx(0.1).margin(1e-5));
  CHECK(answers[0]["deviations"]["c"].get<double>() == Approx(0.1).margin(1e-5));
  CHECK(answers[1]["class"] == "a");
  CHECK(answers[1]["mutual_information"].get<double>() == Approx(0).margin(1e-6));
  CHECK(answers[0]["mutual_information"].get<double>() > 0.01);
}

}  // namespace
}  // namespace stein::training
