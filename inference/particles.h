// M flat vectors and their gradients: chains and particles are the same thing, M = 1 is a chain, M > 1 an ensemble.
#pragma once

#include <stein/core/error.h>
#include <stein/core/snapshot.h>
#include <stein/inference/ensemble.h>
#include <stein/inference/storage/matrix.h>

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
  Particles(Layout layout, std::int64_t rows, std::int64_t first_row = 0, std::int64_t total_rows = 0,
            Device device = {})
      : layout_(std::move(layout)), range_{first_row, rows}, total_rows_(total_rows == 0 ? rows : total_rows) {
    STEIN_CHECK(rows >= 1 && rows <= 1'000'000, "particles: rows must be between 1 and 1000000, got {}", rows);
    STEIN_CHECK(!layout_.padded(), "particles: a layout with padded rows cannot be sampled");
    STEIN_CHECK(first_row >= 0 && first_row + rows <= total_rows_,
                "particles: rows {} to {} do not lie inside an ensemble of {}", first_row, first_row + rows,
                total_rows_);
    values_ = Matrix<Scalar>(rows, layout_.size(), device);
    gradients_ = Matrix<Scalar>(rows, layout_.size(), device);
    buffers_ = Matrix<Scalar>(rows, layout_.buffer_size(), device);
  }

  /// The same values and buffers on another device; gradients are zeros there.
  Particles to(Device device) const {
    Particles copy(layout_, rows(), first_row(), total_rows_, device);
    copy.values_ = values_.to(device);
    copy.buffers_ = buffers_.to(device);
    return copy;
  }

  const Layout& layout() const { return layout_; }
  std::int64_t rows() const { return range_.count; }
  std::int64_t size() const { return layout_.size(); }
  std::int64_t first_row() const { return range_.first; }
  std::int64_t total_rows() const { return total_rows_; }
  Device device() const { return values_.device(); }
  /// What a sampler of these particles is made for.
  Ensemble ensemble(std::uint64_t seed, Arithmetic arithmetic = Arithmetic::fused) const {
    return {.layout = layout_,
            .rows = range_,
            .total_rows = total_rows_,
            .seed = seed,
            .device = device(),
            .arithmetic = arithmetic};
  }

  MatrixView<Scalar> values() { return values_.view(); }
  MatrixView<const Scalar> values() const { return values_.view(); }
  MatrixView<Scalar> gradients() { return gradients_.view(); }
  MatrixView<const Scalar> gradients() const { return gradients_.view(); }
  MatrixView<Scalar> buffers() { return buffers_.view(); }
  MatrixView<const Scalar> buffers() const { return buffers_.view(); }
  ParticleRows<const Scalar> coordinates() const { return {values(), first_row(), buffers()}; }

  /// The parameter `name` of row `row` as a matrix (its rows by its last dimension).
  MatrixView<Scalar> view(std::string_view name, std::int64_t row) {
    const LayoutEntry& entry = layout_.at(name);
    return {values().row(row).data() + entry.offset, entry.rows(), entry.columns(), entry.row_stride};
  }

  /// With the global numbers of the rows, so that shards can be put together on another number of ranks.
  void save(Snapshot& snapshot) const {
    snapshot.put_text("layout", layout_.description());
    snapshot.put("global_rows", std::vector<std::int64_t>{range_.first, range_.count, total_rows_});
    values_.save(snapshot, "values");
    buffers_.save(snapshot, "buffers");
  }
  /// Throws Error(data) saying what differs if the saved rows have another layout or number, or other places in the
  /// ensemble.
  void restore(const Snapshot& snapshot) {
    layout_.check_description(snapshot.get_text("layout"));
    if (snapshot.contains("global_rows")) {  // not in older checkpoints, of which none is of a shard
      const auto saved = snapshot.get_vector<std::int64_t>("global_rows");
      if (saved != std::vector<std::int64_t>{range_.first, range_.count, total_rows_})
        fail(ErrorKind::data, "the checkpoint holds particles {} to {} of {}, expected {} to {} of {}", saved.at(0),
             saved.at(0) + saved.at(1) - 1, saved.at(2), range_.first, range_.first + range_.count - 1, total_rows_);
    }
    values_.restore(snapshot, "values");
    buffers_.restore(snapshot, "buffers");
  }

 private:
  Layout layout_;
  RowRange range_;
  std::int64_t total_rows_;
  Matrix<Scalar> values_, gradients_, buffers_;
};

}  // namespace stein::inference
