#include <stein/core/rng.h>
#include <stein/envs/linear.h>

#include <cmath>
#include <utility>

namespace stein::envs {
namespace {

const bool registered =
    register_bandit<Linear>("linear", "expected reward linear in the context") &&
    register_bandit<SparseLinear>("sparse-linear", "expected reward linear in a few columns of the context");

}  // namespace

Linear::Linear(const Options& options, const DataSource&) : Linear(options, options.context_size, "linear") {}

Linear::Linear(const Options& options, std::int64_t nonzero, std::string name)
    : noise_(options.noise),
      scores_(options.arms, options.context_size, nonzero, static_cast<std::uint64_t>(options.instance)) {
  const double largest = scores_.largest_score();
  // Contexts have identity covariance and coefficients unit length: x·β_a has mean 0 and variance 1 for every arm.
  spec_ = {.name = std::move(name),
           .arms = options.arms,
           .context_size = options.context_size,
           .reward_low = -largest,
           .reward_high = largest,
           .reward_deviation = std::sqrt(1 + noise_ * noise_),
           .data = "synthetic",
           .source = fmt::format("x.beta + noise, after Riquelme, Tucker & Snoek 2018, instance {}", options.instance)};
  Linear::observe(0, 0);
}

Context Linear::observe(std::uint64_t seed, std::int64_t step) {
  seed_ = seed;
  step_ = step;
  scores_.observe(seed, step);
  return {.dense = scores_.context(), .active = {}};
}

double Linear::reward(std::int64_t arm) {
  check_arm(spec_, arm);
  Draws draws({seed_, static_cast<std::uint64_t>(step_), Stream::reward}, static_cast<std::uint32_t>(arm));
  return scores_.scores()[static_cast<std::size_t>(arm)] + noise_ * draws.normal();
}

SparseLinear::SparseLinear(const Options& options, const DataSource&)
    : Linear(options, options.nonzero, "sparse-linear") {}

}  // namespace stein::envs
