// The data that one gradient looks at.
#pragma once

#include <stein/core/error.h>
#include <stein/inference/output_score.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <span>

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
  double data_size = 0;   ///< N, in rows; log-likelihoods are scaled by N/n
  /// Takes the place of the model's likelihood, its targets and row weights included; null: the model's own.
  const OutputScore<Scalar>* score = nullptr;
  std::int64_t first_particle = 0;  ///< what `score` calls the first of the particles that see this batch
};

/// What `count` particles from `first` on see of `batch`: their own rows where every particle has some, and all the
/// rows that are shared. For a single particle its own rows count as shared. Throws Error(usage) if the batch has no
/// rows for those particles.
template <class Scalar>
Batch<Scalar> share_of(const Batch<Scalar>& batch, std::int64_t first, std::int64_t count) {
  const auto own = [&](auto rows) {
    STEIN_CHECK((first + count) * batch.rows <= rows.rows,
                "batch: expected {} rows for each of {} particles, got {} in all", batch.rows, first + count,
                rows.rows);
    return rows.block(first * batch.rows, count * batch.rows);
  };
  Batch<Scalar> share = batch;
  share.first_particle += first;
  if (batch.inputs_per_particle && batch.inputs.one_hot()) share.inputs.indices = own(batch.inputs.indices);
  if (batch.inputs_per_particle && !batch.inputs.one_hot()) share.inputs.dense = own(batch.inputs.dense);
  if (batch.targets_per_particle) share.targets = own(batch.targets);
  share.inputs_per_particle = batch.inputs_per_particle && count > 1;
  share.targets_per_particle = batch.targets_per_particle && count > 1;
  return share;
}

}  // namespace stein::inference
