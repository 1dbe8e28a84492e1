#include <stein/core/rng.h>
#include <stein/envs/logistic.h>

#include <cmath>

namespace stein::envs {
namespace {

const bool registered = register_bandit<Logistic>("logistic", "rewards 0 and 1, log-odds linear in the context");

double logistic(double score) {
  return 1 / (1 + std::exp(-score));
}

}  // namespace

Logistic::Logistic(const Options& options, const DataSource&)
    : scale_(options.scale),
      scores_(options.arms, options.context_size, options.nonzero, static_cast<std::uint64_t>(options.instance)),
      expected_(static_cast<std::size_t>(options.arms)) {
  const double largest = scale_ * scores_.largest_score();
  // x and −x are equally likely, and so are p and 1 − p: a uniform context gives a fair coin, of deviation ½.
  spec_ = {.name = "logistic",
           .arms = options.arms,
           .context_size = options.context_size,
           .reward_low = logistic(-largest),
           .reward_high = logistic(largest),
           .reward_deviation = 0.5,
           .data = "synthetic",
           .source = fmt::format("Bernoulli(logistic({} x.beta)), instance {}", scale_, options.instance)};
  Logistic::observe(0, 0);
}

Context Logistic::observe(std::uint64_t seed, std::int64_t step) {
  seed_ = seed;
  step_ = step;
  scores_.observe(seed, step);
  for (std::size_t arm = 0; arm < expected_.size(); ++arm) expected_[arm] = logistic(scale_ * scores_.scores()[arm]);
  return {.dense = scores_.context(), .active = {}};
}

double Logistic::reward(std::int64_t arm) {
  check_arm(spec_, arm);
  Draws draws({seed_, static_cast<std::uint64_t>(step_), Stream::reward}, static_cast<std::uint32_t>(arm));
  return draws.uniform() < expected_[static_cast<std::size_t>(arm)] ? 1 : 0;
}

}  // namespace stein::envs
