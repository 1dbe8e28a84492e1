#include <stein/core/error.h>
#include <stein/inference/parameterizations/softplus.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/lm/evaluation/weight_pruning.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stein::lm {

WeightPruning::WeightPruning(training::NetworkWeights& weights)
    : layout_(weights.posterior().weight_layout()), device_(weights.particles().device()) {
  weights_ = weights.host_weights_now();
  const std::span<const float> row = std::as_const(weights_).row(0);
  const inference::Matrix<float> places =
      inference::host_copy<float>(std::as_const(weights.particles()).values().block(0, 1), device_);
  std::vector<float> signal(row.size());
  const inference::Layout& coordinates = weights.particles().layout();
  for (const inference::LayoutEntry& entry : layout_.entries()) {
    if (!entry.is_weight()) continue;
    const inference::LayoutEntry* const spread = coordinates.find(entry.name + ".log_deviation");
    by_noise_ |= spread != nullptr;
    for (std::int64_t k = 0; k < entry.size(); ++k) {
      const std::int64_t place = entry.offset + k;
      const double deviation =
          spread == nullptr ? 1.0 : inference::softplus(double{places.view()(0, spread->offset + k)});
      signal[static_cast<std::size_t>(place)] =
          static_cast<float>(std::abs(row[static_cast<std::size_t>(place)]) / deviation);
      order_.push_back(place);
    }
  }
  std::ranges::stable_sort(order_, {}, [&](std::int64_t place) { return signal[static_cast<std::size_t>(place)]; });
}

std::size_t WeightPruning::gone(double share) const {
  STEIN_CHECK(share >= 0 && share < 1, "the share of pruned weights must be in [0, 1), got {}", share);
  return static_cast<std::size_t>(share * static_cast<double>(order_.size()));
}

inference::Matrix<float> WeightPruning::pruned(double share) const {
  inference::Matrix<float> left = weights_;
  for (std::size_t k = 0; k < gone(share); ++k) left.row(0)[static_cast<std::size_t>(order_[k])] = 0;
  return left.to(device_);
}

std::vector<std::uint8_t> WeightPruning::pattern(double share, const std::string& entry) const {
  const inference::LayoutEntry& matrix = layout_.at(entry);
  std::vector<std::uint8_t> found(static_cast<std::size_t>(matrix.size()));
  for (std::size_t k = 0; k < gone(share); ++k)
    if (const std::int64_t place = order_[k] - matrix.offset; place >= 0 && place < matrix.size())
      found[static_cast<std::size_t>(place)] = 1;
  return found;
}

std::vector<PrunedMatrix> WeightPruning::patterns(double share, std::int64_t cells) const {
  STEIN_CHECK(cells >= 1, "expected a grid of at least 1 cell, got {}", cells);
  std::vector<PrunedMatrix> found;
  for (const inference::LayoutEntry& entry : layout_.entries()) {
    if (!entry.is_weight() || entry.rows() == 1 || entry.columns() == 1) continue;
    PrunedMatrix matrix{.name = entry.name,
                        .rows = entry.rows(),
                        .columns = entry.columns(),
                        .down = std::min(cells, entry.rows()),
                        .across = std::min(cells, entry.columns())};
    const auto size = static_cast<std::size_t>(matrix.down * matrix.across);
    std::vector<double> sizes(size);
    matrix.share.resize(size);
    const std::vector<std::uint8_t> gone = pattern(share, entry.name);
    for (std::int64_t i = 0; i < matrix.rows; ++i)
      for (std::int64_t j = 0; j < matrix.columns; ++j) {
        const auto cell = static_cast<std::size_t>(i * matrix.down / matrix.rows * matrix.across +
                                                   j * matrix.across / matrix.columns);
        matrix.share[cell] += gone[static_cast<std::size_t>(i * matrix.columns + j)];
        sizes[cell] += 1;
      }
    for (std::size_t cell = 0; cell < size; ++cell) matrix.share[cell] /= sizes[cell];
    found.push_back(std::move(matrix));
  }
  return found;
}

}  // namespace stein::lm
