// A network at weights that stay as they are, for many predictions.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/storage/matrix_view.h>

namespace stein::inference {

/// What `Model::predictor` gives. One call at a time.
template <class Scalar>
class Predictor {
 public:
  virtual ~Predictor() = default;

  /// Writes what `Model::predict` writes for one row of weights, the same bits.
  /// @param outputs  [r, K]
  virtual void predict(const Inputs<Scalar>& inputs, MatrixView<Scalar> outputs) = 0;
};

}  // namespace stein::inference
