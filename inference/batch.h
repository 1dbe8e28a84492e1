// The data that one gradient looks at.
#pragma once

#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/inference/output_score.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stein::inference {

/// Inputs of n rows, of one kind, and what a recurrent model knows of what came before them.
template <class Scalar>
struct Inputs {
  MatrixView<const Scalar> dense{};         ///< [n, D] numbers
  MatrixView<const std::int32_t> ones{};    ///< [n, A] for each row the positions of its ones, zeros elsewhere
  MatrixView<const std::int32_t> tokens{};  ///< [n, T] for each row (a sequence) its tokens in order, numbers of words

  /// A row for each row of weights [m·S, C]; empty: the model starts from nothing and keeps nothing.
  CarriedRows<Scalar> carried{};
  /// Of a prediction: what the network draws by itself (dropout) is drawn with this key, and the particle's row; empty:
  /// it predicts without. A likelihood has a key of its own.
  std::optional<NoiseKey> dropout{};

  std::int64_t rows() const {
    return dense.data != nullptr ? dense.rows : ones.data != nullptr ? ones.rows : tokens.rows;
  }
  bool one_hot() const { return ones.data != nullptr; }
};

/// What `size` and `data_size` of a batch count: the log-likelihood of one of them is one term of the sum.
enum class DataUnit { rows, tokens, sequences };

constexpr std::string_view unit_name(DataUnit unit) {
  return unit == DataUnit::rows ? "rows" : unit == DataUnit::tokens ? "tokens" : "sequences";
}

/// n units of data out of N in some rows of memory, and how they are weighted and masked.
template <class Scalar>
struct Batch {
  Inputs<Scalar> inputs{};  ///< [rows, ·]; [M·rows, ·] if `inputs_per_particle`
  /// [rows, ·], one column where `outputs` chooses; [M·rows, ·] if `targets_per_particle`; a class is its number, as a
  /// Scalar
  MatrixView<const Scalar> targets{};
  /// [rows] the one output that each row trains (the chosen arm); empty: all of them
  std::span<const std::int32_t> outputs{};
  /// [rows], [M·rows] if `weights_per_particle`: multiplies a row's log-likelihood, may be negative; empty: 1
  std::span<const Scalar> row_weights{};
  MatrixView<const Scalar> input_mask{};  ///< [rows, D] multiplies dense inputs; empty: 1
  bool inputs_per_particle = false;
  bool targets_per_particle = false;
  bool weights_per_particle = false;
  std::int64_t rows = 0;  ///< that a particle sees
  std::int64_t size = 0;  ///< n, counted in `unit`; 0: as many as there are rows
  double data_size = 0;   ///< N, counted in `unit`
  DataUnit unit = DataUnit::rows;
  /// Takes the place of the model's likelihood, its targets and row weights included; null: the model's own.
  const OutputScore<Scalar>* score = nullptr;
  std::int64_t first_particle = 0;  ///< what `score` calls the first of the particles that see this batch
  std::int64_t weight_samples = 1;  ///< S: rows of weights that stand for one particle, one after the other

  /// n.
  double count() const { return static_cast<double>(size == 0 ? rows : size); }
  /// N/n, what the log-likelihood of the batch is multiplied with.
  double likelihood_scale() const { return data_size / count(); }
};

/// Throws Error(usage) unless there are rows, n ≥ 1 and N > 0.
template <class Scalar>
void check_counts(const Batch<Scalar>& batch) {
  STEIN_CHECK(batch.rows >= 1, "batch: rows must be at least 1, got {}", batch.rows);
  STEIN_CHECK(batch.size >= 0, "batch: size must be at least 1 of {} (0: one a row), got {}", unit_name(batch.unit),
              batch.size);
  STEIN_CHECK(batch.data_size > 0, "batch: data size N must be > 0 {}, got {}", unit_name(batch.unit), batch.data_size);
}

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
  if (batch.inputs_per_particle) {
    if (batch.inputs.dense.data != nullptr) share.inputs.dense = own(batch.inputs.dense);
    if (batch.inputs.ones.data != nullptr) share.inputs.ones = own(batch.inputs.ones);
    if (batch.inputs.tokens.data != nullptr) share.inputs.tokens = own(batch.inputs.tokens);
  }
  if (batch.targets_per_particle) share.targets = own(batch.targets);
  if (batch.weights_per_particle) {
    const MatrixView<const Scalar> weights(batch.row_weights.data(), std::ssize(batch.row_weights), 1);
    share.row_weights = {own(weights).data, static_cast<std::size_t>(count * batch.rows)};
  }
  share.inputs_per_particle = batch.inputs_per_particle && count > 1;
  share.targets_per_particle = batch.targets_per_particle && count > 1;
  share.weights_per_particle = batch.weights_per_particle && count > 1;
  if (!batch.inputs.carried.empty()) {
    const std::int64_t samples = batch.weight_samples;
    STEIN_CHECK((first + count) * samples <= batch.inputs.carried.before.rows,
                "batch: expected a row of carried state for each of {} rows of weights, got {}",
                (first + count) * samples, batch.inputs.carried.before.rows);
    share.inputs.carried = batch.inputs.carried.block(first * samples, count * samples);
  }
  return share;
}

/// What row `i` of the weights in a call sees of the batch of that call: what its particle sees, and its own carried
/// state.
template <class Scalar>
Batch<Scalar> rows_of(const Batch<Scalar>& batch, std::int64_t i) {
  Batch<Scalar> share = share_of(batch, i / batch.weight_samples, 1);
  if (!batch.inputs.carried.empty()) share.inputs.carried = batch.inputs.carried.block(i, 1);
  share.weight_samples = 1;
  return share;
}

}  // namespace stein::inference
