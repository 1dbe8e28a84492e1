// Where adaptive pSGLD settles: without the term Γ = Σ ∂G/∂φ it is not the posterior p, but p/G where the metric
// follows the gradient faster than the chain moves.
#include <stein/inference/samplers/psgld.h>

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "inference/ensemble_of.h"
#include "inference/proof_record.h"
#include "inference/quadratic_chain.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr double epsilon = 0.5;                                // λ
const double absolute_mean = std::sqrt(2 / std::numbers::pi);  // E|x| of N(0, 1); E|x|³ is twice that

/// Variance of ρ ∝ p (λ + |x|), which is p/G with p = N(0, 1) and √v = |x|.
double fast_metric_variance(double lambda) {
  return (lambda + 2 * absolute_mean) / (lambda + absolute_mean);
}

/// Variance of the chain x′ = x − (h/2) G x + √(h G) n, G = 1/(λ + |x|), which pSGLD is on N(0, 1) where its metric
/// forgets at once (β = 0): the fixed point of its transition matrix on a grid fine against the noise.
double forgetful_variance(double h) {
  constexpr Eigen::Index points = 601;
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(points, -7.5, 7.5);
  Eigen::MatrixXd equations(points, points);  // Pᵀ − 1, and that a law adds up to 1 in place of the last
  for (Eigen::Index i = 0; i < points; ++i) {
    const double metric = 1 / (epsilon + std::abs(x(i))), variance = h * metric;
    const double mean = x(i) - h / 2 * metric * x(i);
    equations.col(i) = (-(x.array() - mean).square() / (2 * variance)).exp();
    equations.col(i) /= equations.col(i).sum();
    equations(i, i) -= 1;
  }
  equations.row(points - 1).setOnes();
  const Eigen::VectorXd law = equations.partialPivLu().solve(Eigen::VectorXd::Unit(points, points - 1));
  return law.dot(x.cwiseAbs2());
}

/// E x² on N(0, 1).
ChainAverages squares(double h, double decay, std::int64_t burn_in, std::int64_t steps) {
  const ChainPlan plan{.size = 64, .burn_in = burn_in, .steps = steps};
  Psgld<float> sampler({.step = {.step_size = h}, .square = {.decay = decay, .epsilon = epsilon}},
                       ensemble_of(plan.chains, plan.size, 3));
  ChainAverages found(plan.chains);
  run_chains<float>(plan, sampler, [&](const Particles<float>& particles, const auto&) {
    for (std::int64_t i = 0; i < plan.chains; ++i)
      found.add(i, mean_product(particles.values().row(i), particles.values().row(i)));
    found.count();
  });
  return found;
}

}  // namespace

TEST_CASE("pSGLD whose metric forgets at once settles at the law of its chain, which is p/G and not p as h falls",
          "[inference][law][proof]") {
  for (const double h : {0.4, 0.1}) {
    const ChainAverages found = squares(h, 0, 500, 2000);
    CAPTURE(h, found.mean(), forgetful_variance(h), found.standard_error());
    CHECK(recorded_z("psgld, β₁ = 0", "exact law", found.z(forgetful_variance(h))) < critical_value);
    CHECK(found.z(1) > mutant_value);
  }
  // Half the step halves the distance of the exact laws from that of p/G, and what is left after Richardson is small.
  const double law = fast_metric_variance(epsilon), whole = forgetful_variance(0.1), half = forgetful_variance(0.05);
  CAPTURE(law, whole, half);
  CHECK((whole - law) / (half - law) == Approx(2).epsilon(0.1));
  CHECK(2 * half - whole == Approx(law).epsilon(2e-3));
  CHECK(fast_metric_variance(0) == Approx(2));
}

TEST_CASE("adaptive pSGLD nears p/G where its metric is faster than the chain, and p where it is slower",
          "[inference][law]") {
  const double law = fast_metric_variance(epsilon), tenth = (law - 1) / 10;
  const ChainAverages fast = squares(0.01, 0.9, 2000, 8000), slow = squares(0.1, 0.999, 5000, 5000);
  CAPTURE(law, fast.mean(), fast.standard_error(), slow.mean(), slow.standard_error());
  CHECK(std::abs(fast.mean() - law) < tenth + critical_value * fast.standard_error());
  CHECK(std::abs(slow.mean() - 1) < tenth + critical_value * slow.standard_error());
  CHECK((fast.mean() - slow.mean()) / std::hypot(fast.standard_error(), slow.standard_error()) > mutant_value);
}
