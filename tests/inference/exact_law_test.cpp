// Every stochastic-gradient MCMC sampler against the exact law of its discretised chain on a Gaussian with known
// gradient noise, not against the target that it approaches as the step goes to 0.
#include <stein/inference/samplers/dropout_sghmc.h>
#include <stein/inference/samplers/psgld.h>
#include <stein/inference/samplers/santa.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/inference/samplers/sgnht.h>

#include <catch2/catch.hpp>

#include "inference/discretised_law.h"
#include "inference/ensemble_of.h"
#include "inference/proof_record.h"
#include "inference/quadratic_chain.h"
#include "inference/splitting_law.h"

using namespace stein;
using namespace stein::inference;

namespace {

const char* const column = "exact law";
const std::vector<Setting> settings{{1, 0.5, 1, 0}, {1, 0.1, 1, 4}, {2, 0.1, 0.25, 1}};

template <class Options>
Options at(const Setting& s, Options options) {
  options.step.step_size = s.h;
  options.temperature.temperature = s.t;
  return options;
}

ChainPlan plan_of(const Setting& s) {
  return {.curvature = s.k, .gradient_noise = s.v};
}

template <class Scalar, class S>
ChainAverages squares_of_positions(const ChainPlan& plan, S& sampler) {
  ChainAverages squares(plan.chains);
  run_chains<Scalar>(plan, sampler, [&](const Particles<Scalar>& particles, const S&) {
    for (std::int64_t i = 0; i < plan.chains; ++i)
      squares.add(i, mean_product(particles.values().row(i), particles.values().row(i)));
    squares.count();
  });
  return squares;
}

/// Positions after the move, and the momentum that moved them.
struct MomentumAverages {
  ChainAverages square, momentum, product;
  explicit MomentumAverages(std::int64_t chains) : square(chains), momentum(chains), product(chains) {}
};

template <class Scalar, class S>
MomentumAverages momentum_statistics(const ChainPlan& plan, S& sampler) {
  MomentumAverages found(plan.chains);
  run_chains<Scalar>(plan, sampler, [&](const Particles<Scalar>& particles, const S& moved) {
    const MatrixView<const Scalar> momentum = moved.state(0);
    for (std::int64_t i = 0; i < plan.chains; ++i) {
      const auto x = particles.values().row(i);
      const auto r = momentum.row(i);
      found.square.add(i, mean_product(x, x));
      found.momentum.add(i, mean_product(r, r));
      found.product.add(i, mean_product(x, r));
    }
    found.square.count(), found.momentum.count(), found.product.count();
  });
  return found;
}

}  // namespace

TEMPLATE_TEST_CASE("SGLD settles at the variance of its discretised law, with and without gradient noise",
                   "[inference][law][proof]", float, double) {
  for (const Setting& s : settings) {
    Opened<Sgld<TestType>> sampler(at(s, SgldOptions{}), ensemble_of(64, 8, 3));
    CAPTURE(s.h, s.t, s.v);
    const double z = squares_of_positions<TestType>(plan_of(s), sampler).z(sgld_variance(s));
    CHECK(recorded_z("sgld", column, z) < critical_value);
  }
  CHECK(sgld_variance(settings[0]) == Approx(4.0 / 3));
}

TEMPLATE_TEST_CASE("pSGLD with a metric G at rest is SGLD with step h G/2", "[inference][law][proof]", float, double) {
  for (const Setting& s : settings) {
    PsgldOptions options = at(s, PsgldOptions{});
    options.square.epsilon = 0.5;  // G = 1/ε = 2 while the average stays at 0
    Opened<Psgld<TestType>> sampler(options, ensemble_of(64, 8, 3));
    sampler.metric_at_rest = true;
    CAPTURE(s.h, s.t, s.v);
    const double z = squares_of_positions<TestType>(plan_of(s), sampler).z(sgld_variance(s));
    CHECK(recorded_z("psgld, metric at rest", column, z) < critical_value);
  }
}

