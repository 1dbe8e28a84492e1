// A chain that is annealed ends where a chain at temperature 1 is on average: on a Gaussian both are its mean.
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/sgld.h>

#include <catch2/catch.hpp>

#include "inference/chain_statistics.h"
#include "inference/correlated_gaussian.h"
#include "inference/ensemble_of.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr std::int64_t chains = 64, size = 3;

CorrelatedGaussian posterior() {
  Eigen::Matrix3d covariance;
  covariance << 1, 0.6, 0, 0.6, 2, -0.3, 0, -0.3, 0.5;
  return {Eigen::Vector3d(1, -2, 0.5), covariance};
}

/// Chains after `steps` steps; `see` is called after each.
template <class See>
void run(Sampler<double>& sampler, CorrelatedGaussian& target, std::int64_t steps, const See& see) {
  Particles<double> particles(target.layout(), chains);
  for (std::int64_t t = 0; t < steps; ++t) {
    sampler.step(particles, target, {});
    see(t, particles);
  }
}

/// Averages over chains at temperature 1 are the mean, and every annealed chain ends there.
template <class Make>
void check(const Make& make) {
  CorrelatedGaussian target = posterior();
  std::vector<ChainAverages> averages(size, ChainAverages(chains));
  const auto plain = make(TemperatureOptions{});
  run(*plain, target, 6000, [&](std::int64_t t, const Particles<double>& particles) {
    if (t < 1000) return;
    for (std::int64_t q = 0; q < size; ++q) {
      for (std::int64_t i = 0; i < chains; ++i) averages[static_cast<std::size_t>(q)].add(i, particles.values()(i, q));
      averages[static_cast<std::size_t>(q)].count();
    }
  });
  for (std::int64_t q = 0; q < size; ++q) {
    CAPTURE(q);
    CHECK(std::abs(averages[static_cast<std::size_t>(q)].z(target.mean()[q])) < critical_value);
  }

  // From 4 down to 4 · 0.998^6000 = 2.4e-5, more slowly than the chain forgets: seven sds of that law.
  const auto annealed = make(TemperatureOptions{.temperature = 4, .temperature_decay = 0.998});
  run(*annealed, target, 6000, [&](std::int64_t t, const Particles<double>& particles) {
    for (std::int64_t i = 0; i < chains && t == 5999; ++i)
      for (std::int64_t q = 0; q < size; ++q)
        CHECK(std::abs(particles.values()(i, q) - target.mean()[q]) < 7 * std::sqrt(2 * 2.5e-5));
  });
}

}  // namespace

TEST_CASE("SGLD that is annealed ends where SGLD at temperature 1 is on average", "[inference][annealing]") {
  check([](const TemperatureOptions& temperature) {
    return std::make_unique<Sgld<double>>(SgldOptions{.step = {.step_size = 0.02}, .temperature = temperature},
                                          ensemble_of(chains, size, 1));
  });
}

TEST_CASE("SGHMC that is annealed ends where SGHMC at temperature 1 is on average", "[inference][annealing]") {
  check([](const TemperatureOptions& temperature) {
    return std::make_unique<Sghmc<double>>(
        SghmcOptions{.step = {.step_size = 0.01}, .temperature = temperature, .friction = 0.1},
        ensemble_of(chains, size, 2));
  });
}
