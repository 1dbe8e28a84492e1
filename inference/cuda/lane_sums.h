// Sums of squares and of products over rows in two passes, squares in the order in which the host adds: number q of a
// row goes to lane q mod 16 of its block of 4,096 numbers. The first pass, on the device, adds up each lane of each
// block; the second, on the host, adds these up.
#pragma once

#include <stein/core/host_device.h>
#include <stein/inference/storage/matrix_view.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace stein::inference::cuda {

inline constexpr std::int64_t sum_lanes = 16, sum_block = 4096;
/// Σ x² of a row of at least so many parts of so many numbers is the sum of its parts.
inline constexpr std::int64_t many_square_parts = 4, square_part = 65536;

/// Blocks of a row.
STEIN_HOST_DEVICE inline std::int64_t sum_blocks(std::int64_t columns) {
  return (columns + sum_block - 1) / sum_block;
}

/// How a lane adds a square.
enum class SquareSum {
  rounded,     ///< the square is rounded, then added: of gradients (fused/vector_arithmetic.h)
  multiplied,  ///< in one rounding: of momenta (diffusion_pass.h)
  wide,        ///< in double, where squares of floats cannot overflow
};

/// Adds up one lane of one block of one row, to sums[row][block][lane]; `index` is the position there.
template <SquareSum how, class Sum>
struct LaneSum {
  MatrixView<const float> rows;
  Sum* sums;  ///< [rows, blocks, 16] on the device

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t blocks = sum_blocks(rows.columns), block = index / sum_lanes % blocks;
    const float* const row = rows.data + index / sum_lanes / blocks * rows.stride;
    const std::int64_t begin = block * sum_block, past = begin + sum_block;
    const std::int64_t end = past < rows.columns ? past : rows.columns;
    Sum sum = 0;
    for (std::int64_t q = begin + index % sum_lanes; q < end; q += sum_lanes) {
      const Sum x = row[q];
      sum = how == SquareSum::multiplied ? std::fma(x, x, sum) : sum + x * x;
    }
    sums[index] = sum;
  }
};

/// Adds up one lane of one block of the products a·b in double, to sums[block][lane]; `index` is the position there.
struct LaneProduct {
  const float* a;
  const float* b;
  std::int64_t size;
  double* sums;  ///< [blocks, 16] on the device

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t begin = index / sum_lanes * sum_block, past = begin + sum_block;
    const std::int64_t end = past < size ? past : size;
    double sum = 0;
    for (std::int64_t q = begin + index % sum_lanes; q < end; q += sum_lanes)
      sum += static_cast<double>(a[q]) * static_cast<double>(b[q]);
    sums[index] = sum;
  }
};

/// Adds up one lane of one block of term(0), …, term(count − 1), in double.
template <class Term>
struct LaneTerms {
  Term term;
  std::int64_t count;
  double* sums;  ///< [blocks, 16] on the device

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t begin = index / sum_lanes * sum_block,
                       end = begin + sum_block < count ? begin + sum_block : count;
    double sum = 0;
    for (std::int64_t q = begin + index % sum_lanes; q < end; q += sum_lanes) sum += term(q);
    sums[index] = sum;
  }
};

/// The lanes of each block, then the blocks: Σ r² of a row as diffusion_pass.h adds it, and Σ a·b.
template <class Sum>
double sum_of_block_lanes(std::span<const Sum> lanes) {
  double sum = 0;
  for (std::size_t block = 0; block < lanes.size(); block += sum_lanes) {
    double total = 0;
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) total += static_cast<double>(lanes[block + lane]);
    sum += total;
  }
  return sum;
}

/// Σ x² of a row of `columns` numbers from the lanes of its blocks, as sum_of_squares (fused/vector_arithmetic.h) adds
/// them: lane by lane over 16 blocks, over all where there are fewer than 64.
template <class Sum>
double sum_of_square_lanes(std::span<const Sum> lanes, std::int64_t columns) {
  const auto size = static_cast<std::int64_t>(lanes.size());
  const bool whole = columns < many_square_parts * square_part;
  const std::int64_t step = whole ? std::max<std::int64_t>(size, 1) : square_part / sum_block * sum_lanes;
  double sum = 0;
  for (std::int64_t begin = 0; begin < size; begin += step) {
    double totals[sum_lanes] = {};
    for (std::int64_t k = begin; k < std::min(begin + step, size); ++k)
      totals[k % sum_lanes] += static_cast<double>(lanes[static_cast<std::size_t>(k)]);
    double part_sum = 0;
    for (const double total : totals) part_sum += total;
    sum += part_sum;
  }
  return sum;
}

}  // namespace stein::inference::cuda
