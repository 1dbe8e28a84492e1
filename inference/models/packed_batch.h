// A batch as one run of bytes, so that it goes to a device in one copy.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/models/mlp_launch.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stein::inference {

/// Copies of everything that perceptrons see of a batch, each part on a 16-byte boundary. Dense inputs are multiplied
/// with their mask; where there are positions, their rows stand beside them input by input. Keeps its memory.
class PackedBatch {
 public:
  /// @param batch      that fits the network (check_batch); its score is not copied
  /// @param particles  that see it
  /// @param tiling     of the launch
  /// @param members    whether rows are wanted input by input, tile by tile, as passes backward by tiles want them
  void assign(const MlpShape& shape, const Batch<float>& batch, std::int64_t particles, const MlpTiling& tiling,
              bool members);
  /// Inputs of a prediction, the same for all networks.
  void assign(const Inputs<float>& inputs);

  std::span<const std::byte> bytes() const { return std::span(bytes_).first(used_); }
  /// The same rows where the bytes lie on a device.
  MlpRows rows_at(const std::byte* bytes) const;

 private:
  /// Room for so many numbers. @returns where it begins
  template <class T>
  T* add(std::int64_t count, std::ptrdiff_t& place);
  void clear();
  void add_inputs(const Inputs<float>& inputs, MatrixView<const float> mask, std::int64_t mask_rows);
  void add_members(MatrixView<const std::int32_t> ones, int inputs, std::int64_t rows, int tile_rows);

  static constexpr std::ptrdiff_t nowhere = -1;
  std::vector<std::byte> bytes_;  ///< of which the first `used_` are those of the batch
  std::size_t used_ = 0;
  std::ptrdiff_t dense_ = nowhere, ones_ = nowhere, starts_ = nowhere, members_ = nowhere, targets_ = nowhere,
                 outputs_ = nowhere, weights_ = nowhere;
  MlpRows rows_{};  ///< without addresses
};

}  // namespace stein::inference
