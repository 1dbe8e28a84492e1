#include <stein/policies/triangular_factor.h>

#include <algorithm>
#include <cmath>

namespace stein::policies::reference {

void eliminate(const Elimination& work) {
  for (std::size_t i = 0; i < work.factors.size(); ++i) {
    double* const row = work.rows + i * work.stride;
    const double *const from = work.from + i * work.from_stride, *const reciprocals = work.factors[i];
    if (from != row) std::copy_n(from, work.stride, row);
    for (std::size_t j = 0; j < work.columns; ++j) {
      const double* const column = reciprocals + (1 + j) * work.stride;
      const double v = row[j] * reciprocals[j];
      work.squares[i] = std::fma(v, v, work.squares[i]);
      for (std::size_t k = j + 1; k < work.stride; ++k) row[k] = std::fma(-v, column[k], row[k]);
    }
  }
}

void rotate_in(double* factor, const FactorShape& shape, double* row) {
  for (std::size_t j = 0; j < shape.columns; ++j) {
    if (row[j] == 0) continue;
    double* const column = factor + (1 + j) * shape.stride();
    const double length = std::hypot(column[j], row[j]);
    const double cosine = column[j] / length, sine = row[j] / length;
    column[j] = length;
    row[j] = 0;
    factor[j] = 1 / length;
    for (std::size_t k = j + 1; k < shape.rows; ++k) {
      const double old = column[k];
      column[k] = std::fma(cosine, old, sine * row[k]);
      row[k] = std::fma(cosine, row[k], -(sine * old));
    }
  }
}

void add_products(double* sums, const FactorShape& shape, const double* rows, std::size_t count) {
  for (std::size_t j = 0; j < shape.columns; ++j) {
    double* const column = sums + (1 + j) * shape.stride();
    for (std::size_t i = 0; i < count; ++i) {
      const double* const row = rows + i * shape.stride();
      for (std::size_t k = j; k < shape.rows; ++k) column[k] = std::fma(row[j], row[k], column[k]);
    }
  }
}

bool factorise(double* sums, const FactorShape& shape) {
  for (std::size_t j = 0; j < shape.columns; ++j) sums[j] = sums[(1 + j) * shape.stride() + j];
  for (std::size_t j = 0; j < shape.columns; ++j) {
    double* const column = sums + (1 + j) * shape.stride();
    const double square = column[j];
    if (!(square >= least_pivot_share * sums[j])) return false;
    std::fill_n(column, j, 0.0);
    column[j] = std::sqrt(square);
    sums[j] = 1 / column[j];
    if (square == 0) continue;  // so is all of the column
    for (std::size_t k = j + 1; k < shape.rows; ++k) column[k] *= sums[j];
    for (std::size_t m = j + 1; m < shape.columns; ++m) {
      double* const later = sums + (1 + m) * shape.stride();
      for (std::size_t k = m; k < shape.rows; ++k) later[k] = std::fma(-column[m], column[k], later[k]);
    }
  }
  return true;
}

}  // namespace stein::policies::reference
