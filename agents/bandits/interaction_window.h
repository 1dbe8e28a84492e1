// The agent's memory: its last interactions, from which minibatches are drawn with replacement.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <vector>

namespace stein::agents {

/// A ring of the last `capacity` interactions. Nothing is allocated after construction.
class InteractionWindow {
 public:
  /// Room for `capacity` interactions with the bandit `spec`, and for one minibatch of `batch` of them.
  /// Throws Error(usage) unless both are at least 1.
  InteractionWindow(const envs::BanditSpec& spec, std::int64_t capacity, std::int64_t batch);

  /// Adds one interaction; the oldest leaves if the window is full. Throws Error(usage) if the context has another
  /// shape than the bandit's.
  void append(const envs::Context& context, std::int64_t action, double reward);
  /// Interactions in the window: N of the posterior.
  std::int64_t rows() const { return rows_; }

  /// A minibatch of `batch` rows drawn with replacement, keyed by (seed, update) alone; valid until the next call.
  /// Throws Error(usage) if the window is empty.
  policies::InteractionBatch draw(std::uint64_t seed, std::uint64_t update);

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved window has another shape.
  void restore(const Snapshot& snapshot);

 private:
  std::int64_t capacity_, batch_, context_size_, active_columns_;
  std::int64_t rows_ = 0;
  std::int64_t next_ = 0;  ///< slot of the next interaction

  std::vector<float> dense_;           ///< [capacity · context_size], or empty
  std::vector<std::int32_t> active_;   ///< [capacity · active_columns], or empty
  std::vector<std::int32_t> actions_;  ///< [capacity]
  std::vector<float> rewards_;         ///< [capacity]

  std::vector<float> batch_dense_;
  std::vector<std::int32_t> batch_active_, batch_actions_;
  std::vector<float> batch_rewards_;
};

}  // namespace stein::agents
