// Four rows at a time: what one thread of the kernels of SVGD takes of particles that enter one another's sums.
#pragma once

#include <stein/inference/cuda/coordinate_group.h>

#include <cstdint>

namespace stein::inference::cuda {

inline constexpr int tile_rows = 4;
inline constexpr int most_tiled_rows = 1024;  ///< so many rows of one group of coordinates a block has room for

/// Read at once by a thread.
struct alignas(16) TwoDoubles {
  double number[2];
};

/// One number for each row of a tile.
struct alignas(16) FourDoubles {
  double number[tile_rows];
};

/// Tiles of `rows` rows; the last one may have fewer rows.
STEIN_HOST_DEVICE inline std::int64_t row_tiles(std::int64_t rows) {
  return (rows + tile_rows - 1) / tile_rows;
}

/// `groups`, or less so that a block begins on a cache line where it has several.
inline std::int64_t whole_lines(std::int64_t groups) {
  constexpr std::int64_t groups_in_line = 8;
  return groups < groups_in_line ? groups : groups - groups % groups_in_line;
}

}  // namespace stein::inference::cuda
