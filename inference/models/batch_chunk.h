// Some of the rows of a minibatch as a minibatch of their own.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/batch.h>
#include <stein/inference/storage/matrix.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// Rows of a minibatch, from `first` on.
struct ChunkRows {
  std::int64_t first, count;
};

/// Those of chunk c where a minibatch of `rows` rows is cut into `chunks`, as equal as can be.
constexpr ChunkRows chunk_rows(std::int64_t rows, std::int64_t chunks, std::int64_t c) {
  const std::int64_t first = c * rows / chunks;
  return {first, (c + 1) * rows / chunks - first};
}

/// What one row of weights sees of `batch` in a chunk; the log-likelihoods of all chunks add up to that of the batch,
/// as n and N stay those of the whole. Without carried state.
/// @param batch  of one row of weights (rows_of), with the model's own likelihood
/// @throws Error(usage) if it has a score of its own, or other numbers of inputs, targets or weights than rows
template <class Scalar>
Batch<Scalar> chunk_of(const Batch<Scalar>& batch, ChunkRows rows) {
  STEIN_CHECK(batch.score == nullptr, "batch: one with a score of its own is not taken apart into chunks");
  const auto part = [&](auto view, const char* what) {
    STEIN_CHECK(view.data == nullptr || view.rows == batch.rows, "batch: expected {} rows of {}, got {}", batch.rows,
                what, view.rows);
    return view.data == nullptr ? view : view.block(rows.first, rows.count);
  };
  const auto numbers = [&](auto span, const char* what) {
    STEIN_CHECK(span.empty() || std::ssize(span) == batch.rows, "batch: expected {} {}, got {}", batch.rows, what,
                span.size());
    return span.empty() ? span
                        : span.subspan(static_cast<std::size_t>(rows.first), static_cast<std::size_t>(rows.count));
  };
  Batch<Scalar> chunk = batch;
  chunk.inputs.dense = part(batch.inputs.dense, "dense inputs");
  chunk.inputs.ones = part(batch.inputs.ones, "positions of ones");
  chunk.inputs.tokens = part(batch.inputs.tokens, "tokens");
  chunk.inputs.carried = {};
  chunk.targets = part(batch.targets, "targets");
  chunk.outputs = numbers(batch.outputs, "chosen outputs");
  chunk.row_weights = numbers(batch.row_weights, "row weights");
  chunk.input_mask = part(batch.input_mask, "an input mask");
  chunk.rows = rows.count;
  chunk.size = batch.size == 0 ? batch.rows : batch.size;
  return chunk;
}

/// The key of what a model draws for a chunk: the first has that of the minibatch, each other one of its own, so that
/// no two draw the same numbers.
inline NoiseKey chunk_noise(const NoiseKey& key, std::int64_t c) {
  if (c == 0) return key;
  const NoiseKey sheet{.seed = key.seed, .step = key.step, .stream = Stream::minibatch};
  const PhiloxBlock words = random_block(sheet, static_cast<std::uint32_t>(c), 0);
  NoiseKey own = key;
  own.seed = std::uint64_t{words[1]} << 32 | words[0];
  return own;
}

/// The numbers of some sequences in a row of carried state [C] of `sequences`: a row for each of its blocks
/// (Model::carried_blocks).
template <class Number>
MatrixView<Number> state_of(std::span<Number> row, std::int64_t blocks, std::int64_t sequences, ChunkRows rows) {
  const std::int64_t block = std::ssize(row) / blocks, each = block / sequences;
  return {row.data() + rows.first * each, blocks, rows.count * each, block};
}

/// Carried state of a chunk in memory of its own, end to end as a model wants it.
template <class Scalar>
class ChunkState {
 public:
  /// What the chunk starts from and where it leaves what comes after, as copies of its share of one row of carried
  /// state; nothing where there is none.
  CarriedRows<Scalar> take(const CarriedRows<Scalar>& whole, std::int64_t blocks, std::int64_t sequences,
                           ChunkRows rows) {
    if (whole.empty()) return {};
    const MatrixView<Scalar> from = state_of(whole.before.row(0), blocks, sequences, rows);
    const std::int64_t size = from.rows * from.columns;
    for (Matrix<Scalar>* each : {&before_, &after_})
      if (each->columns() != size || each->device() != whole.device) *each = Matrix<Scalar>(1, size, whole.device);
    copy_rows<Scalar>(from, in_blocks(before_, from), whole.device);
    CarriedRows<Scalar> own{.before = before_.view(), .device = whole.device};
    if (!whole.after.empty()) own.after = after_.view();
    return own;
  }
  /// Writes what the model left to its share of `whole.after`.
  void give_back(const CarriedRows<Scalar>& whole, std::int64_t blocks, std::int64_t sequences, ChunkRows rows) {
    if (whole.empty() || whole.after.empty()) return;
    const MatrixView<Scalar> to = state_of(whole.after.row(0), blocks, sequences, rows);
    copy_rows<Scalar>(in_blocks(after_, to), to, whole.device);
  }

 private:
  static MatrixView<Scalar> in_blocks(Matrix<Scalar>& memory, const MatrixView<Scalar>& like) {
    return {memory.view().data, like.rows, like.columns, like.columns};
  }

  Matrix<Scalar> before_, after_;
};

}  // namespace stein::inference
