// What structured weights have in common whether the threads of a block turn a matrix or products do.
#pragma once

#include <stein/core/host_device.h>
#include <stein/inference/fused/structured_matrix.h>
#include <stein/inference/parameterizations/structure_launch.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace stein::inference::cuda {

/// A scale from its logarithm. @param logarithms  where these begin among the coordinates; negative: all scales are 1
STEIN_HOST_DEVICE inline float scale_at(const float* coordinates, int logarithms, int at) {
  return logarithms < 0 ? 1 : std::exp(coordinates[logarithms + at]);
}

/// 2/‖v‖² of a reflector from ‖v‖²; not a number for one without direction.
STEIN_HOST_DEVICE inline float reflection_factor(float square) {
  const bool directed = square >= fused::least_square && square <= fused::largest_square;
  return directed ? 2 / square : std::numeric_limits<float>::quiet_NaN();
}

/// Number q of what is the same in weights and coordinates of one network, or its slope back.
STEIN_HOST_DEVICE inline void copy_plain_number(const StructureLaunch& launch, const StructurePlaces::Plain& plain,
                                                std::int64_t network, std::int64_t q) {
  if (launch.gradient != nullptr)
    launch.gradient[network * launch.gradient_stride + plain.coordinate + q] =
        launch.slopes[network * launch.slope_stride + plain.weight + q];
  else
    launch.weights[network * launch.weight_stride + plain.weight + q] =
        launch.coordinates[network * launch.coordinate_stride + plain.coordinate + q];
}

}  // namespace stein::inference::cuda
