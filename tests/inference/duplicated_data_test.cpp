// Doubling N by duplicating the data, with minibatches of the same size, must give the posterior of twice the data:
// that catches every learning rate or noise that is scaled by the wrong one of n and N.
#include <stein/inference/samplers/hmc.h>
#include <stein/inference/samplers/nuts.h>

#include <catch2/catch.hpp>

#include "inference/ensemble_of.h"
#include "inference/linear_regression_case.h"
#include "inference/proof_record.h"

using namespace stein;
using namespace stein::inference;

namespace {

const char* const column = "data twice";

/// The gradient on every minibatch of two rows drawn with replacement, as b − Λ φ.
std::vector<AffineLaw::Move> ascents_of_pairs(const Regression& regression) {
  const MatrixXd design = regression.design();
  const double weight = regression.data_size / 2 * regression.spec.noise_precision;
  const MatrixXd prior = MatrixXd::Identity(design.cols(), design.cols());
  std::vector<AffineLaw::Move> ascents;
  for (Eigen::Index i = 0; i < design.rows(); ++i)
    for (Eigen::Index j = 0; j < design.rows(); ++j) {
      const auto x = design.row(i), z = design.row(j);
      ascents.push_back({-weight * (x.transpose() * x + z.transpose() * z) - prior,
                         weight * (x.transpose() * regression.answers(i) + z.transpose() * regression.answers(j))});
    }
  return ascents;
}

}  // namespace

TEST_CASE("the data twice, on minibatches of the same size, give the law of twice the data",
          "[inference][reference][proof]") {
  const Regression once = correlated(), twice = once.twice();
  const auto target = once.posterior();
  const auto moments_of = [&](const Regression& data, Sampler<float>& sampler, const VectorXd& centre) {
    RegressionRows<float> rows(data);
    Moments found(64, centre);
    run_on_regression(
        sampler, *target, {}, [&](std::int64_t t) { return rows.drawn(t, 64, 2); },
        [&](const Particles<float>& particles) { found(particles); });
    return found;
  };
  for (const LinearSubject& subject : linear_subjects()) {
    constexpr double h = 0.002;
    INFO(subject.name);
    const AffineLaw old = subject.law(ascents_of_pairs(once), h), law = subject.law(ascents_of_pairs(twice), h);
    const Moments found = moments_of(twice, *subject.make(h), law.mean);
    CHECK(recorded_z(subject.name, column, found.largest_z(law.covariance)) < critical_value);
    CHECK(moments_of(once, *subject.make(h), old.mean).largest_z(old.covariance) < critical_value);
    CHECK(found.largest_z(old.covariance) > mutant_value);
    CHECK(found.resolution(law.covariance) < 0.05);
  }
}

TEST_CASE("the data twice, on minibatches of the same size, give SGNHT the identities of twice the data",
          "[inference][reference][proof]") {
  const Regression once = correlated(), twice = once.twice();
  const auto target = once.posterior();
  for (const auto& [name, options] : thermostats) {
    RegressionRows<float> rows(twice);
    ThermostatIdentities identities(twice, options, false), old(once, options, false);
    Opened<Sgnht<float>> sampler(options, ensemble_of(64, 3, 5));
    run_on_regression(
        sampler, *target, {}, [&](std::int64_t t) { return rows.drawn(t, 64, 2); },
        [&](const Particles<float>& particles) { identities(particles, sampler), old(particles, sampler); });
    INFO(name);
    CHECK(recorded_z(name, column, identities.largest_z()) < critical_value);
    CHECK(old.largest_z() > mutant_value);
  }
}

TEST_CASE("the data twice, half of them at a time, give Santa the law of twice the data",
          "[inference][reference][proof]") {
  // The halves are the same rows: minibatches without noise, which is what this law speaks of.
  const Regression stiff = factorial().twice();
  const RegressionRows<float> rows(stiff);
  const auto target = stiff.posterior();
  SplittingCase santa(stiff);
  const MatrixXd old = SplittingCase(factorial()).covariance;
  Moments found(64, stiff.centre());
  run_on_regression(
      santa.sampler, *target, {.burn_in = 8000, .steps = 8000}, [&](std::int64_t t) { return rows.half(t); },
      [&](const Particles<float>& particles) { found(particles); });
  CHECK(recorded_z("santa, splitting", column, found.largest_z(santa.covariance)) < critical_value);
  CHECK(found.largest_z(old) > mutant_value);
}

TEMPLATE_TEST_CASE("the data twice, half of them at a time, give HMC and NUTS the posterior of twice the data",
                   "[inference][reference][proof]", Hmc<float>, Nuts<float>) {
  const Regression twice = correlated().twice();
  const RegressionRows<float> rows(twice);
  const Moments found = trajectory_moments<TestType>(twice, 0.09, [&](std::int64_t t) { return rows.half(t); });
  const MatrixXd covariance = twice.precision().inverse();
  CHECK(recorded_z(TestType({}, ensemble_of(1, 1, 0)).name(), column, found.largest_z(covariance)) < critical_value);
  CHECK(found.largest_z(correlated().precision().inverse()) > mutant_value);
  CHECK(found.resolution(covariance) < 0.02);
}

TEST_CASE("the data twice, half of them at a time, give SVGD and optimizers what twice the data have",
          "[inference][reference][proof]") {
  const Regression twice = correlated().twice();
  const RegressionRows<double> rows(twice);
  const auto [mean, covariance] = linear_kernel_moments(twice, rows.half(0));
  const double error = std::max((mean - twice.centre()).cwiseAbs().maxCoeff(),
                                (covariance - twice.precision().inverse()).cwiseAbs().maxCoeff());
  record_proof("svgd, linear kernel", column, "error", error);
  CHECK(error < 1e-10);
  for (const auto& [name, method] : optimizers) {
    const double distance = distance_from_mode(method, twice, rows.half(0));
    INFO(name);
    record_proof(name, column, "error", distance);
    CHECK(distance < 1e-4);
  }
  CHECK((twice.centre() - correlated().centre()).norm() > 1e-3);
}
