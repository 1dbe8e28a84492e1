// What a block of the kernel of perceptrons works on: one network, a share of the tiles of rows, and where everything
// of a tile lies in the memory that its threads share.
#pragma once

#include <stein/core/host_device.h>
#include <stein/inference/cuda/coordinate_group.h>
#include <stein/inference/models/mlp_launch.h>

#include <cstdint>

namespace stein::inference::cuda {

/// The network of a block, its share, and what it reads and writes. Units of a layer lie one after the other, each for
/// all rows of the tile; past the last unit or row there is room for whole groups of four, whose slopes are zeros.
/// @tparam whole  the weights are in shared memory, padded with zeros; else they stay in the memory of the device
template <bool whole>
class MlpMemory {
 public:
  STEIN_HOST_DEVICE MlpMemory(const MlpLaunch& launch, std::int64_t block, float* shared)
      : launch_(launch),
        shape_(launch.shape),
        rows_(launch.rows),
        tiling_(launch.tiling),
        shared_(shared),
        share_(block / launch.networks),
        network_(block % launch.networks),
        particle_(network_ / launch.samples),
        weights_(launch.weights + network_ * launch.weight_stride),
        gradient_(gradient_of(launch, share_, network_)) {}

  STEIN_HOST_DEVICE std::int64_t first_tile() const { return share_ * tiling_.tiles / tiling_.shares; }
  STEIN_HOST_DEVICE std::int64_t end_tile() const { return (share_ + 1) * tiling_.tiles / tiling_.shares; }
  STEIN_HOST_DEVICE int layers() const { return shape_.layers; }
  STEIN_HOST_DEVICE bool predicts() const { return launch_.outputs != nullptr; }
  STEIN_HOST_DEVICE bool goes_back() const { return launch_.gradient != nullptr; }
  STEIN_HOST_DEVICE bool adds_up() const { return launch_.sums != nullptr; }

 protected:
  STEIN_HOST_DEVICE static FourNumbers& four_at(float* place) { return *reinterpret_cast<FourNumbers*>(place); }
  STEIN_HOST_DEVICE static int fours(int count) { return (count + 3) / 4; }
  STEIN_HOST_DEVICE bool one_hot() const { return rows_.ones != nullptr; }
  STEIN_HOST_DEVICE int rows_of(std::int64_t tile) const {
    const std::int64_t left = rows_.rows - tile * tiling_.rows;
    return static_cast<int>(left < tiling_.rows ? left : tiling_.rows);
  }
  STEIN_HOST_DEVICE int row_groups(std::int64_t tile) const { return fours(rows_of(tile)); }
  /// Place of row `number` of the batch among rows of which every particle may have its own.
  STEIN_HOST_DEVICE std::int64_t place_of(std::int64_t number, bool own) const {
    return own ? particle_ * rows_.rows + number : number;
  }
  STEIN_HOST_DEVICE std::int64_t input_row(std::int64_t tile) const {
    return place_of(tile * tiling_.rows, rows_.own_inputs);
  }
  STEIN_HOST_DEVICE float* units(int l) const { return shared_ + tiling_.units[l]; }
  STEIN_HOST_DEVICE const float* below(int l) const { return l == 0 ? shared_ + tiling_.inputs : units(l - 1); }
  STEIN_HOST_DEVICE std::int32_t* positions() const { return reinterpret_cast<std::int32_t*>(shared_); }
  STEIN_HOST_DEVICE float* turned(int row) const {
    return shared_ + tiling_.turned + row * 4 * fours(shape_.layer[0].outputs);
  }
  STEIN_HOST_DEVICE double* row_sums() const { return reinterpret_cast<double*>(shared_ + tiling_.sums); }
  STEIN_HOST_DEVICE double* totals() const { return row_sums() + 2 * tiling_.rows; }

  /// Weights from input k of layer l to outputs j, …, j + 3, zeros past the last one; k = inputs: the biases.
  STEIN_HOST_DEVICE FourNumbers weights_at(int l, int k, int j) const {
    const MlpShape::Layer& layer = shape_.layer[l];
    if constexpr (whole) {
      return four_at(shared_ + tiling_.weight[l] + k * 4 * fours(layer.outputs) + j);
    } else {
      FourNumbers found{};
      const float* const from = weights_ + layer.weight + k * layer.outputs + j;
      for (int c = 0; c < 4; ++c)
        if (k <= layer.inputs && j + c < layer.outputs) found.number[c] = from[c];
      return found;
    }
  }
  /// Puts numbers first, …, first + 3 of a row of weights where they belong in shared memory.
  STEIN_HOST_DEVICE void spread(int first, FourNumbers numbers) const {
    int l = 0;
    while (l + 1 < shape_.layers && first >= shape_.layer[l + 1].weight) ++l;
    const int offset = first - shape_.layer[l].weight;
    int k = offset / shape_.layer[l].outputs, j = offset % shape_.layer[l].outputs;
    for (int c = 0; c < 4; ++c) {
      if (k > shape_.layer[l].inputs) k = 0, ++l;  // behind the biases the next layer begins
      if (l == shape_.layers) return;
      shared_[tiling_.weight[l] + k * 4 * fours(shape_.layer[l].outputs) + j] = numbers.number[c];
      if (++j == shape_.layer[l].outputs) j = 0, ++k;
    }
  }

  /// Where the slope of an output of layer l lies.
  STEIN_HOST_DEVICE float& slope_at(int l, int row, int unit) const {
    return l == 0 && one_hot() && goes_back() ? turned(row)[unit] : units(l)[unit * tiling_.pitch + row];
  }
  const MlpLaunch& launch_;
  const MlpShape& shape_;
  const MlpRows& rows_;
  const MlpTiling& tiling_;
  float* shared_;
  std::int64_t share_, network_, particle_;
  const float* weights_;
  float* gradient_;

 private:
  STEIN_HOST_DEVICE static float* gradient_of(const MlpLaunch& launch, std::int64_t share, std::int64_t network) {
    if (launch.gradient == nullptr) return nullptr;
    return launch.shares != nullptr ? launch.shares + (share * launch.networks + network) * launch.padded_size()
                                    : launch.gradient + network * launch.gradient_stride;
  }
};

}  // namespace stein::inference::cuda
