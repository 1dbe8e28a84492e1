// Every method on Bayesian linear regression, whose posterior has a closed form, against what the method should give:
// HMC and NUTS the posterior itself, stochastic-gradient MCMC the exact law of its discretised chain on it, SVGD with
// the linear kernel its mean and covariance, optimizers its mode. Elsewhere: the data twice (duplicated_data_test.cpp),
// logistic regression (logistic_reference_test.cpp), the fixed points of SVGD with the RBF kernel (svgd_test.cpp), the
// optima of variational families (variational_objective_test.cpp).
#include <stein/inference/samplers/hmc.h>
#include <stein/inference/samplers/nuts.h>

#include <catch2/catch.hpp>

#include "inference/ensemble_of.h"
#include "inference/linear_regression_case.h"
#include "inference/proof_record.h"

using namespace stein;
using namespace stein::inference;

namespace {

const char* const column = "linear regression";

}  // namespace

TEMPLATE_TEST_CASE("HMC and NUTS draw from the posterior of a linear regression", "[inference][reference][proof]",
                   Hmc<float>, Nuts<float>) {
  const Regression data = correlated();
  const RegressionRows<float> rows(data);
  const Moments found = trajectory_moments<TestType>(data, 0.08, [&](std::int64_t) { return rows.all(); });
  const MatrixXd covariance = data.precision().inverse();
  CHECK(recorded_z(TestType({}, ensemble_of(1, 1, 0)).name(), column, found.largest_z(covariance)) < critical_value);
  CHECK(found.resolution(covariance) < 0.02);
}

TEST_CASE("linear samplers keep the discretised law of a linear regression along every direction",
          "[inference][reference][proof]") {
  const Regression data = correlated();
  const RegressionRows<float> rows(data);
  const auto target = data.posterior();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> directions(data.precision());
  for (const LinearSubject& subject : linear_subjects()) {
    constexpr double h = 0.01;
    MatrixXd covariance = MatrixXd::Zero(3, 3);
    for (Eigen::Index q = 0; q < 3; ++q) covariance(q, q) = subject.variance({directions.eigenvalues()(q), h, 1, 0});
    Moments found(64, data.centre(), directions.eigenvectors());
    const auto sampler = subject.make(h);
    run_on_regression(
        *sampler, *target, {}, [&](std::int64_t) { return rows.all(); },
        [&](const Particles<float>& particles) { found(particles); });
    INFO(subject.name);
    CHECK(recorded_z(subject.name, column, found.largest_z(covariance)) < critical_value);
    CHECK(found.resolution(covariance) < 0.02);
    // The chains are long enough to tell the law from the posterior itself.
    CHECK(found.largest_z(directions.eigenvalues().cwiseInverse().asDiagonal()) > mutant_value);
  }
}

TEST_CASE("SGNHT keeps its exact identities on a linear regression", "[inference][reference][proof]") {
  const Regression data = correlated();
  const RegressionRows<float> rows(data);
  const auto target = data.posterior();
  for (const auto& [name, options] : thermostats) {
    ThermostatIdentities identities(data, options, true);
    Opened<Sgnht<float>> sampler(options, ensemble_of(64, 3, 5));
    run_on_regression(
        sampler, *target, {}, [&](std::int64_t) { return rows.all(); },
        [&](const Particles<float>& particles) { identities(particles, sampler); });
    INFO(name);
    CHECK(recorded_z(name, column, identities.largest_z()) < critical_value);
  }
}

TEST_CASE("Santa's symmetric splitting keeps its discretised law on a linear regression",
          "[inference][reference][proof]") {
  const Regression data = factorial();
  const RegressionRows<float> rows(data);
  const auto target = data.posterior();
  SplittingCase santa(data);
  Moments found(64, data.centre());
  run_on_regression(
      santa.sampler, *target, {.burn_in = 8000, .steps = 8000}, [&](std::int64_t) { return rows.all(); },
      [&](const Particles<float>& particles) { found(particles); });
  CHECK(recorded_z("santa, splitting", column, found.largest_z(santa.covariance)) < critical_value);
  CHECK(found.resolution(santa.covariance) < 0.02);
}

TEST_CASE("SVGD with the linear kernel has the mean and covariance of a linear regression's posterior",
          "[inference][reference][proof]") {
  const Regression data = correlated();
  const auto [mean, covariance] = linear_kernel_moments(data, RegressionRows<double>(data).all());
  const double error = std::max((mean - data.centre()).cwiseAbs().maxCoeff(),
                                (covariance - data.precision().inverse()).cwiseAbs().maxCoeff());
  record_proof("svgd, linear kernel", column, "error", error);
  CHECK(error < 1e-10);
}

TEST_CASE("optimizers end at the mode of a linear regression's posterior", "[inference][reference][proof]") {
  const Regression data = correlated();
  const RegressionRows<double> rows(data);
  for (const auto& [name, method] : optimizers) {
    const double error = distance_from_mode(method, data, rows.all());
    INFO(name);
    record_proof(name, column, "error", error);
    CHECK(error < 1e-4);
  }
}
