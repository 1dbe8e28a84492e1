#include <stein/core/rng.h>
#include <stein/policies/beta.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/critical_value.h"
#include "core/error_matcher.h"

namespace stein::policies {
namespace {

constexpr double tolerance = 1e-8;  // what the header promises
using test::critical_value;

std::vector<double> probabilities_of(const std::vector<Beta>& variables) {
  std::vector<double> result(variables.size());
  LargestProbability<BetaDensity> pass;
  largest_probabilities(variables, result, pass);
  return result;
}

/// E Xⁿ = ∏_{j<n} (a + j) / (a + b + j): how likely X is the largest beside n uniform variables.
double moment(const Beta& variable, int n) {
  double product = 1;
  for (int j = 0; j < n; ++j) product *= (variable.successes + j) / (variable.successes + variable.failures + j);
  return product;
}

/// P(X > Y) for whole numbers: Σ_{i<a} B(c + i, b + d) / ((b + i) B(1 + i, b) B(c, d)), of X ~ Beta(a, b) and
/// Y ~ Beta(c, d).
double greater(const Beta& x, const Beta& y) {
  const auto log_beta = [](double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); };
  const auto& [a, b] = x;
  const auto& [c, d] = y;
  double sum = 0;
  for (int i = 0; i < a; ++i) sum += std::exp(log_beta(c + i, b + d) - log_beta(1 + i, b) - log_beta(c, d)) / (b + i);
  return sum;
}

TEST_CASE("beside uniform variables the probability of the largest is a moment", "[policies][beta]") {
  for (const Beta variable :
       {Beta{1, 1}, Beta{2, 1}, Beta{0.5, 0.5}, Beta{0.01, 0.01}, Beta{0.01, 1e6}, Beta{1e6, 0.01}, Beta{0.02, 300},
        Beta{7.5, 0.3}, Beta{3, 40}, Beta{1e4, 2e4}, Beta{1e9, 1e3}})
    for (const int others : {1, 2, 7}) {
      std::vector<Beta> variables(static_cast<std::size_t>(1 + others));
      variables.front() = variable;
      const auto p = probabilities_of(variables);
      const double law = moment(variable, others);
      INFO("Beta(" << variable.successes << ", " << variable.failures << ") and " << others << " others");
      CHECK(p[0] == Approx(law).margin(tolerance).epsilon(0));
      for (std::size_t a = 1; a < p.size(); ++a) CHECK(p[a] == Approx((1 - law) / others).margin(tolerance).epsilon(0));
      CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1).epsilon(1e-14));
    }
}

TEST_CASE("of two variables with whole numbers the larger is known in closed form", "[policies][beta]") {
  for (const auto& [x, y] : std::vector<std::pair<Beta, Beta>>{{{3, 5}, {4, 4}},
                                                               {{1, 100}, {2, 150}},
                                                               {{40, 2}, {400, 30}},
                                                               {{900, 1100}, {2, 2}},
                                                               {{5, 1}, {1, 5}},
                                                               {{1000, 4000}, {210, 800}}}) {
    INFO("Beta(" << x.successes << ", " << x.failures << ") and Beta(" << y.successes << ", " << y.failures << ")");
    CHECK(probabilities_of({x, y})[0] == Approx(greater(x, y)).margin(tolerance).epsilon(0));
  }
}

TEST_CASE("powers of uniform variables are the largest in proportion to their shapes", "[policies][beta]") {
  // Beta(a, 1) has F(x) = xᵃ, and P(i) = ∫ a_i x^(a_i − 1) ∏_{j≠i} x^a_j dx = a_i / Σ_j a_j.
  for (const std::vector<double>& shapes : std::vector<std::vector<double>>{
           {0.01, 0.03}, {0.01, 0.011}, {0.02, 0.3, 4, 50}, {1, 1e6}, {0.01, 1e4}, {0.01, 0.01, 0.01, 0.5, 0.05}}) {
    std::vector<Beta> variables;
    for (const double shape : shapes) variables.push_back({shape, 1});
    const auto p = probabilities_of(variables);
    const double total = std::accumulate(shapes.begin(), shapes.end(), 0.0);
    for (std::size_t i = 0; i < p.size(); ++i) {
      INFO("shape " << shapes[i] << " of the sum " << total);
      CHECK(p[i] == Approx(shapes[i] / total).margin(tolerance).epsilon(0));
    }
  }
}

TEST_CASE("success and failure are mirror images, and equal variables equally likely to be the largest",
          "[policies][beta]") {
  // P(X < Y) of the variables is P(X′ > Y′) of 1 − X and 1 − Y.
  for (const auto& [x, y] : std::vector<std::pair<Beta, Beta>>{{{0.02, 3}, {0.5, 70}}, {{1e6, 2e6}, {1001, 2000}}})
    CHECK(probabilities_of({x, y})[0] ==
          Approx(probabilities_of({{x.failures, x.successes}, {y.failures, y.successes}})[1]).margin(1e-8).epsilon(0));
  for (const std::size_t arms : {1u, 2u, 10u, 1000u})
    for (const Beta variable : {Beta{0.3, 2}, Beta{1, 1}, Beta{1e12, 3e11}})
      for (const double value : probabilities_of(std::vector<Beta>(arms, variable)))
        CHECK(value == Approx(1.0 / static_cast<double>(arms)).margin(1e-9).epsilon(0));
}

TEST_CASE("draws of log odds have the mean and the variance of the variable", "[policies][beta]") {
  constexpr int count = 100'000;
  for (const auto& [a, b] : {Beta{1, 1}, Beta{0.2, 0.5}, Beta{3, 8}, Beta{500, 20}}) {
    const double mean = a / (a + b), square = mean * (a + 1) / (a + b + 1);
    const double cube = square * (a + 2) / (a + b + 2), fourth = cube * (a + 3) / (a + b + 3);
    double sum = 0, squares = 0;
    for (std::uint64_t step = 0; step < count; ++step) {
      Draws draws({17, step, Stream::test}, 0);
      const double x = 1 / (1 + std::exp(-draw_log_odds({a, b}, draws)));
      sum += x;
      squares += x * x;
    }
    INFO("Beta(" << a << ", " << b << ")");
    CHECK(std::abs(sum - count * mean) / std::sqrt(count * (square - mean * mean)) < critical_value);
    CHECK(std::abs(squares - count * square) / std::sqrt(count * (fourth - square * square)) < critical_value);
  }
}

TEST_CASE("draws of tiny shapes stay finite where their gamma variables would not", "[policies][beta]") {
  for (std::uint64_t step = 0; step < 1000; ++step) {
    Draws draws({3, step, Stream::test}, 0);
    REQUIRE(std::isfinite(draw_log_odds({0.01, 0.01}, draws)));
  }
}

TEST_CASE("what is no Beta variable is refused", "[policies][beta]") {
  CHECK_ERROR(probabilities_of({}), usage, "at least one");
  CHECK_ERROR(probabilities_of({{0, 1}}), usage, "successes", "0");
  CHECK_ERROR(probabilities_of({{1, 2e12}}), usage, "failures", "2000000000000");
  CHECK_ERROR(probabilities_of({{1, std::nan("")}}), usage, "nan");
}

}  // namespace
}  // namespace stein::policies
