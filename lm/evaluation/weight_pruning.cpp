#include <stein/core/error.h>
#include <stein/inference/parameterizations/softplus.h>
#include <stein/lm/evaluation/weight_pruning.h>

#include <algorithm>
#include <cmath>

namespace stein::lm {

WeightPruning::WeightPruning(training::WeightSampler& weights) : layout_(weights.posterior().weight_layout()) {
  inference::Matrix<float> memory;
  const bool variational = weights.kind() == training::MethodKind::variational;
  const std::span<const float> row =
      (variational ? weights.mean_weights(memory) : weights.draw_weights({}, memory)).row(0);
  weights_.assign(row.begin(), row.end());
  std::vector<float> signal(weights_.size());
  const inference::Layout& coordinates = weights.particles().layout();
  for (const inference::LayoutEntry& entry : layout_.entries()) {
    if (!entry.is_weight()) continue;
    const inference::LayoutEntry* const spread = coordinates.find(entry.name + ".log_deviation");
    for (std::int64_t k = 0; k < entry.size(); ++k) {
      const std::int64_t place = entry.offset + k;
      const double deviation =
          spread == nullptr ? 1.0 : inference::softplus(double{weights.particles().values()(0, spread->offset + k)});
      signal[static_cast<std::size_t>(place)] =
          static_cast<float>(std::abs(weights_[static_cast<std::size_t>(place)]) / deviation);
      order_.push_back(place);
    }
  }
  std::ranges::stable_sort(order_, {}, [&](std::int64_t place) { return signal[static_cast<std::size_t>(place)]; });
}

std::size_t WeightPruning::gone(double share) const {
  STEIN_CHECK(share >= 0 && share < 1, "the share of pruned weights must be in [0, 1), got {}", share);
  return static_cast<std::size_t>(share * static_cast<double>(order_.size()));
}

std::vector<float> WeightPruning::pruned(double share) const {
  std::vector<float> left = weights_;
  for (std::size_t k = 0; k < gone(share); ++k) left[static_cast<std::size_t>(order_[k])] = 0;
  return left;
}

std::vector<std::uint8_t> WeightPruning::pattern(double share, const std::string& entry) const {
  const inference::LayoutEntry& matrix = layout_.at(entry);
  std::vector<std::uint8_t> found(static_cast<std::size_t>(matrix.size()));
  for (std::size_t k = 0; k < gone(share); ++k)
    if (const std::int64_t place = order_[k] - matrix.offset; place >= 0 && place < matrix.size())
      found[static_cast<std::size_t>(place)] = 1;
  return found;
}

}  // namespace stein::lm
