// How contexts and arms become rows for a network that predicts rewards, and which of its numbers belongs to which arm.
#pragma once

#include <stein/envs/bandit_spec.h>
#include <stein/inference/batch.h>
#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::policies {

/// Which function predicts rewards.
enum class RewardNetwork {
  automatic,  ///< joint where arms have features, else heads
  heads,      ///< what all arms share ↦ the rewards of all arms, an output an arm; features of arms are not seen
  joint,      ///< what all arms share, and one arm ↦ its reward; asked for every arm that can be chosen
};

/// The rows that a reward network sees. A joint network sees the context and behind it the features of the arm; of a
/// bandit whose arms have none, the arm's number as one-hot columns ("the pair (context, one-hot action)", Blundell et
/// al. 2015). Rows are positions of ones where all their columns are one-hot, dense numbers otherwise.
class RewardInputs {
 public:
  RewardInputs(RewardNetwork network, const envs::BanditSpec& spec);

  /// Whether the features of an arm, or its number, stand in its rows: a row an arm, and one output.
  bool joint() const { return joint_; }
  /// D: columns of a row.
  std::int64_t columns() const { return columns_; }
  /// Ones of a row; 0 where rows are dense numbers.
  std::int64_t ones() const { return !joint_ ? spec_.active_columns : ones_only_ ? spec_.active_columns + 1 : 0; }
  /// K: outputs of the network.
  std::int64_t outputs() const { return joint_ ? 1 : spec_.arms; }

  /// The rows of a context: one, or one for every arm that can be chosen. Valid until the next call. Throws
  /// Error(usage) if the context has another shape than the bandit's.
  inference::Inputs<float> of_context(const envs::Context& context);
  /// The place of the reward of every arm that can be chosen among the numbers that a network answers to `of_context`,
  /// [rows · K] row by row. Valid as long as the context and until the next call.
  std::span<const std::int32_t> places(const envs::Context& context);

  /// A row for every interaction. Valid until the next call, and as long as the batch.
  inference::Inputs<float> of_batch(const InteractionBatch& batch);
  /// The output that predicts the reward of each interaction, [n]. Valid until the next call, and as long as the
  /// batch.
  std::span<const std::int32_t> outputs_of(const InteractionBatch& batch);

 private:
  inference::Inputs<float> shared_rows(std::span<const float> dense, std::span<const std::int32_t> active,
                                       std::int64_t rows) const;
  void make_room(std::int64_t rows);
  /// Row `row` of a joint network. @param shared, features  of the context and of the arm alone
  void write_row(std::int64_t row, const envs::Context& shared, std::span<const float> features, std::int64_t arm);
  inference::Inputs<float> written_rows(std::int64_t rows) const;

  envs::BanditSpec spec_;
  bool joint_;
  bool ones_only_;  ///< of a joint network: all columns are one-hot
  std::int64_t columns_;
  std::vector<float> dense_;                   ///< [rows · D] of a joint network
  std::vector<std::int32_t> ones_;             ///< [rows · (active columns + 1)] of a joint network
  std::vector<std::int32_t> counted_, zeros_;  ///< 0, 1, 2, …; 0, 0, 0, …
};

}  // namespace stein::policies
