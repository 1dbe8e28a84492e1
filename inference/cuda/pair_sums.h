// Sums over all coordinates of a term of every pair of rows, in double: what SVGD's kernels are made from. A block
// takes a range of coordinates of all rows, which are read once, and every pair.
#pragma once

#include <stein/inference/cuda/group_grid.h>
#include <stein/inference/cuda/row_tiles.h>
#include <stein/inference/cuda/step_flags.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace stein::inference::cuda {

/// What a pair of numbers adds to the sum of its rows.
enum class PairTerm { squared_difference, product };

/// Who adds what, by the shape of the rows alone, so that sums have the same bits on every GPU.
///
/// Pairs of tiles of the lower triangle are shared out to `slots` threads of a block, coordinates to `lanes` of them
/// for each pair of tiles. A block has a range of coordinates, chunk after chunk; number j of group k of a chunk is at
/// position j · chunk_groups + k, and belongs to the lane position mod lanes. A lane adds in the order of chunks and
/// positions; the lanes of a range are added in order, then the ranges.
struct PairGrid {
  static constexpr int threads = static_cast<int>(block_threads);
  static constexpr std::int64_t staged_numbers = 6144;              ///< of a chunk, in the memory of a block
  static constexpr std::int64_t most_ranges = 2048;                 ///< several times what GPUs have at work at once
  static constexpr std::int64_t most_sums = std::int64_t{1} << 22;  ///< of all ranges: 32 MiB

  std::int64_t rows, columns;
  std::int64_t tiles;   ///< pairs of tiles
  std::int64_t shares;  ///< blocks that share the tiles of one range: one up to 88 rows
  int side;             ///< tiles of rows
  int slots, lanes;     ///< of a block
  int chunk_groups;     ///< groups of a row that are staged at a time
  int stride;           ///< numbers from a position of a chunk to the next one
  std::int64_t chunks;  ///< of a range
  std::int64_t ranges;

  /// Of at least one row and column.
  PairGrid(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count), columns(column_count), side(static_cast<int>(row_tiles(row_count))) {
    tiles = static_cast<std::int64_t>(side) * (side + 1) / 2;
    shares = (tiles + threads - 1) / threads;
    slots = static_cast<int>((tiles + shares - 1) / shares);
    lanes = threads / slots;
    stride = tile_rows * side + 2;  // neighbours lie in other banks of the memory of a block
    chunk_groups = static_cast<int>(whole_lines(staged_numbers / (group_size * stride)));
    const std::int64_t all = (groups_in_row(columns) + chunk_groups - 1) / chunk_groups;
    const std::int64_t most = std::clamp<std::int64_t>(most_sums / sums(), 1, most_ranges);
    chunks = (all + most - 1) / most;
    ranges = (all + chunks - 1) / chunks;
  }

  /// Sums of all pairs of tiles, those above the diagonal and past the last row too.
  STEIN_HOST_DEVICE std::int64_t sums() const { return tiles * tile_rows * tile_rows; }
};

/// The rows that are paired, and what is looked at beside them.
struct PairRows {
  MatrixView<const float> values;
  MatrixView<const float> gradients{};  ///< [rows, columns] that have to be finite; without data: none
  StepFlags flags{};                    ///< told where one is not
};

/// Adds up the pairs of tiles of one range, to sums[range][4·(row in its tile) + row in the other tile][pair of tiles].
template <PairTerm term>
struct PairSums {
  PairRows rows;
  PairGrid grid;
  double* sums;  ///< [ranges, 16, tiles] on the device

  /// A chunk of coordinates of the rows that a block looks at, as doubles.
  struct Shared {
    alignas(16) double staged[PairGrid::staged_numbers];
  };
  /// The sums of a thread: of all pairs of one tile of rows with another.
  struct Own {
    double sum[tile_rows][tile_rows];
    int row, other;  ///< tiles of rows, other ≤ row
  };

  STEIN_HOST_DEVICE std::int64_t blocks() const { return grid.ranges * grid.shares; }
  STEIN_HOST_DEVICE std::int64_t phases() const { return 2 * grid.chunks + 2; }
  STEIN_HOST_DEVICE void operator()(std::int64_t phase, std::int64_t block, int thread, Shared& shared,
                                    Own& own) const {
    const std::int64_t range = block / grid.shares, first_tile = block % grid.shares * grid.slots;
    const std::int64_t added = 2 * grid.chunks;
    const std::int64_t first_group = (range * grid.chunks + phase / 2) * grid.chunk_groups;
    if (phase == 0) find_tiles(first_tile + thread % grid.slots, own);
    if (phase < added && phase % 2 == 0) stage(first_group, thread, shared);
    if (phase < added && phase % 2 == 0 && first_tile == 0) look(first_group, thread);
    if (phase < added && phase % 2 == 1) add(thread, shared, own);
    if (phase == added) put(thread, shared, own);
    if (phase == added + 1) add_lanes(range, first_tile, thread, shared);
  }

 private:
  /// Pairs of tiles are counted along the rows of the lower triangle. A slot too many has the last pair, for nothing.
  STEIN_HOST_DEVICE void find_tiles(std::int64_t tile, Own& own) const {
    if (tile >= grid.tiles) tile = grid.tiles - 1;
    int row = 0;
    for (; tile > row; ++row) tile -= row + 1;
    own.row = row, own.other = static_cast<int>(tile);
  }

