// NUTS where curvature varies: Neal's funnel and the eight schools. Centred they show divergences, non-centred none.
#include "inference/hierarchical_models.h"
#include "inference/ensemble_of.h"

#include <stein/inference/samplers/nuts.h>

#include <catch2/catch.hpp>

#include "inference/chain_statistics.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// Runs 64 chains, calls see(coordinates of a chain, chain) for every sample and count() after each step.
template <class See, class Count>
std::int64_t divergences(FunctionTarget<double> target, std::int64_t samples, const See& see, const Count& count) {
  constexpr std::int64_t chains = 64;
  const NutsOptions options{.trajectory = {.step_size = 0.1, .warm_up = 500, .target_acceptance = 0.95}};
  Nuts<double> sampler(options, ensemble_of(chains, target.layout().size(), 7));
  Particles<double> particles = target.initial_particles(chains, 3);
  for (std::int64_t t = 0; t < 500 + samples; ++t) {
    if (sampler.step(particles, target, {}).exploring) continue;
    for (std::int64_t i = 0; i < chains; ++i) see(particles.values().row(i), i);
    count();
  }
  return sampler.divergences();
}

std::int64_t divergences(FunctionTarget<double> target, std::int64_t samples) {
  return divergences(
      std::move(target), samples, [](std::span<const double>, std::int64_t) {}, [] {});
}

/// The worst relative difference of the target's gradient from central differences.
double gradient_error(FunctionTarget<double> target) {
  const Particles<double> particles = target.initial_particles(1, 5);
  const std::int64_t size = target.layout().size();
  std::vector<double> at(particles.values().row(0).begin(), particles.values().row(0).end()), gradient(at), unused(at);
  double value = 0, worst = 0;
  const auto density = [&](std::vector<double>& into) {
    target.evaluate({{at.data(), 1, size}}, {}, {}, {.gradient = {into.data(), 1, size}, .value = {&value, 1}});
    return value;
  };
  density(gradient);
  for (std::size_t q = 0; q < at.size(); ++q) {
    const double kept = at[q];
    at[q] = kept + 1e-5;
    const double above = density(unused);
    at[q] = kept - 1e-5;
    const double below = density(unused);
    at[q] = kept;
    worst = std::max(worst, std::abs((above - below) / 2e-5 - gradient[q]) / (1 + std::abs(gradient[q])));
  }
  return worst;
}

}  // namespace

TEST_CASE("the funnel and the eight schools have the gradients of their densities", "[inference][hierarchical]") {
  for (const Form form : {Form::centred, Form::non_centred}) {
    CHECK(gradient_error(funnel(form)) < 1e-8);
    CHECK(gradient_error(EightSchools::target(form)) < 1e-8);
  }
}

TEST_CASE("the exact posterior of the eight schools is that of posteriordb", "[inference][hierarchical]") {
  const EightSchools exact = EightSchools::exact();
  CAPTURE(exact.mean, exact.mean_square, exact.deviation, exact.deviation_square, exact.first_school);
  // Means and sds of eight_schools-eight_schools_noncentered, 10,000 reference draws.
  CHECK(exact.mean == Approx(4.4).margin(0.1));
  CHECK(std::sqrt(exact.mean_square - exact.mean * exact.mean) == Approx(3.3).margin(0.1));
  CHECK(exact.deviation == Approx(3.6).margin(0.1));
  CHECK(std::sqrt(exact.deviation_square - exact.deviation * exact.deviation) == Approx(3.2).margin(0.1));
}

TEST_CASE("NUTS has the exact posterior of the eight schools, non-centred, without divergences",
          "[inference][hierarchical]") {
  const EightSchools exact = EightSchools::exact();
  std::vector<ChainAverages> found(5, ChainAverages(64));
  const std::int64_t divergent = divergences(
      EightSchools::target(Form::non_centred), 500,
      [&](std::span<const double> at, std::int64_t i) {
        const double mu = at[0], tau = std::exp(at[1]);
        const double seen[] = {mu, mu * mu, tau, tau * tau, mu + tau * at[2]};
        for (std::size_t k = 0; k < 5; ++k) found[k].add(i, seen[k]);
      },
      [&] {
        for (ChainAverages& average : found) average.count();
      });
  CHECK(divergent == 0);
  const double law[] = {exact.mean, exact.mean_square, exact.deviation, exact.deviation_square, exact.first_school};
  for (std::size_t k = 0; k < 5; ++k) {
    CAPTURE(k, law[k], found[k].mean(), found[k].standard_error());
    CHECK(std::abs(found[k].z(law[k])) < critical_value);
    CHECK(found[k].standard_error() < 0.02 * law[k]);
  }
}

TEST_CASE("NUTS shows divergences in the centred eight schools", "[inference][hierarchical]") {
  CHECK(divergences(EightSchools::target(Form::centred), 500) > 50);
}

TEST_CASE("NUTS shows divergences in the funnel, and none in its non-centred form, whose law it has",
          "[inference][hierarchical]") {
  ChainAverages mean(64), square(64), scaled(64);
  const std::int64_t divergent = divergences(
      funnel(Form::non_centred), 500,
      [&](std::span<const double> at, std::int64_t i) {
        const double v = 3 * at[0], x = std::exp(v / 2) * at[1];
        mean.add(i, v), square.add(i, v * v), scaled.add(i, std::abs(x) < 1 ? 1 : 0);
      },
      [&] { mean.count(), square.count(), scaled.count(); });
  CHECK(divergent == 0);
  CHECK(std::abs(mean.z(0)) < critical_value);
  CHECK(std::abs(square.z(9)) < critical_value);
  // P(|x| < 1) = ∫ N(v; 0, 9) erf(e^{−v/2}/√2) dv.
  double inside = 0, total = 0;
  for (double v = -30; v < 30; v += 1.0 / 64) {
    const double weight = std::exp(-v * v / 18);
    total += weight, inside += weight * std::erf(std::exp(-v / 2) / std::numbers::sqrt2);
  }
  CHECK(std::abs(scaled.z(inside / total)) < critical_value);
  CHECK(mean.standard_error() < 0.05);
  CHECK(divergences(funnel(Form::centred), 500) > 50);
}
