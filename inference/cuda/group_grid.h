// Which thread of which block of a kernel has which group of which row, without a division.
#pragma once

#include <stein/inference/cuda/coordinate_group.h>

#include <algorithm>

namespace stein::inference::cuda {

inline constexpr unsigned block_threads = 256;  ///< of every kernel

/// Blocks of threads over rows: along x the groups of a row, along y rows. A row whose groups are fewer than the
/// threads of a block shares its block with others.
struct GroupGrid {
  static constexpr std::int64_t most_blocks = 65535;  ///< that CUDA has along y

  std::int64_t first_row, rows, columns;
  unsigned across, along;  ///< threads of a block: groups and rows
  unsigned blocks_x, blocks_y;

  /// From row `first` of `all` rows of `size` numbers on, as many as one grid has.
  GroupGrid(std::int64_t first, std::int64_t all, std::int64_t size)
      : first_row(first), rows(all), columns(size), across(1) {
    const std::int64_t groups = groups_in_row(columns);
    while (across < block_threads && across < groups) across *= 2;
    along = block_threads / across;
    blocks_x = static_cast<unsigned>((groups + across - 1) / across);
    blocks_y = static_cast<unsigned>(std::min((rows - first_row + along - 1) / along, most_blocks));
  }

  /// The first row past this grid; `rows` or more where it is the last one.
  std::int64_t next_row() const { return first_row + static_cast<std::int64_t>(blocks_y) * along; }
  /// Of a thread.
  STEIN_HOST_DEVICE std::int64_t group(unsigned block_x, unsigned thread_x) const {
    return static_cast<std::int64_t>(block_x) * across + thread_x;
  }
  STEIN_HOST_DEVICE std::int64_t row(unsigned block_y, unsigned thread_y) const {
    return first_row + static_cast<std::int64_t>(block_y) * along + thread_y;
  }
  /// Whether there is such a group: threads of the last blocks may have none.
  STEIN_HOST_DEVICE bool has(std::int64_t row, std::int64_t group) const {
    return row < rows && group * group_size < columns;
  }
};

/// Calls visit(grid) with grids that have every group of `rows` rows of `columns` numbers once.
template <class Visit>
void with_grids(std::int64_t rows, std::int64_t columns, const Visit& visit) {
  if (columns == 0) return;
  for (std::int64_t row = 0; row < rows;) {
    const GroupGrid grid(row, rows, columns);
    visit(grid);
    row = grid.next_row();
  }
}

}  // namespace stein::inference::cuda
