#include <stein/core/error.h>
#include <stein/supervised/classification/table_rows.h>

#include <algorithm>
#include <utility>

namespace stein::supervised {

TableRows::TableRows(inference::Matrix<float> inputs, std::vector<std::int64_t> labels, MinibatchScale scale)
    : inputs_(std::move(inputs)), labels_(std::move(labels)), scale_(scale) {
  STEIN_CHECK(labels_.empty() || std::ssize(labels_) == inputs_.rows(), "expected {} labels, got {}", inputs_.rows(),
              labels_.size());
}

inference::Inputs<float> TableRows::inputs(std::span<const std::int64_t> rows) {
  if (asked_.rows() < std::ssize(rows)) asked_ = inference::Matrix<float>(std::ssize(rows), inputs_.columns());
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(inputs_.row(rows[i]), asked_.row(static_cast<std::int64_t>(i)).begin());
  inference::Inputs<float> inputs;
  inputs.dense = std::as_const(asked_).view().block(0, std::ssize(rows));
  return inputs;
}

inference::Inputs<float> TableRows::training_inputs(std::span<const std::int64_t> rows, const NoiseKey& /*key*/) {
  const inference::Inputs<float> found = inputs(rows);
  if (scale_ == MinibatchScale::of_minibatch) standardise_columns(asked_.view().block(0, std::ssize(rows)));
  return found;
}

}  // namespace stein::supervised
