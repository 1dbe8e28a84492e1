#include <stein/core/rng.h>
#include <stein/policies/uniform.h>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<Uniform>("uniform", "every arm with the same probability");

}  // namespace

Uniform::Uniform(const Options&, const envs::BanditSpec& spec, std::uint64_t seed)
    : seed_(seed), propensities_(static_cast<std::size_t>(spec.arms), 1.0 / static_cast<double>(spec.arms)) {}

Decision Uniform::decide(const envs::Context&, std::int64_t step) {
  Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
  return {.action = draws.integer(static_cast<std::uint32_t>(propensities_.size())), .propensities = propensities_};
}

}  // namespace stein::policies
