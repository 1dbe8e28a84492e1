// Rows of a table with a class each.
#pragma once

#include <stein/inference/storage/matrix.h>
#include <stein/supervised/network/minibatch_scale.h>
#include <stein/training/labelled_rows.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::supervised {

/// Numbers of each row, as an encoding made them, and its class.
class TableRows final : public training::LabelledRows {
 public:
  /// @param inputs  [n, D]
  /// @param labels  [n]; empty of rows whose classes are not known
  TableRows(inference::Matrix<float> inputs, std::vector<std::int64_t> labels,
            MinibatchScale scale = MinibatchScale::of_set);

  std::int64_t count() const override { return inputs_.rows(); }
  std::int64_t label(std::int64_t row) const override {
    return labels_.empty() ? 0 : labels_[static_cast<std::size_t>(row)];
  }
  inference::Inputs<float> inputs(std::span<const std::int64_t> rows) override;
  inference::Inputs<float> training_inputs(std::span<const std::int64_t> rows, const NoiseKey& key) override;

 private:
  inference::Matrix<float> inputs_, asked_;
  std::vector<std::int64_t> labels_;
  MinibatchScale scale_;
};

}  // namespace stein::supervised
