// Products of matrices in bfloat16 by the instructions of AVX-512 BF16: what `matrix_product.h` asks for where its
// matrix is packed so. Two terms of a sum lie side by side in 32 bits, the earlier one in the lower half.
#pragma once

#include <cstdint>

namespace stein::inference::fused::bfloat16 {

/// Columns of a panel of B, and of the vectors that it is a whole number of.
inline constexpr std::int64_t panel_columns = 64, vector_columns = 16;

/// Whether this processor has the instructions. Nothing else may be called where it has not.
bool has_products();

/// Columns that a panel of so many takes in memory.
constexpr std::int64_t padded(std::int64_t columns) {
  return (columns + vector_columns - 1) / vector_columns * vector_columns;
}
/// Pairs that k terms take.
constexpr std::int64_t pairs_of(std::int64_t k) {
  return (k + 1) / 2;
}

/// `columns` ≤ panel_columns of B [k, ·], element (i, j) at from[i · row + j · column], rounded to nearest: a row of
/// padded(columns) pairs for each pair of rows, zeros behind the last column and the last row.
void pack_panel(std::int64_t k, std::int64_t columns, const float* from, std::int64_t row, std::int64_t column,
                std::uint32_t* to);

/// Rows of A in pairs: pair p of row r lies at data[r · row + p · pair].
struct PairedRows {
  const std::uint32_t* data;
  std::int64_t row, pair;
};

/// `rows` of A [·, k], element (i, j) at from[i · row + j · column], likewise, in the order in which they lie there.
/// @param to  has room for rows · pairs_of(k)
PairedRows pack_rows(std::int64_t rows, std::int64_t k, const float* from, std::int64_t row, std::int64_t column,
                     std::uint32_t* to);

/// C [rows, columns] = A · B, or C + A · B, for a panel.
/// @param a  [rows, pair_count]
/// @param b  [pair_count, padded(columns)]
void multiply_panel(std::int64_t rows, std::int64_t columns, std::int64_t pair_count, const PairedRows& a,
                    const std::uint32_t* b, float* c, std::int64_t c_stride, bool add);

}  // namespace stein::inference::fused::bfloat16
