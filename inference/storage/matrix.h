// Rows of numbers that lie on a device.
#pragma once

#include <stein/inference/storage/aligned_buffer.h>
#include <stein/inference/storage/device.h>
#include <stein/inference/storage/saved_rows.h>

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
    if (!empty()) save_rows(snapshot, name, view());
  }
  /// Throws Error(data) naming the array if it has another size.
  void restore(const Snapshot& snapshot, std::string_view name) {
    if (empty()) return;
    // Older checkpoints hold the state of samplers with the room between its rows.
    const bool with_room = snapshot.size_of(name) == numbers_.size();
    restore_rows(snapshot, name, with_room ? MatrixView<Scalar>{numbers_.data(), rows_, stride_, stride_} : view());
  }

 private:
  std::int64_t rows_ = 0, columns_ = 0, stride_ = 0;
  Device device_{};
  AlignedBuffer<Scalar> numbers_;
};

}  // namespace stein::inference
