// The structured parameterization by sequential reflections on LibTorch autograd: the reference of the fused one.
#pragma once

#include <stein/inference/parameterization.h>
#include <stein/inference/parameterizations/matrix_gaussian_layout.h>

#include <memory>
#include <vector>

namespace stein::inference {

/// W = P Λ₁ C Λ₂ Qᵀ (see inference/parameterizations/matrix_gaussian_layout.h) for all particles at once, one
/// reflection after the other: X H(v) = X − (X v)(2/‖v‖²) vᵀ, no H is ever formed; gradients by autograd through the
/// graph that `forward` kept.
///
/// Undefined (not a number) where a reflector is exactly 0. Noise keys are not used: nothing in it is random.
template <class Scalar>
class MatrixGaussianReference final : public Parameterization<Scalar> {
 public:
  /// @param weights  layout of the network's weights, rows perhaps padded
  /// @throws Error(usage) if options are out of range
  MatrixGaussianReference(Layout weights, const MatrixGaussianOptions& options);
  ~MatrixGaussianReference() override;

  const Layout& coordinates() const override { return layout_.coordinates; }
  const Layout& weights() const override { return layout_.weights; }

  void reserve(std::int64_t rows) override;
  void forward(const ParticleRows<const Scalar>& coordinates, std::int64_t first, const NoiseKey& noise,
               MatrixView<Scalar> weights) override;
  void pullback(const ParticleRows<const Scalar>& coordinates, std::int64_t first, const NoiseKey& noise,
                MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient) override;
  void initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) override;

 private:
  struct Graph;
  std::shared_ptr<const Graph> graph(MatrixView<const Scalar> coordinates) const;

  MatrixGaussianLayout layout_;
  /// For every reserved row the graph of the last `forward` that it was part of; rows beyond are recomputed.
  std::vector<std::shared_ptr<const Graph>> kept_;
};

extern template class MatrixGaussianReference<float>;
extern template class MatrixGaussianReference<double>;

}  // namespace stein::inference
