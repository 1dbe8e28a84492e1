// Rows of numbers that lie on a device.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/storage/aligned_buffer.h>
#include <stein/inference/storage/device.h>
#include <stein/inference/storage/matrix_view.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace stein::inference {

/// `rows` × `columns` numbers, zeroed, rows a whole number of cache lines apart: SIMD passes read and write whole
/// vectors. Copies copy the numbers.
template <class Scalar>
class Matrix {
 public:
  Matrix() = default;  ///< no rows: the view has no data, and nothing is saved
  Matrix(std::int64_t rows, std::int64_t columns, Device device = {})
      : rows_(rows),
        columns_(columns),
        stride_(padded_columns(columns)),
        device_(device),
        numbers_(static_cast<std::size_t>(rows * stride_)) {}

  bool empty() const { return numbers_.size() == 0; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Device device() const { return device_; }

  MatrixView<Scalar> view() { return {numbers_.data(), rows_, columns_, stride_}; }
  MatrixView<const Scalar> view() const { return {numbers_.data(), rows_, columns_, stride_}; }
  std::span<Scalar> row(std::int64_t i) { return view().row(i); }
  std::span<const Scalar> row(std::int64_t i) const { return view().row(i); }

  /// Stores the numbers as [rows, columns]; nothing if there are none.
  void save(Snapshot& snapshot, std::string_view name) const {
    if (empty()) return;
    std::vector<Scalar> packed;
    packed.reserve(static_cast<std::size_t>(rows_ * columns_));
    for (std::int64_t i = 0; i < rows_; ++i) packed.insert(packed.end(), row(i).begin(), row(i).end());
    snapshot.put(name, std::span<const Scalar>(packed), {rows_, columns_});
  }
  /// Throws Error(data) naming the array if it has another size.
  void restore(const Snapshot& snapshot, std::string_view name) {
    if (empty()) return;
    // Older checkpoints hold the state of samplers with the room between its rows.
    const bool with_room = snapshot.size_of(name) == numbers_.size();
    const std::int64_t width = with_room ? stride_ : columns_;
    std::vector<Scalar> packed(static_cast<std::size_t>(rows_ * width));
    snapshot.get(name, std::span<Scalar>(packed));
    for (std::int64_t i = 0; i < rows_; ++i) std::copy_n(packed.begin() + i * width, columns_, row(i).begin());
  }

 private:
  std::int64_t rows_ = 0, columns_ = 0, stride_ = 0;
  Device device_{};
  AlignedBuffer<Scalar> numbers_;
};

}  // namespace stein::inference
