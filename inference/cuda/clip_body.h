// What limits the length of gradients on a GPU, with the bits of the host: the second pass of their sums of squares,
// and the product. All pointers are to memory of the device.
#pragma once

#include <stein/inference/cuda/block_phases.h>
#include <stein/inference/cuda/coordinate_group.h>
#include <stein/inference/cuda/group_grid.h>
#include <stein/inference/cuda/lane_sums.h>
#include <stein/inference/cuda/step_flags.h>
#include <stein/inference/samplers/clip_rule.h>

#include <cmath>
#include <cstdint>

namespace stein::inference::cuda {

/// Parts of a row whose lanes sum_of_square_lanes adds up by themselves.
STEIN_HOST_DEVICE inline std::int64_t square_parts(std::int64_t columns) {
  return columns < many_square_parts * square_part ? 1 : (columns + square_part - 1) / square_part;
}

/// Σ x² of every row from its lanes, a block a row: first each lane of each part, then the parts, then their sum.
/// Additions have the order of sum_of_square_lanes.
template <class Sum>
struct AddUpLanes {
  const Sum* lanes;  ///< [rows, blocks, 16]
  std::int64_t rows, columns;
  double* totals;  ///< [rows, parts, 16] working memory: each lane of each part; the first then has the part
  double* sums;    ///< [rows]
  /// [rows] Rows of which this is finite are passed over; null: none.
  const double* unless = nullptr;

  struct Shared {};
  struct Own {};

  STEIN_HOST_DEVICE std::int64_t blocks() const { return rows; }
  STEIN_HOST_DEVICE static constexpr int phases() { return 3; }
  STEIN_HOST_DEVICE void operator()(std::int64_t phase, std::int64_t row, int thread, Shared&, Own&) const {
    if (unless != nullptr && std::isfinite(unless[row])) return;
    const std::int64_t parts = square_parts(columns), size = sum_blocks(columns) * sum_lanes;
    const std::int64_t step = parts == 1 ? size : square_part / sum_block * sum_lanes;
    double* const of_lanes = totals + row * parts * sum_lanes;
    if (phase == 0) {
      for (std::int64_t unit = thread; unit < parts * sum_lanes; unit += static_cast<int>(block_threads)) {
        const std::int64_t begin = unit / sum_lanes * step, end = begin + step < size ? begin + step : size;
        double total = 0;
        for (std::int64_t k = begin + unit % sum_lanes; k < end; k += sum_lanes)
          total += static_cast<double>(lanes[row * size + k]);
        of_lanes[unit] = total;
      }
    } else if (phase == 1) {
      for (std::int64_t part = thread; part < parts; part += static_cast<int>(block_threads)) {
        double sum = 0;
        for (std::int64_t lane = 0; lane < sum_lanes; ++lane) sum += of_lanes[part * sum_lanes + lane];
        of_lanes[part * sum_lanes] = sum;
      }
    } else if (thread == 0) {
      double sum = 0;
      for (std::int64_t part = 0; part < parts; ++part) sum += of_lanes[part * sum_lanes];
      sums[row] = sum;
    }
  }
};

/// One lane of one block of the squares of a row in double, where those in float have left its range.
struct WideLaneSum {
  LaneSum<SquareSum::wide, double> lane;
  const double* squares;  ///< [rows]

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t row = index / sum_lanes / sum_blocks(lane.rows.columns);
    if (!std::isfinite(squares[row])) lane(index);
  }
};

/// Scales one group of a row down to the limit; nothing after a gradient that is not finite.
struct ClipGroup {
  MatrixView<float> rows;
  const double* squares;       ///< [rows] Σ x²
  const double* wide_squares;  ///< [rows] the same, where that is not finite
  double limit;
  ClipRule rule;
  StepFlags flags;

  STEIN_HOST_DEVICE void operator()(const GroupPlace& place) const {
    if (flags.stopped()) return;
    const double square = squares[place.row];
    const double factor = clip_factor(std::sqrt(std::isfinite(square) ? square : wide_squares[place.row]), limit, rule);
    if (factor == 1) return;
    FourNumbers& group = group_at(rows, place);
    FourNumbers numbers = group;
    for (float& number : numbers.number) number = static_cast<float>(number * factor);
    group = numbers;
  }
};

}  // namespace stein::inference::cuda
