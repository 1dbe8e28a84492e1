// The structured parameterization on LibTorch autograd: the reference of the fused one.
#pragma once

#include <stein/inference/parameterization.h>
#include <stein/inference/parameterizations/matrix_gaussian_layout.h>

#include <memory>
#include <vector>

namespace stein::inference {

/// W = P Λ₁ C Λ₂ Qᵀ (see inference/parameterizations/matrix_gaussian_layout.h) for all particles at once, the
/// reflections of a side at once: X H(v_K) … H(v₁) = X − C V, with C from a triangular system. No H is ever formed;
/// gradients by autograd through the graph that `forward` kept.
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

  std::unique_ptr<ForwardTrace> make_trace() const override;
  void forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise, MatrixView<Scalar> weights,
               ForwardTrace& trace) const override;
  void pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                ForwardTrace& trace) const override;
  void initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) override;

 private:
  struct Graph;
  struct Kept;
  std::unique_ptr<const Graph> graph(MatrixView<const Scalar> coordinates) const;

  MatrixGaussianLayout layout_;
};

extern template class MatrixGaussianReference<float>;
extern template class MatrixGaussianReference<double>;

}  // namespace stein::inference
