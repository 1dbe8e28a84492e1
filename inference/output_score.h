// A number that somebody else gives the outputs of a network, in place of the model's own likelihood.
#pragma once

#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// Scores the outputs of a network: a policy gradient does (the outputs are the parameters of a distribution over
/// actions), and so does any likelihood that no model has built in.
template <class Scalar>
class OutputScore {
 public:
  virtual ~OutputScore() = default;

  /// Whether what `score` returns is the number whose gradient it writes.
  virtual bool has_value() const { return true; }

  /// Scores some rows of the batch that belong to one particle. Different rows may be scored at the same time.
  /// @param particle           position of the particle in the call that the batch was given to; where S rows of
  ///                           weights stand for one particle, each of them is scored as that particle
  /// @param first              the batch row that `outputs` begins with
  /// @param outputs            [count, K]
  /// @param constants          the model's constant outputs, the same for all rows; empty if it has none
  /// @param gradient           [count, K], all zeros; ∂ score/∂ outputs is to be written
  /// @param constant_gradient  ∂ score/∂ constants is to be added
  /// @returns the sum of the scores of these rows; meaningless without has_value()
  virtual double score(std::int64_t particle, std::int64_t first, MatrixView<const Scalar> outputs,
                       std::span<const Scalar> constants, MatrixView<Scalar> gradient,
                       std::span<Scalar> constant_gradient) const = 0;
};

}  // namespace stein::inference
