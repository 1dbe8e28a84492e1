// A banana and the eight schools (Rubin 1981) by the no-U-turn sampler, with the diagnostics that say whether to
// believe it. In the centred form of the schools divergences give warning of what the other numbers hide. It ends with
// 1 if the non-centred form is not as it should be.
#include <stein/inference/diagnostics/chain_summary.h>
#include <stein/inference/prediction/collector.h>
#include <stein/inference/samplers/nuts.h>
#include <stein/inference/targets/function_target.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

using namespace stein::inference;

namespace {

constexpr std::array<double, 8> effect{28, 8, -3, 7, -1, 1, 18, 12}, error{15, 10, 16, 11, 9, 11, 10, 18};

double banana(std::span<const double> at, std::span<double> gradient) {
  const double x = at[0], bend = at[1] - x * x;
  gradient[0] = 2 * bend * x - x;
  gradient[1] = -bend;
  return -bend * bend / 2 - x * x / 2;
}

/// μ ~ N(0, 5²), τ ~ half-Cauchy(0, 5): the part of both forms in μ and log τ.
double prior(double mu, double tau, double log_tau, std::span<double> gradient) {
  gradient[0] = -mu / 25;
  gradient[1] = 1 - 2 * tau * tau / (25 + tau * tau);
  return -mu * mu / 50 - std::log1p(tau * tau / 25) + log_tau;
}

/// Coordinates μ, log τ and θ_j ~ N(μ, τ²).
double centred_schools(std::span<const double> at, std::span<double> gradient) {
  const double mu = at[0], tau = std::exp(at[1]);
  double density = prior(mu, tau, at[1], gradient);
  for (std::size_t j = 0; j < 8; ++j) {
    const double theta = at[2 + j], eta = (theta - mu) / tau, off = (effect[j] - theta) / error[j];
    density -= off * off / 2 + eta * eta / 2 + at[1];
    gradient[0] += eta / tau;
    gradient[1] += eta * eta - 1;
    gradient[2 + j] = off / error[j] - eta / tau;
  }
  return density;
}

/// The same with η_j = (θ_j − μ)/τ ~ N(0, 1) as coordinates.
double schools(std::span<const double> at, std::span<double> gradient) {
  const double mu = at[0], tau = std::exp(at[1]);
  double density = prior(mu, tau, at[1], gradient);
  for (std::size_t j = 0; j < 8; ++j) {
    const double eta = at[2 + j], off = (effect[j] - mu - tau * eta) / error[j];
    density -= off * off / 2 + eta * eta / 2;
    gradient[0] += off / error[j];
    gradient[1] += tau * eta * off / error[j];
    gradient[2 + j] = tau * off / error[j] - eta;
  }
  return density;
}

struct Run {
  CollectedSamples<double> samples;
  std::int64_t divergences;
};

/// Four chains of 2000 steps, 1000 of them warm-up. Prints what they found.
Run sample(const char* title, FunctionTarget<double> target) {
  constexpr std::int64_t chains = 4, steps = 2000;
  Particles<double> particles = target.initial_particles(chains, 1);
  Nuts<double> nuts({.trajectory = {.target_acceptance = 0.95}}, particles.ensemble(1));
  Collector collector({.burn_in = 1000, .samples = 1000}, steps);
  CollectedSamples<double> samples(target.layout(), chains);
  while (collector.steps() < steps)
    if (collector.take(nuts.step(particles, target, {})).keep) samples.add(particles);
  std::printf("%s\n%s%lld divergences in %lld samples\n\n", title, to_text(summarise(samples)).c_str(),
              static_cast<long long>(nuts.divergences()), static_cast<long long>(chains) * samples.size());
  return {std::move(samples), nuts.divergences()};
}

}  // namespace

int main() {
  sample("banana", {{{"x"}, {"y"}}, banana});
  sample("eight schools, centred", {{{"mu"}, {"log_tau"}, {"theta", 8}}, centred_schools});
  const auto [samples, divergences] =
      sample("eight schools, non-centred", {{{"mu"}, {"log_tau"}, {"eta", 8}}, schools});

  // What is of interest need not be a coordinate: τ itself.
  std::vector<double> tau = samples.draws(1);
  std::ranges::transform(tau, tau.begin(), [](double log_tau) { return std::exp(log_tau); });
  const ChainSummary summary = summarise("tau", {tau.data(), samples.rows(), samples.size()});
  std::printf("%s", to_text({summary}).c_str());

  double worst = summary.r_hat;
  for (const ChainSummary& coordinate : summarise(samples)) worst = std::max(worst, coordinate.r_hat);
  return divergences == 0 && worst < 1.02 && std::abs(summary.mean - 3.6) < 0.5 ? 0 : 1;
}
