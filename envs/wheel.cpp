#include <stein/core/rng.h>
#include <stein/envs/wheel.h>

#include <cmath>
#include <numbers>

namespace stein::envs {
namespace {

const bool registered =
    register_bandit<Wheel>("wheel", "five arms on the unit disc; the large rewards lie outside radius delta");

/// Standard deviation of the reward of a uniform arm in a uniform context.
double deviation_of_wheel(double delta, double noise) {
  const double inside = delta * delta, quadrants = Wheel::arms - 1;
  const auto moment = [&](int power) {
    const double low = std::pow(Wheel::low_mean, power), safe = std::pow(Wheel::safe_mean, power);
    const double high = std::pow(Wheel::high_mean, power);
    return (quadrants * low + safe + (1 - inside) * (high - low)) / Wheel::arms;
  };
  return std::sqrt(moment(2) - moment(1) * moment(1) + noise * noise);
}

}  // namespace

Wheel::Wheel(const Options& options, const DataSource&) : options_(options) {
  spec_ = {.name = "wheel",
           .arms = arms,
           .context_size = 2,
           .reward_low = low_mean,
           .reward_high = high_mean,
           .reward_deviation = deviation_of_wheel(options.delta, options.noise),
           .data = "synthetic",
           .source = fmt::format("Riquelme, Tucker & Snoek 2018, section 5.4, delta = {}", options.delta)};
  Wheel::observe(0, 0);
}

Context Wheel::observe(std::uint64_t seed, std::int64_t step) {
  seed_ = seed;
  step_ = step;
  Draws draws({seed, static_cast<std::uint64_t>(step), Stream::context}, 0);
  const double radius = std::sqrt(draws.uniform()), angle = 2 * std::numbers::pi * draws.uniform();
  context_ = {static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle))};
  expected_ = mean_rewards(context_[0], context_[1], options_.delta);
  return {.dense = context_, .active = {}};
}

double Wheel::reward(std::int64_t arm) {
  check_arm(spec_, arm);
  Draws draws({seed_, static_cast<std::uint64_t>(step_), Stream::reward}, static_cast<std::uint32_t>(arm));
  return expected_[static_cast<std::size_t>(arm)] + options_.noise * draws.normal();
}

std::vector<BanditEnvironment::Probe> Wheel::probes() const {
  const auto halfway_out = static_cast<float>((1 + options_.delta) / 2 * std::numbers::sqrt2 / 2);
  return {{.name = "centre", .dense = {0, 0}, .active = {}},
          {.name = "outside (+,+)", .dense = {halfway_out, halfway_out}, .active = {}}};
}

std::array<double, Wheel::arms> Wheel::mean_rewards(double x, double y, double delta) {
  std::array<double, arms> means{low_mean, low_mean, low_mean, low_mean, safe_mean};
  if (x * x + y * y <= delta * delta) return means;
  const std::size_t quadrant = (x > 0 ? 0u : 2u) + (y > 0 ? 0u : 1u);
  means[quadrant] = high_mean;
  return means;
}

}  // namespace stein::envs
