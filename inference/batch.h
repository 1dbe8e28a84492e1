// The data that one gradient looks at.
#pragma once

#include <stein/inference/matrix_view.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace stein::inference {

/// Inputs of n rows: dense numbers [n, D], or for each row the positions of its ones (or tokens) [n, A]. One of the
/// two.
template <class Scalar>
struct Inputs {
  MatrixView<const Scalar> dense{};
  MatrixView<const std::int32_t> indices{};

  std::int64_t rows() const { return dense.data != nullptr ? dense.rows : indices.rows; }
  bool one_hot() const { return indices.data != nullptr; }
};

/// n rows of data out of N, and how they are weighted and masked.
template <class Scalar>
struct Batch {
  Inputs<Scalar> inputs{};  ///< [n, ·]; [M·n, ·] if `inputs_per_particle`
  /// [n, ·], one column where `outputs` chooses; [M·n, ·] if `targets_per_particle`; a class is its number, as a Scalar
  MatrixView<const Scalar> targets{};
  /// [n] the one output that each row trains (the chosen arm); empty: all of them
  std::span<const std::int32_t> outputs{};
  std::span<const Scalar> row_weights{};  ///< [n] multiplies a row's log-likelihood, may be negative; empty: 1
  MatrixView<const Scalar> input_mask{};  ///< [n, D] multiplies dense inputs; empty: 1
  bool inputs_per_particle = false;
  bool targets_per_particle = false;
  std::int64_t rows = 0;  ///< n
  double data_size = 0;   ///< N, counted in `unit`; log-likelihoods are scaled by N/n
  std::string_view unit = "rows";
};

}  // namespace stein::inference
