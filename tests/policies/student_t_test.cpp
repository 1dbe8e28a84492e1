#include <stein/core/rng.h>
#include <stein/policies/student_t.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/error_matcher.h"

namespace stein::policies {
namespace {

using std::numbers::pi;

constexpr double tolerance = 1e-8;  // what the header promises

std::vector<double> probabilities_of(const std::vector<StudentT>& variables) {
  std::vector<double> result(variables.size());
  LargestProbability<StudentTDensity> pass;
  largest_probabilities(variables, result, pass);
  return result;
}

/// Distribution function for an even number of degrees (Abramowitz & Stegun 26.7.4).
double distribution(const StudentT& variable, double t) {
  const double theta = std::atan((t - variable.location) / (variable.scale * std::sqrt(variable.degrees)));
  const double cosine2 = std::cos(theta) * std::cos(theta);
  double term = 1, sum = 0;
  for (double k = 0; k < variable.degrees; k += 2) {
    sum += term;
    term *= (k + 1) / (k + 2) * cosine2;
  }
  return 0.5 + 0.5 * std::sin(theta) * sum;
}

/// P(a) for even degrees by the midpoint rule in θ, t = location + scale √ν tan θ, where the density is ∝ cosᵛ⁻¹ θ.
double brute_force(const std::vector<StudentT>& variables, std::size_t a) {
  constexpr int points = 50'000;
  const StudentT& own = variables[a];
  double mass = 0, probability = 0;
  for (int i = 0; i < points; ++i) {
    const double theta = pi * ((i + 0.5) / points - 0.5);
    double product = std::pow(std::cos(theta), own.degrees - 1);
    mass += product;
    const double t = own.location + own.scale * std::sqrt(own.degrees) * std::tan(theta);
    for (std::size_t b = 0; b < variables.size(); ++b)
      if (b != a) product *= distribution(variables[b], t);
    probability += product;
  }
  return probability / mass;
}

TEST_CASE("of two Cauchy variables the larger is known in closed form", "[policies][student_t]") {
  // The difference is Cauchy with the sum of the scales.
  for (const double distance : {0.0, 0.3, 5.0, 1000.0})
    for (const double scale : {1.0, 1e-3, 1e-6}) {
      const auto p = probabilities_of({{1, 0, 1}, {1, distance, scale}});
      const double law = 0.5 + std::atan(distance / (1 + scale)) / pi;
      INFO("distance " << distance << ", scale " << scale);
      CHECK(p[1] == Approx(law).margin(tolerance).epsilon(0));
      CHECK(p[0] == Approx(1 - law).margin(tolerance).epsilon(0));
    }
}

TEST_CASE("of two normal or nearly normal variables the larger is known in closed form", "[policies][student_t]") {
  // With 1e10 degrees the density is the normal one to about 1e-10, with infinitely many it is the normal one.
  const double degrees = GENERATE(1e10, std::numeric_limits<double>::infinity());
  for (const double distance : {0.0, 0.3, 2.0, 7.0, 100.0})
    for (const double scale : {1.0, 0.3, 1e-3, 1e-6}) {
      const auto p = probabilities_of({{degrees, -3, 1}, {degrees, -3 + distance, scale}});
      const double law = 0.5 * std::erfc(distance / std::sqrt(2 * (1 + scale * scale)));
      INFO("degrees " << degrees << ", distance " << distance << ", scale " << scale);
      CHECK(p[0] == Approx(law).margin(tolerance).epsilon(0));
    }
}

TEST_CASE("the quadrature agrees with brute force for several arms of very different width", "[policies][student_t]") {
  const std::vector<std::vector<StudentT>> cases{
      {{12, 0, 1}, {12, 0.5, 1.2}},
      {{2, 0, 1}, {100, 0.5, 0.01}},
      {{12, 0, 1}, {14, 0.2, 0.9}, {40, -0.5, 2}, {4, 1, 0.05}},
      {{2, 0, 3}, {2, 1, 0.1}, {2, -4, 1}, {30, 0.9, 0.02}, {200, 1.05, 0.3}, {12, 0, 1}},
      {{300, 5, 0.1}, {300, 4.9, 0.1}, {12, 0, 2}},
  };
  for (const auto& variables : cases) {
    const auto p = probabilities_of(variables);
    for (std::size_t a = 0; a < variables.size(); ++a) {
      INFO("case of " << variables.size() << " arms, arm " << a);
      CHECK(p[a] == Approx(brute_force(variables, a)).margin(tolerance).epsilon(0));
    }
    CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1).epsilon(1e-14));
  }
}

