// Logistic regression, whose posterior is not Gaussian, against quadrature on a grid: HMC and NUTS without bias, and
// stochastic-gradient MCMC with a bias that shrinks as its step does.
#include <stein/inference/samplers/dropout_sghmc.h>
#include <stein/inference/samplers/hmc.h>
#include <stein/inference/samplers/nuts.h>
#include <stein/inference/samplers/psgld.h>
#include <stein/inference/samplers/santa.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/inference/samplers/sgnht.h>

#include <catch2/catch.hpp>
#include <numbers>

#include "inference/ensemble_of.h"
#include "inference/logistic_quadrature.h"
#include "inference/proof_record.h"
#include "inference/quadratic_chain.h"
#include "inference/regression_case.h"
#include "inference/splitting_law.h"

using namespace stein;
using namespace stein::inference;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const char* const column = "logistic regression";

/// Ten answers to one input, skewed so that the posterior is no Gaussian; every row stands for `each` of them.
Regression logistic(double each = 1) {
  MlpSpec spec;
  spec.likelihood = Likelihood::bernoulli;
  return {spec, VectorXd{{-1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3}}, VectorXd{{0, 0, 1, 0, 0, 1, 1, 0, 1, 1}},
          10 * each};
}

struct Bias {
  double value, error;
};

/// E (φ − m)ᵀ C⁻¹ (φ − m)/2 − 1, with m and C of the posterior, where the chains have settled.
Bias bias_of(Sampler<float>& sampler, const Regression& data, const RegressionPlan& plan) {
  const LogisticQuadrature posterior(data);
  const MatrixXd metric = posterior.covariance.inverse() / 2;
  const RegressionRows<float> rows(data);
  const auto target = data.posterior();
  ChainAverages square(plan.chains);
  run_on_regression(
      sampler, *target, plan, [&](std::int64_t) { return rows.all(); },
      [&](const Particles<float>& particles) {
        for (std::int64_t i = 0; i < plan.chains; ++i) {
          const VectorXd x = row_vector(particles.values(), i) - posterior.mean;
          square.add(i, x.dot(metric * x));
        }
        square.count();
      });
  return {square.mean() - 1, square.standard_error()};
}

/// A bias of order p falls by 2^p to what is left of it at h = 0. The ratio is above √2 and below 2√2, both by 6.1
/// standard errors: p is 1, no half order less or more.
void check_halving(const char* method, const Bias& whole, const Bias& half, double left = 0) {
  const double first = whole.value - left, second = half.value - left;
  const auto z = [&](double ratio) {
    return std::copysign(1, first) * (first - ratio * second) / std::hypot(whole.error, ratio * half.error);
  };
  CAPTURE(method, whole.value, whole.error, half.value, half.error);
  CHECK(z(std::numbers::sqrt2) > critical_value);
  CHECK(z(2 * std::numbers::sqrt2) < -critical_value);
  record_proof(method, column, "bias at h", whole.value);
  record_proof(method, column, "bias at h/2", half.value);
}

const RegressionPlan long_run{.chains = 128, .burn_in = 1000, .steps = 20000};

/// Biases of a sampler made for a step, at h and at h/2.
template <class Make>
void check_halving(const char* method, double h, const Make& make, const RegressionPlan& plan = long_run) {
  const Bias whole = bias_of(*make(h), logistic(), plan), half = bias_of(*make(h / 2), logistic(), plan);
  check_halving(method, whole, half);
}

}  // namespace

TEST_CASE("the quadrature does not depend on its grid", "[inference][reference]") {
  for (const double each : {1.0, 2000.0}) {
    const LogisticQuadrature coarse(logistic(each), 81), fine(logistic(each), 161);
    CHECK((coarse.mean - fine.mean).norm() < 1e-10);
    CHECK((coarse.covariance - fine.covariance).norm() < 1e-10);
  }
}

TEMPLATE_TEST_CASE("HMC and NUTS draw from the posterior of a logistic regression", "[inference][reference][proof]",
                   Hmc<float>, Nuts<float>) {
  const Regression data = logistic();
  const LogisticQuadrature posterior(data);
  const RegressionRows<float> rows(data);
  const auto target = data.posterior();
  TestType sampler({.trajectory = {.step_size = 0.3, .warm_up = 0}}, ensemble_of(64, 2, 5));
  Moments found(64, posterior.mean);
  run_on_regression(
      sampler, *target, {.burn_in = 100, .steps = 500}, [&](std::int64_t) { return rows.all(); },
      [&](const Particles<float>& particles) { found(particles); });
  CHECK(recorded_z(sampler.name(), column, found.largest_z(posterior.covariance)) < critical_value);
  CHECK(found.resolution(posterior.covariance) < 0.02);
}

