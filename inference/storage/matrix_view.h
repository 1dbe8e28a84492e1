// Rows of numbers that somebody else owns.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

namespace stein::inference {

/// `rows` × `columns` numbers at `data`; row i starts at data + i·stride. Owns nothing.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;

  MatrixView() = default;
  MatrixView(T* first, std::int64_t row_count, std::int64_t column_count, std::int64_t row_stride)
      : data(first), rows(row_count), columns(column_count), stride(row_stride) {}
  MatrixView(T* first, std::int64_t row_count, std::int64_t column_count)
      : MatrixView(first, row_count, column_count, column_count) {}

  std::span<T> row(std::int64_t i) const { return {data + i * stride, static_cast<std::size_t>(columns)}; }
  T& operator()(std::int64_t i, std::int64_t j) const { return data[i * stride + j]; }
  /// Rows first, first + 1, …, first + count − 1.
  MatrixView block(std::int64_t first, std::int64_t count) const {
    return {data + first * stride, count, columns, stride};
  }
  bool empty() const { return rows == 0 || columns == 0; }

  operator MatrixView<const T>() const requires(!std::is_const_v<T>) { return {data, rows, columns, stride}; }
};

}  // namespace stein::inference
