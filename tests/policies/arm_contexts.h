// Contexts with features of arms and arms that come and go, for tests of policies.
#pragma once

#include <stein/core/rng.h>
#include <stein/envs/bandit_spec.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stein::test {

/// The context of these numbers, while they last.
inline envs::Context at(const std::vector<float>& x) {
  return {.dense = x, .active = {}};
}

/// Draws contexts; each is a function of its step.
class ArmContexts {
 public:
  /// What arms share: four numbers, two of seven columns that are one, or nothing.
  enum class Kind { dense, one_hot, none };
  struct Options {
    std::int64_t arms = 4, features = 3;
    bool some_present = false;  ///< two or three arms can be chosen in a context, else all
  };

  ArmContexts(Kind kind, const Options& options) : options_(options) {
    spec_ = {.name = "arms", .arms = options.arms, .arm_features = options.features};
    if (kind == Kind::dense) spec_.context_size = 4;
    if (kind == Kind::one_hot) spec_.context_size = 7, spec_.active_columns = 2;
  }

  const envs::BanditSpec& spec() const { return spec_; }

  /// Valid until the next call.
  const envs::Context& draw(std::int64_t step) {
    Draws draws({.seed = 77, .step = static_cast<std::uint64_t>(step), .stream = Stream::test}, 1);
    const auto normal = [&] { return static_cast<float>(draws.normal()); };
    dense_.resize(static_cast<std::size_t>(spec_.dense_columns()));
    std::ranges::generate(dense_, normal);
    active_ = {static_cast<std::int32_t>(draws.integer(3)), static_cast<std::int32_t>(3 + draws.integer(4))};
    present_.clear();
    if (options_.some_present) {
      const auto first = static_cast<std::int32_t>((7 * step) % options_.arms);
      for (std::int32_t k = 0; k < 2 + static_cast<std::int32_t>(step % 2); ++k)
        present_.push_back((first + 2 * k) % static_cast<std::int32_t>(options_.arms));
    }
    context_ = {.dense = dense_, .present = present_};
    if (spec_.active_columns > 0) context_.active = active_;
    features_.resize(static_cast<std::size_t>(context_.choices(spec_) * options_.features));
    std::ranges::generate(features_, normal);
    context_.arm_features = features_;
    return context_;
  }

 private:
  Options options_;
  envs::BanditSpec spec_;
  envs::Context context_;
  std::vector<float> dense_, features_;
  std::vector<std::int32_t> active_, present_;
};

}  // namespace stein::test
