#include <stein/core/rng.h>
#include <stein/policies/uniform.h>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<Uniform>("uniform", "every arm with the same probability");

}  // namespace

Uniform::Uniform(const Options&, const envs::BanditSpec& spec, std::uint64_t seed) : spec_(spec), seed_(seed) {}

Decision Uniform::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  const std::int64_t choices = context.choices(spec_);
  Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
  Decision decision{.action = context.arm(draws.integer(static_cast<std::uint32_t>(choices)))};
  if (wanted == Propensities::exact) {
    propensities_.assign(static_cast<std::size_t>(choices), 1.0 / static_cast<double>(choices));
    decision.propensities = propensities_;
  }
  return decision;
}

}  // namespace stein::policies
