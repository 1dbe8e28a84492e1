#include <stein/runs/seed_statistics.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <vector>

using namespace stein::runs;

TEST_CASE("mean, deviation and quantiles of a few numbers", "[runs][statistics]") {
  const std::vector<double> values{7, 1, 3, 5};  // by hand: mean 4, squares 9 + 9 + 1 + 1 = 20, sd √(20/3)
  CHECK(mean(values) == 4);
  CHECK(deviation(values) == Approx(std::sqrt(20.0 / 3)));
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 0.25) == Approx(2.5));  // place 0.75 between 1 and 3
  CHECK(quantile(values, 0.5) == Approx(4));
  CHECK(quantile(values, 1) == 7);
}

TEST_CASE("statistics that do not exist are not numbers", "[runs][statistics]") {
  CHECK(std::isnan(mean({})));
  CHECK(std::isnan(deviation(std::vector<double>{3})));
  CHECK(std::isnan(quantile({}, 0.5)));
  CHECK(quantile(std::vector<double>{3}, 0.9) == 3);
}

TEST_CASE("Student's t has its closed forms with 1, 2 and 4 degrees of freedom", "[runs][statistics]") {
  const double p = 0.975, alpha = 4 * p * (1 - p), root = std::cos(std::acos(std::sqrt(alpha)) / 3) / std::sqrt(alpha);
  CHECK(student_t(1) == Approx(std::tan(std::numbers::pi * (p - 0.5))).epsilon(1e-6));
  CHECK(student_t(2) == Approx(2 * (p - 0.5) * std::sqrt(2 / alpha)).epsilon(1e-6));
  CHECK(student_t(4) == Approx(2 * std::sqrt(root - 1)).epsilon(1e-6));
}

TEST_CASE("Student's t between the entries of its table is too large by less than 1e-4", "[runs][statistics]") {
  // By Simpson's rule on the density and bisection; 30, 40, 60 and 120 degrees are entries of the table.
  const auto [freedom, exact] = GENERATE(table<std::size_t, double>({{30, 2.042272},
                                                                     {31, 2.039513},
                                                                     {35, 2.030108},
                                                                     {40, 2.021075},
                                                                     {50, 2.008559},
                                                                     {60, 2.000298},
                                                                     {80, 1.990063},
                                                                     {100, 1.983972},
                                                                     {120, 1.979930},
                                                                     {200, 1.971896},
                                                                     {1000, 1.962339},
                                                                     {100'000'000, 1.959964}}));
  CAPTURE(freedom);
  CHECK(student_t(freedom) >= exact - 1e-6);
  CHECK(student_t(freedom) <= exact + 1e-4);
}

TEST_CASE("an interval of the mean is t deviations of the mean to either side", "[runs][statistics]") {
  const std::vector<double> values{7, 1, 3, 5};  // sd √(20/3), t of 3 degrees 3.182446
  CHECK(half_width(values) == Approx(3.182446 * std::sqrt(20.0 / 3 / 4)));
  CHECK(half_width(std::vector<double>{2, 2}) == 0);
  CHECK(std::isnan(half_width(std::vector<double>{3})));
  CHECK(std::isnan(student_t(0)));
}