TEST_CASE("equal variables are equally likely to be the largest, however many", "[policies][student_t]") {
  for (const std::size_t arms : {1u, 2u, 3u, 10u, 1000u}) {
    const auto p = probabilities_of(std::vector<StudentT>(arms, {7.5, 2, 0.3}));
    for (const double value : p) CHECK(value == Approx(1.0 / static_cast<double>(arms)).margin(1e-11).epsilon(0));
  }
}

TEST_CASE("a shift or a common scale changes nothing, and extremes stay finite", "[policies][student_t]") {
  const auto p = probabilities_of({{12, 0, 1}, {20, 0.5, 0.25}, {8, -1, 2}});
  const auto shifted = probabilities_of({{12, 1e6, 1}, {20, 1e6 + 0.5, 0.25}, {8, 1e6 - 1, 2}});
  const auto scaled = probabilities_of({{12, 0, 1e-9}, {20, 0.5e-9, 0.25e-9}, {8, -1e-9, 2e-9}});
  for (std::size_t a = 0; a < 3; ++a) {
    CHECK(shifted[a] == Approx(p[a]).margin(1e-9).epsilon(0));
    CHECK(scaled[a] == Approx(p[a]).margin(1e-12).epsilon(0));
  }
  CHECK(probabilities_of({{12, 0, 1e-200}, {12, 1, 1e-200}}) == std::vector<double>{0, 1});
  CHECK(probabilities_of({{12, 0, 1e-12}, {12, 1, 1}})[0] == Approx(1 - distribution({12, 0, 1}, 1)).margin(tolerance));
}

TEST_CASE("draws follow the distribution function", "[policies][student_t]") {
  constexpr int count = 100'000;
  for (const StudentT variable : {StudentT{2, 1, 0.5}, StudentT{12, 0, 1}, StudentT{100, -3, 2}}) {
    // F(draw) is uniform: mean ½, variance 1/12; its square has mean 1/3, variance 4/45.
    double sum = 0, squares = 0;
    for (std::uint64_t step = 0; step < count; ++step) {
      Draws draws({17, step, Stream::test}, 0);
      const double u = distribution(variable, draw(variable, draws));
      sum += u;
      squares += u * u;
    }
    CHECK(std::abs(sum - count / 2.0) / std::sqrt(count / 12.0) < 6.1);
    CHECK(std::abs(squares - count / 3.0) / std::sqrt(count * 4 / 45.0) < 6.1);
  }
}

TEST_CASE("draws of infinitely many degrees are normal", "[policies][student_t]") {
  constexpr int count = 100'000;
  double sum = 0, squares = 0;
  for (std::uint64_t step = 0; step < count; ++step) {
    Draws draws({17, step, Stream::test}, 0);
    const double u =
        0.5 * std::erfc(-(draw({std::numeric_limits<double>::infinity(), 1, 2}, draws) - 1) / std::sqrt(8));
    sum += u;
    squares += u * u;
  }
  CHECK(std::abs(sum - count / 2.0) / std::sqrt(count / 12.0) < 6.1);
  CHECK(std::abs(squares - count / 3.0) / std::sqrt(count * 4 / 45.0) < 6.1);
}

TEST_CASE("what is no Student-t variable is refused", "[policies][student_t]") {
  CHECK_ERROR(probabilities_of({}), usage, "at least one");
  CHECK_ERROR(probabilities_of({{0.5, 0, 1}}), usage, "degrees");
  CHECK_ERROR(probabilities_of({{5, 0, 0}}), usage, "scale 0");
  CHECK_ERROR(probabilities_of({{5, std::nan(""), 1}}), usage, "location nan");
}

TEST_CASE("samples of several variables are independent of one another", "[policies][student_t]") {
  constexpr std::size_t samples = 4000;
  const double infinite = std::numeric_limits<double>::infinity();
  const auto drawn = draw_samples(std::vector<StudentT>{{infinite, 1, 2}, {infinite, -3, 0.5}}, samples, 7);
  double product = 0;
  for (const auto& sample : drawn) product += (sample[0] - 1) / 2 * (sample[1] + 3) / 0.5;
  CHECK(std::abs(product) / std::sqrt(static_cast<double>(samples)) < 6.1);
}

}  // namespace
}  // namespace stein::policies
