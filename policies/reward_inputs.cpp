#include <stein/core/error.h>
#include <stein/policies/reward_inputs.h>

#include <algorithm>
#include <numeric>

namespace stein::policies {

using inference::Inputs;

RewardInputs::RewardInputs(RewardNetwork network, const envs::BanditSpec& spec)
    : spec_(spec),
      joint_(network == RewardNetwork::joint || (network == RewardNetwork::automatic && spec.arm_features > 0)),
      ones_only_(spec.active_columns > 0 && spec.arm_features == 0),
      columns_(spec.context_size) {
  if (joint_) columns_ += spec.arm_features > 0 ? spec.arm_features : spec.arms;
  STEIN_CHECK(
      columns_ > 0,
      "a network has nothing to look at: '{}' has no context and no features of arms; with network=joint it sees "
      "which arm it is, and linear policies need neither",
      spec.name);
}

Inputs<float> RewardInputs::of_context(const envs::Context& context) {
  context.check(spec_);
  if (!joint_) return shared_rows(context.dense, context.active, 1);
  const std::int64_t rows = context.choices(spec_), width = spec_.arm_features;
  make_room(rows);
  for (std::int64_t k = 0; k < rows; ++k)
    write_row(k, context,
              context.arm_features.subspan(static_cast<std::size_t>(k * width), static_cast<std::size_t>(width)),
              context.arm(k));
  return written_rows(rows);
}

std::span<const std::int32_t> RewardInputs::places(const envs::Context& context) {
  if (!joint_ && !context.present.empty()) return context.present;
  const auto choices = static_cast<std::size_t>(context.choices(spec_));
  if (counted_.size() < choices) {
    counted_.resize(choices);
    std::iota(counted_.begin(), counted_.end(), 0);
  }
  return std::span(counted_).first(choices);
}

Inputs<float> RewardInputs::of_batch(const InteractionBatch& batch) {
  if (!joint_) return shared_rows(batch.dense, batch.active, batch.rows);
  make_room(batch.rows);
  for (std::int64_t i = 0; i < batch.rows; ++i) {
    const envs::Context seen = context_of(batch, i, spec_);
    write_row(i, seen, seen.arm_features, seen.arm(0));
  }
  return written_rows(batch.rows);
}

std::span<const std::int32_t> RewardInputs::outputs_of(const InteractionBatch& batch) {
  if (!joint_) return batch.actions;
  zeros_.resize(batch.actions.size());
  return zeros_;
}

Inputs<float> RewardInputs::shared_rows(std::span<const float> dense, std::span<const std::int32_t> active,
                                        std::int64_t rows) const {
  Inputs<float> inputs;
  if (spec_.active_columns > 0)
    inputs.ones = {active.data(), rows, spec_.active_columns};
  else
    inputs.dense = {dense.data(), rows, spec_.context_size};
  return inputs;
}

void RewardInputs::make_room(std::int64_t rows) {
  if (ones_only_)
    ones_.resize(static_cast<std::size_t>(rows * (spec_.active_columns + 1)));
  else
    dense_.assign(static_cast<std::size_t>(rows * columns_), 0);
}

void RewardInputs::write_row(std::int64_t row, const envs::Context& shared, std::span<const float> features,
                             std::int64_t arm) {
  const std::int64_t size = spec_.context_size;
  if (ones_only_) {
    const auto end = std::ranges::copy(shared.active, ones_.begin() + row * (spec_.active_columns + 1)).out;
    *end = static_cast<std::int32_t>(size + arm);
    return;
  }
  float* const to = dense_.data() + row * columns_;
  std::ranges::copy(shared.dense, to);
  for (const std::int32_t column : shared.active) to[column] = 1;
  if (features.empty())
    to[size + arm] = 1;
  else
    std::ranges::copy(features, to + size);
}

Inputs<float> RewardInputs::written_rows(std::int64_t rows) const {
  Inputs<float> inputs;
  if (ones_only_)
    inputs.ones = {ones_.data(), rows, spec_.active_columns + 1};
  else
    inputs.dense = {dense_.data(), rows, columns_};
  return inputs;
}

}  // namespace stein::policies
