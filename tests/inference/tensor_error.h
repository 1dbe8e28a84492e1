// How far a driver in float is from its reference in double.
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/storage/matrix_view.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace stein::inference {

struct TensorError {
  double relative = 0;  ///< ‖found − expected‖ / ‖expected‖ of one tensor over all rows, the largest of them
  std::string tensor;   ///< the tensor that has it
};

/// The largest relative error over the tensors of `layout` (no padding); infinite if a tensor of zeros is not met by
/// zeros.
inline TensorError largest_tensor_error(const Layout& layout, MatrixView<const float> found,
                                        MatrixView<const double> expected) {
  TensorError worst;
  for (const LayoutEntry& entry : layout.entries()) {
    double difference = 0, norm = 0;
    for (std::int64_t i = 0; i < expected.rows; ++i)
      for (std::int64_t j = entry.offset; j < entry.offset + entry.size(); ++j) {
        difference += std::pow(found(i, j) - expected(i, j), 2);
        norm += std::pow(expected(i, j), 2);
      }
    const double relative = difference == 0 ? 0 : std::sqrt(difference / norm);
    if (!(relative <= worst.relative)) worst = {relative, entry.name};
  }
  return worst;
}

}  // namespace stein::inference
