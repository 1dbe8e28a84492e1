// Triangular factors of regressions as they lie in memory, and what is done with them: the plain loops here, the same
// arithmetic in SIMD in fused/triangular_factor.h.
#pragma once

#include <cstddef>
#include <span>

namespace stein::policies {

/// `columns` columns of a lower triangular matrix with `rows` ≥ columns rows. A factor is first the reciprocals of its
/// diagonal, then its columns one after the other; each of these begins on a boundary of 64 bytes and takes `stride`
/// numbers, zeros where the matrix has none.
struct FactorShape {
  std::size_t columns = 0, rows = 0;

  /// The rows in whole vectors of 8, the widest there are.
  std::size_t stride() const { return (rows + 7) / 8 * 8; }
  /// Numbers of a factor.
  std::size_t size() const { return (1 + columns) * stride(); }
};

/// Several rows, each with the factor that it is eliminated by.
struct Elimination {
  std::span<const double* const> factors;  ///< [rows] may be the same one
  std::size_t columns = 0;                 ///< the first columns of the factors, which rows are eliminated by
  std::size_t stride = 0;                  ///< of factors and rows
  const double* from = nullptr;            ///< rows as they are given, on a boundary of 64 bytes
  std::size_t from_stride = 0;             ///< of these: `stride`, or 0 where all are the same
  double* rows = nullptr;                  ///< [rows · stride] on a boundary of 64 bytes; may be `from`
  double* squares = nullptr;               ///< [rows] to which the squares of what is eliminated are added
};

/// The least share of a diagonal number that factorise() may leave as the square of a pivot: √ε, half of the digits.
inline constexpr double least_pivot_share = 0x1p-26;

namespace reference {

/// Forward substitution of every row w, from `from` to `rows`: v_j = w_j / L_jj and w ← w − v_j L_j for j = 0, 1, …,
/// columns − 1. The numbers from `columns` on are then what is left of the row, those before are of no use; Σ v_j² is
/// added to `squares`.
void eliminate(const Elimination& work);

/// Adds a row to a factor: one sweep of Givens rotations (Golub & Van Loan, Matrix Computations, 4th ed., 6.5.4), after
/// which L Lᵀ is larger by row · rowᵀ in the factor's columns. The numbers of the row behind the columns are what is
/// left of it, the others are 0.
void rotate_in(double* factor, const FactorShape& shape, double* row);

/// Adds the products of `count` rows w [stride], one after the other, to sums S that lie as the columns of a factor do:
/// S_kj ← S_kj + Σ w_k w_j for k ≥ j, one multiply-add a row. Numbers above the diagonal are of no use afterwards.
void add_products(double* sums, const FactorShape& shape, const double* rows, std::size_t count);

/// Turns sums into their factor in place: L Lᵀ = S in the factor's columns, by Cholesky's method column by column
/// (Golub & Van Loan 4.2.5). With add_products a third of the arithmetic of rotating the rows in, but less accurate: a
/// pivot has the rounding of its diagonal number, which it may be far smaller than.
/// @returns false where a pivot's square is less than `least_pivot_share` of its diagonal number, or not a number; the
///          factor is then of no use, and rotations of the rows give it
bool factorise(double* sums, const FactorShape& shape);

}  // namespace reference
}  // namespace stein::policies