  /// Where row r of tile t stands in a position: first two rows of every tile, then the two others.
  STEIN_HOST_DEVICE int staged_at(int tile, int r) const { return r / 2 * 2 * grid.side + 2 * tile + r % 2; }

  STEIN_HOST_DEVICE void stage(std::int64_t first_group, int thread, Shared& shared) const {
    const int groups = grid.chunk_groups, units = tile_rows * grid.side * groups;
    const std::int64_t all = groups_in_row(grid.columns);
    for (int unit = thread; unit < units; unit += PairGrid::threads) {
      const int row = unit / groups, k = unit % groups;
      FourNumbers numbers{};
      if (row < grid.rows && first_group + k < all)
        numbers = group_at(rows.values, group_place(grid.columns, row, first_group + k));
      const int at = staged_at(row / tile_rows, row % tile_rows);
      for (int j = 0; j < group_size; ++j) shared.staged[(j * groups + k) * grid.stride + at] = numbers.number[j];
    }
  }

  /// At the gradients of the coordinates that are staged.
  STEIN_HOST_DEVICE void look(std::int64_t first_group, int thread) const {
    if (rows.gradients.data == nullptr) return;
    const int groups = grid.chunk_groups, units = static_cast<int>(grid.rows) * groups;
    const std::int64_t all = groups_in_row(grid.columns);
    bool finite = true;
    for (int unit = thread; unit < units; unit += PairGrid::threads) {
      const std::int64_t row = unit / groups, group = first_group + unit % groups;
      if (group >= all) continue;
      const GroupPlace place = group_place(grid.columns, row, group);
      const FourNumbers numbers = group_at(rows.gradients, place);
      bool clean = true;
      for (const float number : numbers.number) clean = clean && std::isfinite(number);  // zeros past the end
      if (clean) continue;
      rows.flags.name(true, place, numbers);
      finite = false;
    }
    if (!finite) rows.flags.report_gradient();
  }

  STEIN_HOST_DEVICE FourDoubles tile_at(const double* position, int tile) const {
    const TwoDoubles low = *reinterpret_cast<const TwoDoubles*>(position + staged_at(tile, 0)),
                     high = *reinterpret_cast<const TwoDoubles*>(position + staged_at(tile, 2));
    return {{low.number[0], low.number[1], high.number[0], high.number[1]}};
  }

  STEIN_HOST_DEVICE void add(int thread, const Shared& shared, Own& own) const {
    const int lane = thread / grid.slots;
    if (lane >= grid.lanes) return;
    for (int p = lane; p < static_cast<int>(group_size) * grid.chunk_groups; p += grid.lanes) {
      const double* const position = shared.staged + p * grid.stride;
      const FourDoubles row = tile_at(position, own.row), other = tile_at(position, own.other);
      for (int r = 0; r < tile_rows; ++r) {  // of constant length: the sums stay in registers
        for (int c = 0; c < tile_rows; ++c) {
          const double x = row.number[r], y = other.number[c], difference = x - y;
          own.sum[r][c] = term == PairTerm::product ? std::fma(x, y, own.sum[r][c])
                                                    : std::fma(difference, difference, own.sum[r][c]);
        }
      }
    }
  }

  STEIN_HOST_DEVICE void put(int thread, Shared& shared, const Own& own) const {
    for (int r = 0; r < tile_rows; ++r)
      for (int c = 0; c < tile_rows; ++c)
        shared.staged[(r * tile_rows + c) * PairGrid::threads + thread] = own.sum[r][c];
  }

  STEIN_HOST_DEVICE void add_lanes(std::int64_t range, std::int64_t first_tile, int thread,
                                   const Shared& shared) const {
    constexpr int pairs = tile_rows * tile_rows;
    for (int unit = thread; unit < pairs * grid.slots; unit += PairGrid::threads) {
      const int pair = unit / grid.slots, slot = unit % grid.slots;
      double total = 0;
      for (int lane = 0; lane < grid.lanes; ++lane)
        total += shared.staged[pair * PairGrid::threads + lane * grid.slots + slot];
      const std::int64_t tile = first_tile + slot;
      if (tile < grid.tiles) sums[(range * pairs + pair) * grid.tiles + tile] = total;
    }
  }
};

/// Adds up one sum over all ranges; `index` is its position in those of a range.
struct RangeSum {
  const double* sums;  ///< [ranges, count]
  std::int64_t ranges, count;
  double* totals;  ///< [count]

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    double total = 0;
    for (std::int64_t range = 0; range < ranges; ++range) total += sums[range * count + index];
    totals[index] = total;
  }
};

/// The matrix [rows, rows] of the totals [16, tiles].
inline void pair_matrix(const PairGrid& grid, std::span<const double> totals, std::span<double> matrix) {
  for (std::int64_t i = 0; i < grid.rows; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const std::int64_t row = i / tile_rows, tile = row * (row + 1) / 2 + j / tile_rows;
      const std::int64_t pair = i % tile_rows * tile_rows + j % tile_rows;
      matrix[static_cast<std::size_t>(i * grid.rows + j)] = matrix[static_cast<std::size_t>(j * grid.rows + i)] =
          totals[static_cast<std::size_t>(pair * grid.tiles + tile)];
    }
  }
}

}  // namespace stein::inference::cuda
