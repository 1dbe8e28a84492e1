// A learner's memory: its last interactions, from which minibatches are drawn with replacement.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>
#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <vector>

namespace stein::policies {

/// A ring of the last `capacity` interactions, or all of them. Nothing is allocated after construction, but what is to
/// hold all of them doubles when it is full.
class InteractionWindow {
 public:
  /// Room for `capacity` interactions with the bandit `spec` (0: for all that come), and for one minibatch of `batch`
  /// of them. Throws Error(usage) unless capacity ≥ 0 and batch ≥ 1.
  InteractionWindow(const envs::BanditSpec& spec, std::int64_t capacity, std::int64_t batch);

  /// Adds one interaction; the oldest leaves if the window is full. Throws Error(usage) if the context has another
  /// shape than the bandit's, or does not offer the arm.
  void append(const envs::Context& context, const Outcome& outcome);
  /// Interactions in the window: N of the posterior.
  std::int64_t rows() const { return rows_; }

  /// A minibatch of `batch` rows drawn with replacement, keyed by (seed, update) alone; valid until the next call.
  /// Throws Error(usage) if the window is empty.
  InteractionBatch draw(std::uint64_t seed, std::uint64_t update);

  /// All of the window, each interaction once, in no particular order; valid until the next `append`.
  InteractionBatch all() const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved window has another shape.
  void restore(const Snapshot& snapshot);

 private:
  void restore_numbers(const Snapshot& snapshot);
  /// Doubles the room.
  void grow();

  envs::BanditSpec spec_;
  bool keeps_all_;
  std::int64_t capacity_;  ///< so far
  std::int64_t batch_;
  std::int64_t appended_ = 0;  ///< interactions that have come
  std::int64_t rows_ = 0;
  std::int64_t next_ = 0;  ///< slot of the next interaction

  /// Rows of interactions, one array for each thing that is known of them.
  struct Rows {
    std::vector<float> dense;           ///< [rows · context_size], or empty
    std::vector<std::int32_t> active;   ///< [rows · active_columns], or empty
    std::vector<float> arm_features;    ///< [rows · arm_features] of the chosen arms
    std::vector<std::int32_t> actions;  ///< [rows]
    std::vector<float> rewards;         ///< [rows]
    std::vector<float> weights;         ///< [rows]
    std::vector<std::int64_t> numbers;  ///< [rows]

    void resize(const envs::BanditSpec& spec, std::int64_t rows);
    Rows(const envs::BanditSpec& spec, std::int64_t rows);
  };
  Rows kept_, drawn_;
  bool weighted_ = false;  ///< some weight is not 1
};

}  // namespace stein::policies
