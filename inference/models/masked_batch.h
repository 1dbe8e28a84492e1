// A batch for models that have no place for an input mask.
#pragma once

#include <stein/inference/batch.h>

#include <vector>

namespace stein::inference {

/// The same rows with the mask multiplied into a copy of the dense inputs; the batch itself where it has none.
template <class Scalar>
class MaskedBatch {
 public:
  /// Throws Error(usage) unless a mask is one of the batch's rows and columns and the inputs are dense.
  explicit MaskedBatch(const Batch<Scalar>& batch) : batch_(batch) {
    const MatrixView<const Scalar> mask = batch.input_mask, dense = batch.inputs.dense;
    if (mask.data == nullptr) return;
    STEIN_CHECK(dense.data != nullptr && mask.rows == batch.rows && mask.columns == dense.columns,
                "batch: expected dense inputs under a mask [{}, {}], got inputs [{}, {}]", mask.rows, mask.columns,
                dense.rows, dense.columns);
    inputs_.resize(static_cast<std::size_t>(dense.rows * dense.columns));
    for (std::int64_t i = 0; i < dense.rows; ++i)
      for (std::int64_t j = 0; j < dense.columns; ++j)
        inputs_[static_cast<std::size_t>(i * dense.columns + j)] = dense(i, j) * mask(i % batch.rows, j);
    batch_.inputs.dense = {inputs_.data(), dense.rows, dense.columns};
    batch_.input_mask = {};
  }
  MaskedBatch(const MaskedBatch&) = delete;
  MaskedBatch& operator=(const MaskedBatch&) = delete;

  const Batch<Scalar>& batch() const { return batch_; }

 private:
  std::vector<Scalar> inputs_;
  Batch<Scalar> batch_;
};

}  // namespace stein::inference
