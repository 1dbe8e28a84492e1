// Step sizes, temperatures and the averaged square's decay against numbers worked out by hand.
#include <stein/inference/samplers/averaged_square.h>
#include <stein/inference/samplers/santa.h>
#include <stein/inference/samplers/schedule.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/inference/samplers/sgnht.h>

#include <cmath>

#include "core/error_matcher.h"
#include "inference/ensemble_of.h"
#include "inference/quadratic_chain.h"

using namespace stein;
using namespace stein::inference;

TEST_CASE("a step size without decay and cycles rests", "[inference][schedule]") {
  const Schedule schedule({.step_size = 0.8});
  for (const std::int64_t t : {0, 1, 1000}) {
    CHECK(schedule.step_size(t) == 0.8);
    CHECK(schedule.temperature(t) == 1);
    CHECK_FALSE(schedule.exploring(t));
  }
}

TEST_CASE("a step size decays as (1 + t/τ)^−γ", "[inference][schedule]") {
  const Schedule square({.step_size = 0.8, .step_decay_steps = 4, .step_decay_exponent = 2});
  CHECK(square.step_size(0) == Approx(0.8));
  CHECK(square.step_size(4) == Approx(0.2));    // 0.8/2²
  CHECK(square.step_size(12) == Approx(0.05));  // 0.8/4²
  // 0.001 k^(−1/3) of Deng et al. 2019 at k = t + 1 = 8
  const Schedule cubic_root({.step_size = 0.001, .step_decay_steps = 1, .step_decay_exponent = 1.0 / 3});
  CHECK(cubic_root.step_size(7) == Approx(0.0005));
}

TEST_CASE("in a cycle the step size falls by half a cosine and then begins anew", "[inference][schedule]") {
  const Schedule schedule({.step_size = 2, .cycle_steps = 8});
  CHECK(schedule.step_size(0) == Approx(2));
  CHECK(schedule.step_size(2) == Approx(1 + std::sqrt(0.5)));  // cos(π/4) = √½
  CHECK(schedule.step_size(4) == Approx(1));
  CHECK(schedule.step_size(6) == Approx(1 - std::sqrt(0.5)));
  CHECK(schedule.step_size(8) == Approx(2));
  CHECK(schedule.step_size(12) == Approx(1));
  const Schedule decaying({.step_size = 2, .step_decay_steps = 4, .cycle_steps = 8});
  CHECK(decaying.step_size(4) == Approx(0.5));      // 2/(1 + 4/4), half of it
  CHECK(decaying.step_size(8) == Approx(2.0 / 3));  // 2/(1 + 8/4)
}

TEST_CASE("a lowered step size is lower by the product of its factors, also where it is restored",
          "[inference][schedule]") {
  Schedule schedule({.step_size = 0.8, .step_decay_steps = 4});
  schedule.scale_step_size(0.5);
  schedule.scale_step_size(0.5);
  CHECK(schedule.step_size(0) == Approx(0.2));
  CHECK(schedule.step_size(4) == Approx(0.1));
  Snapshot state;
  schedule.save(state);
  Schedule other({.step_size = 0.8});
  other.restore(state);
  CHECK(other.step_size(9) == Approx(0.2));
}

TEST_CASE("the temperature falls by its factor every few steps, and as a power of the step", "[inference][schedule]") {
  const Schedule steps({}, {.temperature = 2, .temperature_decay = 0.5, .temperature_decay_steps = 3});
  CHECK(steps.temperature(0) == Approx(2));
  CHECK(steps.temperature(2) == Approx(2));
  CHECK(steps.temperature(3) == Approx(1));
  CHECK(steps.temperature(8) == Approx(0.5));
  const Schedule annealed({}, {.temperature = 2, .annealing_exponent = 0.5});
  CHECK(annealed.temperature(0) == Approx(2));
  CHECK(annealed.temperature(3) == Approx(1));  // 2/√4
  const Schedule both({}, {.temperature_decay = 0.5, .temperature_decay_steps = 3, .annealing_exponent = 1});
  CHECK(both.temperature(3) == Approx(0.125));  // 0.5/4
}

TEST_CASE("the first part of every cycle explores without noise", "[inference][schedule]") {
  const Schedule schedule({.cycle_steps = 10}, {.temperature = 3, .exploration_share = 0.8});
  for (const std::int64_t t : {0, 7, 10, 17}) {
    CHECK(schedule.exploring(t));
    CHECK(schedule.temperature(t) == 0);
  }
  for (const std::int64_t t : {8, 9, 18, 19}) {
    CHECK_FALSE(schedule.exploring(t));
    CHECK(schedule.temperature(t) == 3);
  }
  const Schedule never({.cycle_steps = 10}, {.exploration_share = 0});
  CHECK_FALSE(never.exploring(0));
}

