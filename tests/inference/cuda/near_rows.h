// Rows of numbers for the tests of SVGD's kernels.
#pragma once

#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/matrix.h>

#include <algorithm>
#include <cmath>

namespace stein::test {

struct Shape {
  std::int64_t rows, columns;
};

/// Rows of normals around 5, so that distances are differences of near numbers.
inline inference::Matrix<float> drawn(const Shape& shape, std::uint64_t seed = 3) {
  inference::Matrix<float> matrix(shape.rows, shape.columns);
  inference::driver<float>(inference::Ensemble{.arithmetic = inference::Arithmetic::reference})
      .draw(matrix.view(), {.seed = seed}, 0, 0.01);
  for (std::int64_t i = 0; i < shape.rows; ++i)
    for (float& number : matrix.row(i)) number += 5;
  return matrix;
}

/// Whole numbers from −8 to 8: squares, products and their sums are exact in double.
inline inference::Matrix<float> whole_numbers(const Shape& shape) {
  inference::Matrix<float> matrix = drawn(shape);
  for (std::int64_t i = 0; i < shape.rows; ++i)
    for (float& number : matrix.row(i)) number = std::clamp(std::round((number - 5) * 300), -8.0f, 8.0f);
  return matrix;
}

}  // namespace stein::test