TEST_CASE("half the step halves the bias of Langevin samplers on a logistic regression",
          "[inference][reference][proof][slow]") {
  check_halving("sgld", 0.08, [](double h) {
    return std::make_unique<Sgld<float>>(SgldOptions{.step = {.step_size = h}}, ensemble_of(long_run.chains, 2, 5));
  });
  check_halving("psgld, metric at rest", 0.08, [](double h) {  // at rest G = 1/ε = 2
    auto sampler = std::make_unique<Opened<Psgld<float>>>(
        PsgldOptions{.step = {.step_size = h}, .square = {.epsilon = 0.5}}, ensemble_of(long_run.chains, 2, 5));
    sampler->metric_at_rest = true;
    return sampler;
  });
}

TEST_CASE("half the step halves the bias of SGHMC on a logistic regression", "[inference][reference][proof][slow]") {
  const SghmcOptions options{.friction = 0.2};
  check_halving("sghmc", 0.1, [&](double h) {
    SghmcOptions chosen = options;
    chosen.step.step_size = h;
    return std::make_unique<Sghmc<float>>(chosen, ensemble_of(long_run.chains, 2, 5));
  });
  check_halving("dropout-sghmc", 0.1, [&](double h) {
    DropoutSghmcOptions chosen{.sghmc = options, .keep = 1};
    chosen.sghmc.step.step_size = h;
    return std::make_unique<DropoutSghmc<float>>(chosen, ensemble_of(long_run.chains, 2, 5));
  });
}

TEST_CASE("half the step halves the bias of SGNHT on a logistic regression, and without a step there is none",
          "[inference][reference][proof][slow]") {
  RegressionPlan longer = long_run;
  longer.steps *= 2;
  for (const auto& [name, thermostat] : {std::pair{"sgnht, one a particle", Thermostat::particle},
                                         {"sgnht, one a coordinate", Thermostat::coordinate}}) {
    const auto make = [&, thermostat = thermostat](double h) {
      return std::make_unique<Sgnht<float>>(
          SgnhtOptions{.step = {.step_size = h}, .diffusion = 2, .thermostat = thermostat},
          ensemble_of(longer.chains, 2, 5));
    };
    constexpr double h = 0.15;
    const Bias whole = bias_of(*make(h), logistic(), longer), half = bias_of(*make(h / 2), logistic(), longer);
    const Bias quarter = bias_of(*make(h / 4), logistic(), longer);
    check_halving(name, whole, half);
    // The parabola through the three, at h = 0 (Richardson): what no power of h up to the second explains.
    const Bias limit{(whole.value - 6 * half.value + 8 * quarter.value) / 3,
                     std::hypot(whole.error, 6 * half.error, 8 * quarter.error) / 3};
    CAPTURE(name, quarter.value, limit.value, limit.error);
    CHECK(std::abs(limit.value) < critical_value * limit.error);
    CHECK(limit.error < 0.01);
    record_proof(name, column, "bias at 0", limit.value);
    record_proof(name, column, "error of the bias at 0", limit.error);
  }
}

TEST_CASE("half the step halves the bias of Santa's splitting on a stiff logistic regression",
          "[inference][reference][proof][slow]") {
  // η is the square of a step: of first order in η is of second order in the step. Noise and friction balance at a
  // small metric G only, and thermostats rest where η is small, so the data are many. Friction does not fall with η, so
  // a share of cosh(α/2) − 1 is left, where sinh α = G (inference/samplers/santa.h).
  const Regression data = logistic(2000);
  const auto bias = [&](double eta) {
    Opened<Santa<float>> sampler({.step = {.step_size = eta},
                                  .scheme = SantaScheme::splitting,
                                  .initial_thermostat = SplittingLaw(5000, 0.25, eta).thermostat / std::sqrt(eta),
                                  .square = {.epsilon = 16, .warm_up = 0}},
                                 ensemble_of(long_run.chains, 2, 5));
    sampler.metric_at_rest = true;
    return bias_of(sampler, data,
                   {.chains = 128, .burn_in = 5000, .steps = 20000, .start = LogisticQuadrature(data).mean});
  };
  check_halving("santa, splitting", bias(0.001), bias(0.0005), std::cosh(std::asinh(0.25) / 2) - 1);
}
