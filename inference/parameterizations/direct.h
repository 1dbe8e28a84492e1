// The plain parameterization: what is sampled are the weights themselves.
#pragma once

#include <stein/inference/parameterization.h>

namespace stein::inference {

/// θ = φ. Rows of weights may be padded in θ; φ is not.
template <class Scalar>
class Direct final : public Parameterization<Scalar> {
 public:
  /// @param device  where coordinates and weights lie
  /// @throws Error(usage) for weights with padding on another device than the host
  explicit Direct(Layout weights, Device device = {});

  const Layout& coordinates() const override { return coordinates_; }
  const Layout& weights() const override { return weights_; }
  bool passes_through() const override { return !weights_.padded(); }
  void forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise, MatrixView<Scalar> weights,
               ForwardTrace& trace) const override;
  void pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                ForwardTrace& trace) const override;
  void initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) override;

 private:
  Layout weights_, coordinates_;
  Device device_;
};

/// `layout` without padding: the same names and shapes, rows end to end.
Layout without_padding(const Layout& layout);

/// Writes rows laid out without padding [m, ≥ coordinate_count] to rows of `layout` [m, P], zeros in the padding.
template <class Scalar>
void add_padding(const Layout& layout, MatrixView<const Scalar> from, MatrixView<Scalar> to);
/// The reverse of add_padding; what lies behind in a row of `to` stays as it was.
template <class Scalar>
void remove_padding(const Layout& layout, MatrixView<const Scalar> from, MatrixView<Scalar> to);

/// Draws every Role::weight entry from N(0, spread² / inputs), Role::reflector_* from N(0, 1), and puts the others at
/// their centre: gains at 1, the rest at 0. The number at a coordinate depends on the seed, its global row and its
/// position alone.
template <class Scalar>
void initialise_coordinates(Particles<Scalar>& particles, std::uint64_t seed, double spread,
                            Stream stream = Stream::initial_values);

}  // namespace stein::inference
