// The temperature of momenta, against the exact laws of discretised chains.
#include <stein/inference/diagnostics/kinetic_temperature.h>
#include <stein/inference/samplers/santa.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/inference/samplers/sgnht.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "inference/ensemble_of.h"
#include "inference/quadratic_chain.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr ChainPlan quadratic_chains{.chains = 64, .size = 8, .burn_in = 1000, .steps = 3000};

template <class S>
KineticTemperature measure_kinetic(S& sampler, ChainPlan chosen = quadratic_chains) {
  Quadratic<double> target(chosen.size, 1, 0);
  KineticTemperature meter(target.layout());
  run_chains<double>(chosen, sampler, [&](const Particles<double>&, const S& moved) { meter.add(moved, target); });
  return meter;
}

/// How many standard errors the reading of the only layer is from `law`, by its 99 % interval of Student's t.
double z_of(const KineticTemperature& meter, double law) {
  const auto reading = meter.readings().at(0);
  return (reading.mean - law) / ((reading.high - reading.mean) / 2.75);
}

template <class S>
S sampler_of(const typename S::Options& options, const ChainPlan& chosen = quadratic_chains) {
  return S(options, ensemble_of(chosen.chains, chosen.size, 5));
}

}  // namespace

TEST_CASE("SGHMC's momenta have the temperature of the discretised chain", "[inference][diagnostics][sghmc]") {
  const double friction = 0.3;
  for (const double eta : {0.01, 0.4}) {
    auto sampler = sampler_of<Sghmc<double>>(
        {.step = {.step_size = eta}, .temperature = {.temperature = 0.7}, .friction = friction});
    const KineticTemperature meter = measure_kinetic(sampler);
    // (1 − α/2) E r²/η with E r² = 2αTη/(α(2 − α − b/2)), b = η k, k = 1.
    const double law = 0.7 * (2 - friction) / (2 - friction - eta / 2);
    CAPTURE(eta, law, meter.readings().at(0).mean);
    CHECK(std::abs(z_of(meter, law)) < critical_value);
    CHECK(meter.readings().at(0).high - meter.readings().at(0).low < 0.02);
    CHECK(meter.warning(0.7).has_value() == (eta > 0.35));  // 0.79 is beyond 1.1 T
  }
}

TEST_CASE("the momenta of SGNHT have temperature T, whatever minibatches bring", "[inference][diagnostics][sgnht]") {
  const Thermostat thermostat = GENERATE(Thermostat::coordinate, Thermostat::particle);
  ChainPlan noisy = quadratic_chains;
  noisy.gradient_noise = 5;
  auto sampler = sampler_of<Sgnht<double>>(
      {.step = {.step_size = 0.1}, .temperature = {.temperature = 1.5}, .thermostat = thermostat}, noisy);
  const KineticTemperature meter = measure_kinetic(sampler, noisy);
  CHECK(std::abs(z_of(meter, 1.5)) < critical_value);
  CHECK_FALSE(meter.warning(1.5).has_value());
}

TEST_CASE("the momenta of Santa have temperature T while it explores", "[inference][diagnostics][santa]") {
  const SantaScheme scheme = GENERATE(SantaScheme::euler, SantaScheme::splitting);
  constexpr double eta = 0.001, metric = 0.25, curvature = 0.25 / (eta * metric * metric);
  const SantaOptions options{.step = {.step_size = eta},
                             .temperature = {.temperature = 1.3},
                             .scheme = scheme,
                             .exploration_steps = 8000,
                             .initial_thermostat = 0.3 / std::sqrt(eta),
                             .square = {.decay = 0.999999999, .epsilon = 1 / (metric * metric), .warm_up = 0}};
  auto sampler = sampler_of<Opened<Santa<double>>>(options);
  sampler.metric_at_rest = true;
  const KineticTemperature meter =
      measure_kinetic(sampler, {.curvature = curvature, .chains = 64, .size = 8, .burn_in = 5000, .steps = 3000});
  CAPTURE(meter.readings().at(0).mean);
  CHECK(std::abs(z_of(meter, 1.3)) < critical_value);
  CHECK(meter.readings().at(0).high - meter.readings().at(0).low < 0.05);
  Quadratic<double> target(8, curvature, 0);
  Particles<double> particles(target.layout(), 64);
  sampler.step(particles, target, {.data_size = 1});
  KineticTemperature refining(target.layout());
  CHECK_ERROR(refining.add(sampler, target), usage, "santa has no momentum");
}

TEST_CASE("momenta off their temperature are warned of by number", "[inference][diagnostics][mutant]") {
  auto sampler = sampler_of<Opened<Sghmc<double>>>({.step = {.step_size = 0.01}});
  sampler.spoil = [](DiffusionNumbers right, double) {
    right.noise *= std::sqrt(0.5);  // a lost 2 in √(2αTη)
    return right;
  };
  const KineticTemperature meter = measure_kinetic(sampler);
  CHECK(std::abs(z_of(meter, 1)) > mutant_value);
  const auto warning = meter.warning(1);
  REQUIRE(warning.has_value());
  CHECK_THAT(*warning, Catch::Contains("far from the kinetic temperature 1,") && Catch::Contains(": position 0.5"));
}

TEST_CASE("a sampler without momenta, or that has not moved, has no kinetic temperature", "[inference][diagnostics]") {
  Quadratic<double> target(quadratic_chains.size, 1, 0);
  KineticTemperature meter(target.layout());
  const auto still = sampler_of<Sghmc<double>>({});
  CHECK_ERROR(meter.add(still, target), usage, "sghmc has taken no step yet");
  auto without = sampler_of<Sgld<double>>({.step = {.step_size = 0.01}});
  Particles<double> particles(target.layout(), quadratic_chains.chains);
  without.step(particles, target, {.data_size = 1});
  CHECK_ERROR(meter.add(without, target), usage, "sgld has no momentum");
}
