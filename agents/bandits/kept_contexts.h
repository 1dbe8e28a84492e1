// Copies of contexts, which their environment forgets with the next one.
#pragma once

#include <stein/envs/bandit_spec.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::agents {

/// Contexts one after the other. Their memory is used again after `clear`.
class KeptContexts {
 public:
  void clear() { contexts_.clear(); }
  void add(const envs::Context& context) {
    if (contexts_.size() == numbers_.size()) numbers_.emplace_back();
    Numbers& own = numbers_[contexts_.size()];
    own.dense.assign(context.dense.begin(), context.dense.end());
    own.active.assign(context.active.begin(), context.active.end());
    own.present.assign(context.present.begin(), context.present.end());
    own.arm_features.assign(context.arm_features.begin(), context.arm_features.end());
    contexts_.push_back(
        {.dense = own.dense, .active = own.active, .present = own.present, .arm_features = own.arm_features});
  }
  /// Valid until the next change.
  std::span<const envs::Context> all() const { return contexts_; }

 private:
  /// What the spans of a context point to.
  struct Numbers {
    std::vector<float> dense, arm_features;
    std::vector<std::int32_t> active, present;
  };
  std::vector<Numbers> numbers_;
  std::vector<envs::Context> contexts_;
};

}  // namespace stein::agents
