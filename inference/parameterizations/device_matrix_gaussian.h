// The structured parameterization "matrix Gaussian" on a device: what MatrixGaussian is on the host.
#pragma once

#include <stein/inference/models/mlp_driver.h>
#include <stein/inference/parameterization.h>
#include <stein/inference/parameterizations/matrix_gaussian_layout.h>
#include <stein/inference/storage/device.h>

namespace stein::inference {

/// W = P Λ₁ C Λ₂ Qᵀ (see inference/parameterizations/matrix_gaussian_layout.h), all rows in one launch, reflection
/// after reflection; by products of matrices in compact WY form where one of them and its slopes do not fit the memory
/// that a block of threads shares. Coordinates, weights and gradients lie on the device; nobody waits for a launch.
///
/// Weights of a matrix with a reflector that has no direction (MatrixGaussian) are not finite, which the sampler finds.
class DeviceMatrixGaussian final : public Parameterization<float> {
 public:
  /// @param weights  layout of the network's weights, not padded
  /// @param device   other than the host
  /// @throws Error(usage) if options are out of range, for more matrices than a launch has, for a padded layout, and
  ///         for matrices that are too large for a block where the device has no products
  DeviceMatrixGaussian(Layout weights, const MatrixGaussianOptions& options, Device device);
  /// The same. @param products  whether the driver makes products of matrices of those that are large
  DeviceMatrixGaussian(Layout weights, const MatrixGaussianOptions& options, Device device, bool products);

  const Layout& coordinates() const override { return layout_.coordinates; }
  const Layout& weights() const override { return layout_.weights; }

  std::unique_ptr<ForwardTrace> make_trace() const override;
  void forward(const ParticleRows<const float>& coordinates, const NoiseKey& noise, MatrixView<float> weights,
               ForwardTrace& trace) const override;
  void pullback(const ParticleRows<const float>& coordinates, const NoiseKey& noise,
                MatrixView<const float> weight_gradient, MatrixView<float> gradient,
                ForwardTrace& trace) const override;
  /// Of particles on the host.
  void initialise(Particles<float>& particles, std::uint64_t seed, double spread) override;

 private:
  StructureLaunch launch_of(MatrixView<const float> coordinates, ForwardTrace& trace) const;

  MatrixGaussianLayout layout_;
  StructurePlaces places_;
  Device device_;
  const MlpDriver& driver_;
  bool by_products_ = false;
};

}  // namespace stein::inference
