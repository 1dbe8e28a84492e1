// Sizes and sides of products in tests.
#pragma once

#include <cstdint>
#include <vector>

namespace stein::test {

/// An m by n product with inner dimension k.
struct ProductSizes {
  std::int64_t m, n, k;
};

/// [rows, columns] with its columns and rows swapped.
inline std::vector<float> turned(const std::vector<float>& matrix, std::int64_t rows, std::int64_t columns) {
  std::vector<float> made(matrix.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) made[j * rows + i] = matrix[i * columns + j];
  return made;
}

}  // namespace stein::test