TEMPLATE_TEST_CASE("SGHMC settles at the variances of its discretised law, D-SGHMC that keeps every input too",
                   "[inference][law][proof]", float, double) {
  for (const double estimate : {0.0, 0.05}) {
    for (const Setting& s : {Setting{1, 0.5, 1, 0}, Setting{1, 0.1, 1, 4}, Setting{2, 0.1, 0.5, 1}}) {
      SghmcOptions options = at(s, SghmcOptions{.friction = 0.2});
      options.gradient_variance = 2 * estimate / s.h;
      const double alpha = options.friction;
      const SghmcLaw law(s, alpha, estimate);
      const auto check = [&](auto sampler) {
        const MomentumAverages found = momentum_statistics<TestType>(plan_of(s), sampler);
        CAPTURE(s.h, s.t, s.v, estimate, sampler.name());
        CHECK(recorded_z(sampler.name(), column, found.momentum.z(law.momentum)) < critical_value);
        CHECK(recorded_z(sampler.name(), column, found.square.z(law.position)) < critical_value);
      };
      check(Opened<Sghmc<TestType>>(options, ensemble_of(64, 8, 3)));
      if (estimate == 0) check(Opened<DropoutSghmc<TestType>>({.sghmc = options, .keep = 1}, ensemble_of(64, 8, 4)));
      if (estimate == 0 && s.v == 0) {
        CHECK(law.position == Approx(s.t / s.k / (1 - s.h * s.k / (2 * (2 - alpha)))));
        CHECK((1 - alpha / 2) * law.momentum / s.h == Approx(s.t / (1 - s.h * s.k / (2 * (2 - alpha)))));  // kinetic
      }
    }
  }
}

TEMPLATE_TEST_CASE("SGNHT keeps its exact identities, whichever coordinates share a thermostat",
                   "[inference][law][proof]", float, double) {
  for (const Thermostat thermostat : {Thermostat::particle, Thermostat::coordinate}) {
    for (const Setting& s : {Setting{1, 0.1, 1, 0}, Setting{1, 0.1, 1, 4}, Setting{2, 0.05, 0.5, 1}}) {
      SgnhtOptions options = at(s, SgnhtOptions{});
      options.thermostat = thermostat;
      Opened<Sgnht<TestType>> sampler(options, ensemble_of(64, 8, 3));
      const MomentumAverages found = momentum_statistics<TestType>(plan_of(s), sampler);
      CAPTURE(s.h, s.t, s.v, static_cast<int>(thermostat));
      const char* name = thermostat == Thermostat::particle ? "sgnht, one a particle" : "sgnht, one a coordinate";
      CHECK(recorded_z(name, column, found.momentum.z(s.t)) < critical_value);
      CHECK(recorded_z(name, column, found.product.z(s.h * s.t / 2)) <
            critical_value);  // E[φ r′] = −h E r²/2 before the move
    }
  }
}

TEST_CASE("SGNHT's friction settles where injected and gradient noise balance", "[inference][law][proof]") {
  for (const Setting& s : {Setting{1, 0.2, 1, 0}, Setting{1, 0.2, 1, 4}, Setting{2, 0.1, 0.5, 3}}) {
    SgnhtOptions options = at(s, SgnhtOptions{});
    options.thermostat = Thermostat::particle;
    ChainPlan wide = plan_of(s);
    wide.size = 1024, wide.burn_in = 500, wide.steps = 500;
    Opened<Sgnht<float>> sampler(options, ensemble_of(wide.chains, wide.size, 3));
    ChainAverages friction(wide.chains);
    run_chains<float>(wide, sampler, [&](const Particles<float>&, const auto& moved) {
      for (std::int64_t i = 0; i < wide.chains; ++i)
        friction.add(i, static_cast<double>(moved.thermostats()[static_cast<std::size_t>(i)]));
      friction.count();
    });
    const double law = sgnht_friction(s, options.diffusion);
    CAPTURE(s.h, s.t, s.v, law, friction.mean(), friction.standard_error());
    CHECK(recorded_z("sgnht, one a particle", column, friction.z(law)) < critical_value);
  }
}

