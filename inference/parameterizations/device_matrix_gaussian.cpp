#include <stein/core/error.h>
#include <stein/inference/models/batched_product.h>
#include <stein/inference/parameterizations/device_matrix_gaussian.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/storage/matrix.h>

namespace stein::inference {
namespace {

/// What products of matrices leave on the device for the way back, and work in, one row each.
struct ProductTrace final : ForwardTrace {
  Matrix<float> kept, working;
};

/// At least so many numbers.
float* numbers_in(Matrix<float>& row, std::int64_t size, Device device) {
  if (row.columns() < size) row = Matrix<float>(1, size, device);
  return row.view().data;
}

}  // namespace

DeviceMatrixGaussian::DeviceMatrixGaussian(Layout weights, const MatrixGaussianOptions& options, Device device)
    : DeviceMatrixGaussian(std::move(weights), options, device, product_driver(device) != nullptr) {}

DeviceMatrixGaussian::DeviceMatrixGaussian(Layout weights, const MatrixGaussianOptions& options, Device device,
                                           bool products)
    : layout_(matrix_gaussian_layout(std::move(weights), options)),
      places_(layout_),
      device_(device),
      driver_(mlp_driver(device)) {
  STEIN_CHECK(!layout_.weights.padded(), "structured weights on a device: expected weights without padding");
  const std::int64_t bytes = places_.shared_floats(true) * static_cast<std::int64_t>(sizeof(float)),
                     most = driver_.shared_bytes(device.index);
  by_products_ = bytes > most;
  STEIN_CHECK(
      products || !by_products_,
      "structured weights on a device: the largest matrix and its slopes take {} bytes, threads share {} there, "
      "and there is no library of products of matrices; expected narrower layers, or device=cpu",
      bytes, most);
}

std::unique_ptr<ForwardTrace> DeviceMatrixGaussian::make_trace() const {
  return std::make_unique<ProductTrace>();
}

StructureLaunch DeviceMatrixGaussian::launch_of(MatrixView<const float> coordinates, ForwardTrace& trace) const {
  StructureLaunch launch{.places = places_,
                         .networks = coordinates.rows,
                         .coordinates = coordinates.data,
                         .coordinate_stride = coordinates.stride};
  if (!by_products_) return launch;
  auto& own = static_cast<ProductTrace&>(trace);
  launch.kept = numbers_in(own.kept, launch.networks * places_.kept_floats(), device_);
  launch.working = numbers_in(own.working, launch.networks * places_.working_floats(), device_);
  return launch;
}

void DeviceMatrixGaussian::forward(const ParticleRows<const float>& coordinates, const NoiseKey&,
                                   MatrixView<float> weights, ForwardTrace& trace) const {
  StructureLaunch launch = launch_of(coordinates.values, trace);
  launch.weights = weights.data, launch.weight_stride = weights.stride;
  driver_.structure(device_.index, launch);
}

void DeviceMatrixGaussian::pullback(const ParticleRows<const float>& coordinates, const NoiseKey&,
                                    MatrixView<const float> weight_gradient, MatrixView<float> gradient,
                                    ForwardTrace& trace) const {
  StructureLaunch launch = launch_of(coordinates.values, trace);
  launch.slopes = weight_gradient.data, launch.slope_stride = weight_gradient.stride;
  launch.gradient = gradient.data, launch.gradient_stride = gradient.stride;
  driver_.structure(device_.index, launch);
}

void DeviceMatrixGaussian::initialise(Particles<float>& particles, std::uint64_t seed, double spread) {
  initialise_coordinates(particles, seed, spread);
}

}  // namespace stein::inference
