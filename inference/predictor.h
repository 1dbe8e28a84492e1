// A network at weights that stay as they are, for many predictions.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/storage/matrix_view.h>

#include <span>

namespace stein::inference {

/// What `Model::predictor` gives. One call at a time.
template <class Scalar>
class Predictor {
 public:
  virtual ~Predictor() = default;

  /// Writes what `Model::predict` writes for one row of weights, the same bits.
  /// @param outputs  [r, K]
  virtual void predict(const Inputs<Scalar>& inputs, MatrixView<Scalar> outputs) = 0;

  /// Writes log p of one class of every row of outputs, which are logits; 0 where the class is negative. A network on a
  /// device brings these numbers alone to the host.
  /// @param classes  [r]
  /// @param outputs  [r, K], working memory: what it then holds is not said
  /// @param log_probability  [r]
  virtual void log_probabilities(const Inputs<Scalar>& inputs, std::span<const Scalar> classes,
                                 MatrixView<Scalar> outputs, std::span<Scalar> log_probability);
};

}  // namespace stein::inference
