#include <stein/runs/seed_statistics.h>

#include <catch2/catch.hpp>
#include <cmath>
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