TEST_CASE("a schedule refuses what is out of range by name", "[inference][schedule]") {
  CHECK_ERROR(Schedule({.step_size = 0}), usage, "'step_size'");
  CHECK_ERROR(Schedule({.step_decay_steps = -1}), usage, "'step_decay_steps'");
  CHECK_ERROR(Schedule({.step_decay_exponent = 0}), usage, "'step_decay_exponent'");
  CHECK_ERROR(Schedule({.cycle_steps = -1}), usage, "'cycle_steps'");
  CHECK_ERROR(Schedule({}, {.temperature = -1}), usage, "'temperature'");
  CHECK_ERROR(Schedule({}, {.temperature_decay = 0}), usage, "'temperature_decay'");
  CHECK_ERROR(Schedule({}, {.temperature_decay_steps = 0}), usage, "'temperature_decay_steps'");
  CHECK_ERROR(Schedule({}, {.exploration_share = 1}), usage, "'exploration_share'");
}

TEST_CASE("a sampler moves by the step size and temperature of its step, and says when it explores",
          "[inference][schedule]") {
  Quadratic<double> target(1, 2, 0);
  Particles<double> particles(target.layout(), 1);
  particles.values()(0, 0) = 1;
  Sgld<double> sampler({.step = {.step_size = 0.1, .cycle_steps = 4},
                        .temperature = {.temperature = 0.5, .annealing_exponent = 1, .exploration_share = 0.5}},
                       ensemble_of(1, 1, 7));
  const double quarter = std::sqrt(0.5);  // cos(π/4)
  const double h[] = {0.1, 0.05 * (1 + quarter), 0.05, 0.05 * (1 - quarter), 0.1};
  const double temperature[] = {0, 0, 0.5 / 3, 0.5 / 4, 0};
  double x = 1;
  for (std::uint64_t t = 0; t < 5; ++t) {
    const StepReport report = sampler.step(particles, target, {});
    const double normal = normal_at<double>({.seed = 7, .step = t, .stream = Stream::sampler}, 0, 0);
    x += -2 * h[t] * x + std::sqrt(2 * h[t] * temperature[t]) * normal;
    CHECK(report.exploring == (temperature[t] == 0));
    CHECK(particles.values()(0, 0) == Approx(x).epsilon(1e-12));
  }
}

TEST_CASE("in the warm-up the decays make a plain mean, then they are the one that was asked for",
          "[inference][schedule]") {
  const AveragedSquareOptions options{.decay = 0.75, .warm_up = 3};
  double mean = 100;  // forgotten at t = 0
  for (const auto& [t, square] : {std::pair{0, 4.0}, {1, 10.0}, {2, 1.0}}) {
    CHECK(options.warming_up(t));
    mean = options.decay_at(t) * mean + (1 - options.decay_at(t)) * square;
  }
  CHECK(mean == Approx(5));  // (4 + 10 + 1)/3
  CHECK_FALSE(options.warming_up(3));
  CHECK(options.decay_at(3) == 0.75);
  const AveragedSquareOptions none{.decay = 0.75};
  CHECK_FALSE(none.warming_up(0));
  CHECK(none.decay_at(0) == 0.75);
}

TEST_CASE("the squared gradient is that of the joint, or is divided by N", "[inference][schedule]") {
  CHECK(AveragedSquareOptions{.square_of = SquareOf::joint}.gradient_scale(8) == 1);
  CHECK(AveragedSquareOptions{.square_of = SquareOf::joint}.gradient_scale(0) == 1);
  const AveragedSquareOptions mean{.square_of = SquareOf::mean};
  CHECK(mean.gradient_scale(8) == 0.125);
  CHECK_ERROR(mean.gradient_scale(0), usage, "square_of=mean", "N = 0");
}

TEST_CASE("thermostats rest while a cycle looks for a mode", "[inference][schedule]") {
  // Without noise momenta go to 0; a thermostat that followed them would grow, or fall, as long as the search lasts.
  Quadratic<double> target(3, 1, 0);
  const StepSizeOptions step{.step_size = 0.05, .cycle_steps = 40};
  const TemperatureOptions half{.exploration_share = 0.5};
  const auto check = [&](auto sampler, auto thermostat) {
    CAPTURE(sampler.name());
    Particles<double> particles(target.layout(), 2);
    for (std::int64_t i = 0; i < 2; ++i) std::ranges::fill(particles.values().row(i), 1.0);
    double last = 0;
    for (std::int64_t t = 0; t < 80; ++t) {
      const bool exploring = sampler.step(particles, target, {.data_size = 1}).exploring;
      const double now = thermostat(sampler);
      if (t > 0) CHECK((now == last) == exploring);
      last = now;
    }
  };
  struct OneEach : Sgnht<double> {
    using Sgnht<double>::Sgnht;
    double first() const { return this->thermostats_[0]; }
  };
  const SgnhtOptions sgnht{.step = step, .temperature = half};
  SgnhtOptions particle = sgnht;
  particle.thermostat = Thermostat::particle;
  check(Sgnht<double>(sgnht, ensemble_of(2, 3, 1)), [](const auto& s) { return s.state(1)(0, 0); });
  check(OneEach(particle, ensemble_of(2, 3, 1)), [](const auto& s) { return s.first(); });
  check(Santa<double>({.step = step, .temperature = half, .square = {.warm_up = 0}}, ensemble_of(2, 3, 1)),
        [](const auto& s) { return s.state(2)(0, 0); });
}
