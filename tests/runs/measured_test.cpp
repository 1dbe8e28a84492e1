#include <stein/runs/measured.h>

#include <catch2/catch.hpp>
#include <cmath>

using namespace stein::runs;
using Json = nlohmann::ordered_json;

TEST_CASE("a measured number has mean, deviation and every value", "[runs][measured]") {
  const std::vector<double> values{1, 2, 6};
  CHECK(measured(values) == Json{{"mean", 3.0}, {"sd", std::sqrt(7.0)}, {"per_seed", {1.0, 2.0, 6.0}}});
  CHECK(measured(std::vector<double>{4}, "per_fold") == Json{{"mean", 4.0}, {"sd", nullptr}, {"per_fold", {4.0}}});
  CHECK(measured(std::vector<double>{4, NAN})["mean"].is_null());
  const Json some = measured_where_defined(std::vector<double>{4, NAN, 6});
  CHECK(some["mean"] == 5.0);
  CHECK(some["sd"] == std::sqrt(2.0));
  CHECK(some["per_seed"] == Json{4.0, nullptr, 6.0});
}

TEST_CASE("numbers read the same from both shapes", "[runs][measured]") {
  CHECK(mean_of(Json(2.5)) == 2.5);
  CHECK(mean_of(measured(std::vector<double>{2, 3})) == 2.5);
  CHECK(std::isnan(mean_of(nullptr)));
  CHECK(text(nullptr) == "not defined");
  CHECK(text(measured(std::vector<double>{2, 3}), "{:.2f}") == "2.50");
  CHECK(mean_and_deviation(measured(std::vector<double>{2, 3})) == "2.5 ± 0.7");
  CHECK(mean_and_deviation(Json(7.0)) == "7.0");
  CHECK(text(Json(999'999'999.0)) == "999999999.0");
  CHECK(text(Json(-1.25e76)) == "-1.25e+76");
  CHECK(text(Json(-0.004)) == "0.0");
  CHECK(text(Json(-0.06)) == "-0.1");
  CHECK(text(Json(-0.0), "{:.2g}") == "0");
  CHECK(text(Json(-1e-9), "{:.2g}") == "-1e-09");
  CHECK(mean_and_deviation(measured(std::vector<double>{-0.003, -0.005})) == "0.0 ± 0.0");
  CHECK(counted(1, "event") == "1 event");
  CHECK(counted(0, "bad line") == "0 bad lines");
}