TEST_CASE("Santa's Euler scheme at a metric and temperature that rest is SGNHT with A = 1/h", "[inference][law]") {
  constexpr double h = 0.1;
  constexpr std::int64_t rows = 3, size = 5;
  Opened<Santa<double>> santa({.step = {.step_size = h * h},
                               .scheme = SantaScheme::euler,
                               .initial_thermostat = 1 / h,
                               .square = {.epsilon = 1, .warm_up = 0}},
                              ensemble_of(rows, size, 9));
  santa.metric_at_rest = true;
  Opened<Sgnht<double>> sgnht({.step = {.step_size = h}, .diffusion = 1 / h}, ensemble_of(rows, size, 9));
  Quadratic<double> target(size, 1.5, 0.3);
  Particles<double> one(target.layout(), rows), other(target.layout(), rows);
  const Batch<double> batch{.data_size = 1};
  santa.step(one, target, batch);
  sgnht.step(other, target, batch);
  // Santa moves its thermostats before the kick, SGNHT after it: from here on they stand at the same place.
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t q = 0; q < size; ++q) {
      const double u = santa.state(0)(i, q), r = u / h;
      sgnht.mutable_state(0)(i, q) = r;
      sgnht.mutable_state(1)(i, q) = santa.state(2)(i, q) / h + h * (r * r - 1);
      other.values()(i, q) = one.values()(i, q);
    }
  }
  for (int t = 0; t < 10; ++t) {  // G = 1 is past what any friction can balance: it would grow without bound
    santa.step(one, target, batch);
    sgnht.step(other, target, batch);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t q = 0; q < size; ++q) {
      CHECK(one.values()(i, q) == Approx(other.values()(i, q)).epsilon(1e-9));
      CHECK(santa.state(0)(i, q) == Approx(h * sgnht.state(0)(i, q)).epsilon(1e-9));
    }
  }
}

TEST_CASE("Santa's symmetric splitting settles at the variances of its discretised law", "[inference][law][proof]") {
  constexpr double eta = 0.0005, metric = 0.25;
  for (const double b : {0.125, 0.25, 0.5, 1.0}) {
    const double k = b / (eta * metric * metric);
    const SplittingLaw law(k, metric, eta);
    Opened<Santa<double>> sampler({.step = {.step_size = eta},
                                   .scheme = SantaScheme::splitting,
                                   .initial_thermostat = law.thermostat / std::sqrt(eta),
                                   .square = {.epsilon = 1 / (metric * metric), .warm_up = 0}},
                                  ensemble_of(64, 8, 3));
    sampler.metric_at_rest = true;
    const MomentumAverages found =
        momentum_statistics<double>({.curvature = k, .burn_in = 5000, .steps = 10000}, sampler);
    CAPTURE(b, law.position, found.square.mean() * k);
    CHECK(recorded_z("santa, splitting", column, found.momentum.z(eta)) < critical_value);
    CHECK(recorded_z("santa, splitting", column, found.square.z(law.position / k)) < critical_value);
    CHECK(1 - law.position < 0.26 * b);  // of second order in the step √b
  }
  // What is left of it: Einstein's relation of the chain without force, whose α has sinh α = G.
  CHECK(SplittingLaw(1e-3 / (eta * metric * metric), metric, eta).position ==
        Approx(std::cosh(std::asinh(metric) / 2)).epsilon(1e-3));
}

TEST_CASE("Santa's Euler scheme settles at the variances of its discretised law", "[inference][law][proof]") {
  constexpr double eta = 0.0005, metric = 0.25;
  for (const double b : {0.125, 0.5}) {
    const double k = b / (eta * metric * metric), alpha = santa_euler_thermostat(k, metric, eta);
    Opened<Santa<double>> sampler({.step = {.step_size = eta},
                                   .scheme = SantaScheme::euler,
                                   .initial_thermostat = alpha / std::sqrt(eta),
                                   .square = {.epsilon = 1 / (metric * metric), .warm_up = 0}},
                                  ensemble_of(64, 8, 3));
    sampler.metric_at_rest = true;
    const MomentumAverages found =
        momentum_statistics<double>({.curvature = k, .burn_in = 5000, .steps = 10000}, sampler);
    CAPTURE(b, alpha, found.square.mean() * k);
    CHECK(recorded_z("santa, Euler", column, found.momentum.z(eta)) < critical_value);
    CHECK(recorded_z("santa, Euler", column, found.square.z((1 - alpha / 2) / k)) < critical_value);
  }
}
