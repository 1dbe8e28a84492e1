// SVGD's update on a GPU, direction and optimizer in one pass: the bits of reference::stein_update in float. A block
// takes some coordinates of all rows: it reads all their values and gradients before it writes one.
#pragma once

#include <stein/inference/cuda/group_grid.h>
#include <stein/inference/cuda/optimizer_body.h>
#include <stein/inference/cuda/stein_weights.h>
#include <stein/inference/cuda/step_flags.h>

#include <cstdint>

namespace stein::inference::cuda {

/// What an update reads and writes; all of it lies on the device.
struct SteinRows {
  MatrixView<float> values;
  MatrixView<const float> gradients;
  MatrixView<float> mean, square;  ///< without data where the optimizer keeps none
  SteinWeights weights;
};

/// The body of the kernel, in two phases: a block stages its numbers, then every thread moves one group of coordinates
/// of the four rows of a tile. At most most_tiled_rows rows. `with_positions` says whether there are weights of them.
/// After a gradient that is not finite it does nothing.
template <OptimizerMethod method, bool with_positions>
struct SteinUpdate {
  SteinRows rows;
  OptimizerStep step;
  StepFlags flags;
  int groups;  ///< of a row that a block takes

  /// The groups of all rows that a block moves, as they were before.
  struct Shared {
    TwoDoubles mixed[2 * most_tiled_rows];   ///< g + shift · x, [rows, 2, groups]: two halves of every group
    FourNumbers positions[most_tiled_rows];  ///< x, [rows, groups]
  };
  /// A thread keeps nothing.
  struct Own {};

  SteinUpdate(const SteinRows& of, const OptimizerStep& by, const StepFlags& told)
      : rows(of),
        step(by),
        flags(told),
        groups(static_cast<int>(whole_lines(most_tiled_rows / (tile_rows * row_tiles(of.values.rows))))) {}

  STEIN_HOST_DEVICE std::int64_t blocks() const { return (groups_in_row(rows.values.columns) + groups - 1) / groups; }
  STEIN_HOST_DEVICE static constexpr int phases() { return 2; }
  STEIN_HOST_DEVICE void operator()(std::int64_t phase, std::int64_t block, int thread, Shared& shared, Own&) const {
    if (flags.stopped()) return;
    if (phase == 0) stage(block * groups, thread, shared);
    if (phase == 1) move(block * groups, thread, shared);
  }

 private:
  STEIN_HOST_DEVICE bool has(std::int64_t group) const { return group < groups_in_row(rows.values.columns); }

  STEIN_HOST_DEVICE void stage(std::int64_t first_group, int thread, Shared& shared) const {
    const double shift = rows.weights.shift();
    for (int unit = thread; unit < rows.values.rows * groups; unit += static_cast<int>(block_threads)) {
      const int row = unit / groups, k = unit % groups;
      if (!has(first_group + k)) continue;
      const GroupPlace place = group_place(rows.values.columns, row, first_group + k);
      const FourNumbers values = group_at(rows.values, place), gradients = group_at(rows.gradients, place);
      shared.positions[unit] = values;
      for (int half = 0; half < 2; ++half) {
        TwoDoubles mixed;
        for (int j = 0; j < 2; ++j)
          mixed.number[j] = gradients.number[2 * half + j] + shift * values.number[2 * half + j];
        shared.mixed[(2 * row + half) * groups + k] = mixed;
      }
    }
  }

  STEIN_HOST_DEVICE void move(std::int64_t first_group, int thread, const Shared& shared) const {
    const int tile = thread / groups, k = thread % groups, first_row = tile * tile_rows;
    if (first_row >= rows.values.rows || !has(first_group + k)) return;
    double direction[tile_rows][group_size];
    add_up(tile, k, shared, direction);
    bool finite = true;
    for (int r = 0; r < tile_rows; ++r) {  // of constant length: the directions stay in registers
      if (first_row + r >= rows.values.rows) continue;
      FourNumbers along;
      for (int c = 0; c < group_size; ++c) along.number[c] = static_cast<float>(direction[r][c]);
      const GroupPlace place = group_place(rows.values.columns, first_row + r, first_group + k);
      const FourNumbers value = shared.positions[(first_row + r) * groups + k];
      if (ascend_group<method>(rows.values, rows.mean, rows.square, step, place, value, along)) continue;
      flags.name(false, place, group_at(rows.values, place));
      finite = false;
    }
    if (!finite) flags.report_value();
  }

  /// The direction of four rows, a sum over all rows in their order.
  STEIN_HOST_DEVICE void add_up(int tile, int k, const Shared& shared,
                                double (&direction)[tile_rows][group_size]) const {
    const int count = static_cast<int>(rows.values.rows);
    const FourDoubles own = rows.weights.own(tile);
    for (int r = 0; r < tile_rows; ++r) {
      const int row = tile * tile_rows + r, there = row < count ? row : 0;
      const FourNumbers x = shared.positions[there * groups + k];
      for (int c = 0; c < group_size; ++c) direction[r][c] = own.number[r] * x.number[c];
    }
    for (int j = 0; j < count; ++j) {
      const FourDoubles weights = rows.weights.gradient(tile, j);
      const TwoDoubles low = shared.mixed[2 * j * groups + k], high = shared.mixed[(2 * j + 1) * groups + k];
      const double mixed[group_size] = {low.number[0], low.number[1], high.number[0], high.number[1]};
      for (int r = 0; r < tile_rows; ++r)
        for (int c = 0; c < group_size; ++c) direction[r][c] += weights.number[r] * mixed[c];
      if constexpr (with_positions) {
        const FourDoubles pushes = rows.weights.position(tile, j);
        const FourNumbers x = shared.positions[j * groups + k];
        for (int r = 0; r < tile_rows; ++r)
          for (int c = 0; c < group_size; ++c) direction[r][c] += pushes.number[r] * x.number[c];
      }
    }
  }
};

}  // namespace stein::inference::cuda
