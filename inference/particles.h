// M flat vectors and their gradients: chains and particles are the same thing, M = 1 is a chain, M > 1 an ensemble.
#pragma once

#include <stein/core/error.h>
#include <stein/core/snapshot.h>
#include <stein/inference/layout.h>
#include <stein/inference/storage/aligned_buffer.h>
#include <stein/inference/storage/matrix_view.h>

#include <algorithm>

namespace stein::inference {

/// Some rows of an ensemble, the global number of the first of them (it keys the noise, also when rows are sharded),
/// and what they hold beside the coordinates.
template <class T>
struct ParticleRows {
  MatrixView<T> values;
  std::int64_t first_row = 0;
  MatrixView<T> buffers{};  ///< [m, B], or empty where the layout has none

  ParticleRows block(std::int64_t first, std::int64_t count) const {
    return {values.block(first, count), first_row + first, buffers.block(first, count)};
  }
};

/// Sets numbers to 0 where `free` is 0; those past its end are free.
template <class Scalar>
void zero_where_held(std::span<Scalar> values, std::span<const std::uint8_t> free) {
  for (std::size_t q = 0; q < free.size(); ++q)
    if (free[q] == 0) values[q] = Scalar{0};
}

/// Rows of a flat vector and of its gradient, [M, Q] each, 64-byte aligned, rows a whole number of cache lines apart,
/// and a row of buffers [M, B] beside each: state that is not sampled and that only `Target::adapt` changes.
template <class Scalar>
class Particles {
 public:
  /// `rows` vectors laid out as `layout`, zeroed; they are rows first_row … of an ensemble of `total_rows` (0: of
  /// `rows`). Throws Error(usage) unless rows ≥ 1, the layout has no padding and the rows lie inside the ensemble.
  Particles(Layout layout, std::int64_t rows, std::int64_t first_row = 0, std::int64_t total_rows = 0)
      : layout_(std::move(layout)),
        rows_(rows),
        first_row_(first_row),
        total_rows_(total_rows == 0 ? rows : total_rows),
        stride_(padded_columns(layout_.size())) {
    STEIN_CHECK(rows >= 1 && rows <= 1'000'000, "particles: rows must be between 1 and 1000000, got {}", rows);
    STEIN_CHECK(!layout_.padded(), "particles: a layout with padded rows cannot be sampled");
    STEIN_CHECK(first_row >= 0 && first_row + rows <= total_rows_,
                "particles: rows {} to {} do not lie inside an ensemble of {}", first_row, first_row + rows,
                total_rows_);
    values_ = AlignedBuffer<Scalar>(static_cast<std::size_t>(rows * stride_));
    gradients_ = AlignedBuffer<Scalar>(static_cast<std::size_t>(rows * stride_));
    buffers_ = AlignedBuffer<Scalar>(static_cast<std::size_t>(rows * layout_.buffer_size()));
  }

  const Layout& layout() const { return layout_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t size() const { return layout_.size(); }
  std::int64_t first_row() const { return first_row_; }
  std::int64_t total_rows() const { return total_rows_; }

  MatrixView<Scalar> values() { return {values_.data(), rows_, layout_.size(), stride_}; }
  MatrixView<const Scalar> values() const { return {values_.data(), rows_, layout_.size(), stride_}; }
  MatrixView<Scalar> gradients() { return {gradients_.data(), rows_, layout_.size(), stride_}; }
  MatrixView<const Scalar> gradients() const { return {gradients_.data(), rows_, layout_.size(), stride_}; }
  MatrixView<Scalar> buffers() { return {buffers_.data(), rows_, layout_.buffer_size()}; }
  MatrixView<const Scalar> buffers() const { return {buffers_.data(), rows_, layout_.buffer_size()}; }
  ParticleRows<const Scalar> coordinates() const { return {values(), first_row_, buffers()}; }

  /// The parameter `name` of row `row` as a matrix (its rows by its last dimension).
  MatrixView<Scalar> view(std::string_view name, std::int64_t row) {
    const LayoutEntry& entry = layout_.at(name);
    return {values().row(row).data() + entry.offset, entry.rows(), entry.columns(), entry.row_stride};
  }

  void save(Snapshot& snapshot) const {
    snapshot.put_text("layout", layout_.description());
    std::vector<Scalar> packed;
    packed.reserve(static_cast<std::size_t>(rows_ * size()));
    for (std::int64_t i = 0; i < rows_; ++i) {
      const auto row = values().row(i);
      packed.insert(packed.end(), row.begin(), row.end());
    }
    snapshot.put("values", std::span<const Scalar>(packed), {rows_, size()});
    if (buffers_.size() > 0)
      snapshot.put("buffers", std::span<const Scalar>(buffers_.data(), buffers_.size()),
                   {rows_, layout_.buffer_size()});
  }
  /// Throws Error(data) naming the first parameter that differs if the saved rows have another layout or number.
  void restore(const Snapshot& snapshot) {
    layout_.check_description(snapshot.get_text("layout"));
    std::vector<Scalar> packed(static_cast<std::size_t>(rows_ * size()));
    snapshot.get("values", std::span<Scalar>(packed));
    for (std::int64_t i = 0; i < rows_; ++i) std::copy_n(packed.begin() + i * size(), size(), values().row(i).begin());
    if (buffers_.size() > 0) snapshot.get("buffers", std::span<Scalar>(buffers_.data(), buffers_.size()));
  }

 private:
  Layout layout_;
  std::int64_t rows_, first_row_, total_rows_, stride_;
  AlignedBuffer<Scalar> values_, gradients_, buffers_;
};

}  // namespace stein::inference
