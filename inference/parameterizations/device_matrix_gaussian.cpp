#include <stein/core/error.h>
#include <stein/inference/parameterizations/device_matrix_gaussian.h>
#include <stein/inference/parameterizations/direct.h>

namespace stein::inference {

DeviceMatrixGaussian::DeviceMatrixGaussian(Layout weights, const MatrixGaussianOptions& options, Device device)
    : layout_(matrix_gaussian_layout(std::move(weights), options)),
      places_(layout_),
      device_(device),
      driver_(mlp_driver(device)) {
  STEIN_CHECK(!layout_.weights.padded(), "structured weights on a device: expected weights without padding");
  const std::int64_t bytes = places_.shared_floats(true) * static_cast<std::int64_t>(sizeof(float)),
                     most = driver_.shared_bytes(device.index);
  STEIN_CHECK(bytes <= most,
              "structured weights on a device: the largest matrix and its slopes take {} bytes, and threads share {} "
              "there; expected narrower layers, or device=cpu",
              bytes, most);
}

void DeviceMatrixGaussian::forward(const ParticleRows<const float>& coordinates, const NoiseKey&,
                                   MatrixView<float> weights, ForwardTrace&) const {
  driver_.structure(device_.index, {.places = places_,
                                    .networks = coordinates.values.rows,
                                    .coordinates = coordinates.values.data,
                                    .coordinate_stride = coordinates.values.stride,
                                    .weights = weights.data,
                                    .weight_stride = weights.stride});
}

void DeviceMatrixGaussian::pullback(const ParticleRows<const float>& coordinates, const NoiseKey&,
                                    MatrixView<const float> weight_gradient, MatrixView<float> gradient,
                                    ForwardTrace&) const {
  driver_.structure(device_.index, {.places = places_,
                                    .networks = coordinates.values.rows,
                                    .coordinates = coordinates.values.data,
                                    .coordinate_stride = coordinates.values.stride,
                                    .slopes = weight_gradient.data,
                                    .slope_stride = weight_gradient.stride,
                                    .gradient = gradient.data,
                                    .gradient_stride = gradient.stride});
}

void DeviceMatrixGaussian::initialise(Particles<float>& particles, std::uint64_t seed, double spread) {
  initialise_coordinates(particles, seed, spread);
}

}  // namespace stein::inference
