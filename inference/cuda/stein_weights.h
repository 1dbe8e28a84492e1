// The weights of SVGD's kernel where the kernels of an update read them: by tiles of four rows, in one block of memory.
#pragma once

#include <stein/inference/cuda/row_tiles.h>
#include <stein/inference/samplers/kernel_weights.h>

#include <vector>

namespace stein::inference::cuda {

/// KernelWeights of M rows on the device: one FourDoubles that begins with the shift and the bandwidth, then c [tiles],
/// a [tiles, M] and, for the IMQ kernel, b [tiles, M]. Rows that there are not have zeros.
struct SteinWeights {
  FourDoubles* numbers = nullptr;
  std::int64_t rows = 0;
  bool with_positions = false;

  /// FourDoubles that it takes.
  STEIN_HOST_DEVICE std::int64_t size() const { return 1 + row_tiles(rows) * (1 + (with_positions ? 2 : 1) * rows); }
  STEIN_HOST_DEVICE double& shift() const { return numbers->number[0]; }
  STEIN_HOST_DEVICE double& bandwidth() const { return numbers->number[1]; }
  STEIN_HOST_DEVICE FourDoubles& own(std::int64_t tile) const { return numbers[1 + tile]; }
  /// What row j brings to the rows of a tile.
  STEIN_HOST_DEVICE FourDoubles& gradient(std::int64_t tile, std::int64_t j) const {
    return numbers[1 + row_tiles(rows) + tile * rows + j];
  }
  STEIN_HOST_DEVICE FourDoubles& position(std::int64_t tile, std::int64_t j) const {
    return numbers[1 + row_tiles(rows) * (1 + rows) + tile * rows + j];
  }
};

/// The numbers of weights that the host has made, for a copy to SteinWeights::numbers.
inline std::vector<FourDoubles> by_tiles(const KernelWeights& weights, std::int64_t rows) {
  SteinWeights places{.rows = rows, .with_positions = !weights.position.empty()};
  std::vector<FourDoubles> numbers(static_cast<std::size_t>(places.size()));
  places.numbers = numbers.data();
  places.shift() = weights.shift, places.bandwidth() = weights.bandwidth;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t tile = i / tile_rows, r = i % tile_rows;
    places.own(tile).number[r] = weights.own[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < rows; ++j) {
      const auto at = static_cast<std::size_t>(i * rows + j);
      places.gradient(tile, j).number[r] = weights.gradient[at];
      if (places.with_positions) places.position(tile, j).number[r] = weights.position[at];
    }
  }
  return numbers;
}

}  // namespace stein::inference::cuda
