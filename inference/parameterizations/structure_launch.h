// A launch that makes structured weights on a device, or pulls their slopes back, as data: numbers and addresses only.
#pragma once

#include <stein/core/host_device.h>

#include <cstdint>

namespace stein::inference {

struct MatrixGaussianLayout;

/// Where the parts of the matrices W = P Λ₁ C Λ₂ Qᵀ lie in a row of coordinates, and the matrices in a row of weights;
/// neither is padded.
struct StructurePlaces {
  static constexpr int most_matrices = 8, most_plain = 24, none = -1;
  /// One matrix [rows, columns].
  struct Matrix {
    int rows, columns;
    int weight, core;
    int log_scale_left, log_scale_right;    ///< `none` where they are ones
    int reflectors_left, reflectors_right;  ///< of the first reflector; one follows the other
    int left, right;                        ///< how many

    /// Of the matrix.
    STEIN_HOST_DEVICE std::int64_t numbers() const { return std::int64_t{rows} * columns; }
    /// Floats of a network that are kept from the way there for the way back, where products turn the matrix.
    std::int64_t kept_floats() const;
    /// Floats of a network that these products work in.
    std::int64_t working_floats() const;
  };
  /// Numbers that are the same in both.
  struct Plain {
    int weight, coordinate, count;
  };
  Matrix matrix[most_matrices]{};
  Plain plain[most_plain]{};
  int matrices = 0, plains = 0;

  StructurePlaces() = default;
  /// Throws Error(usage) for more parts than there is room for.
  explicit StructurePlaces(const MatrixGaussianLayout& layout);

  /// Floats that a block shares for the largest matrix, or for it and its slopes.
  std::int64_t shared_floats(bool backward) const;
  /// Of all matrices, and of the one with the most: what a launch needs for each network where products turn them.
  std::int64_t kept_floats() const;
  std::int64_t working_floats() const;
};

/// Everything that a kernel is told. With `gradient` slopes are pulled back, else weights are made.
struct StructureLaunch {
  StructurePlaces places{};
  std::int64_t networks = 0;
  const float* coordinates = nullptr;
  std::int64_t coordinate_stride = 0;
  float* weights = nullptr;
  std::int64_t weight_stride = 0;
  const float* slopes = nullptr;  ///< of the weights
  std::int64_t slope_stride = 0;
  float* gradient = nullptr;  ///< of the coordinates
  std::int64_t gradient_stride = 0;
  /// Where products of matrices turn the matrices, [m · kept_floats()], which the way there writes and the way back
  /// reads, and [m · working_floats()]; null where the threads of a block share a matrix.
  float *kept = nullptr, *working = nullptr;

  /// A block a network and matrix, and one for the rest of a network.
  STEIN_HOST_DEVICE std::int64_t blocks() const { return networks * (places.matrices + 1); }
};

}  // namespace stein::inference
