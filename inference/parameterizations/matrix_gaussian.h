// The structured parameterization "matrix Gaussian", in SIMD: each row in a few passes over matrices that stay in the
// cache. Its reference is torch/matrix_gaussian_reference.h.
#pragma once

#include <stein/inference/parameterization.h>
#include <stein/inference/parameterizations/matrix_gaussian_layout.h>

#include <memory>
#include <vector>

namespace stein::inference {

/// W = P Λ₁ C Λ₂ Qᵀ (see inference/parameterizations/matrix_gaussian_layout.h) in compact-WY form. Rows are independent
/// of each other, the same bits at any thread count and for any grouping of rows.
///
/// Cost: about 4 K multiply-adds a weight forward and 8 K back, for K reflectors a side.
/// Throws Error(numeric), naming it, for a reflector without a direction: squared length outside [1e-30, 1e30].
class MatrixGaussian final : public Parameterization<float> {
 public:
  /// @param weights  layout of the network's weights, rows perhaps padded
  /// @throws Error(usage) if options are out of range
  MatrixGaussian(Layout weights, const MatrixGaussianOptions& options);

  const Layout& coordinates() const override { return layout_.coordinates; }
  const Layout& weights() const override { return layout_.weights; }

  std::unique_ptr<ForwardTrace> make_trace() const override;
  void forward(const ParticleRows<const float>& coordinates, const NoiseKey& noise, MatrixView<float> weights,
               ForwardTrace& trace) const override;
  void pullback(const ParticleRows<const float>& coordinates, const NoiseKey& noise,
                MatrixView<const float> weight_gradient, MatrixView<float> gradient,
                ForwardTrace& trace) const override;
  void initialise(Particles<float>& particles, std::uint64_t seed, double spread) override;

 private:
  class Kept;
  void check(std::int64_t rows, std::int64_t columns, std::int64_t weight_rows, std::int64_t weight_columns) const;

  MatrixGaussianLayout layout_;
  std::vector<std::int64_t> kept_offsets_;  ///< of the matrices inside what is kept of one row
  std::int64_t kept_size_ = 0;
};

}  // namespace stein::inference
