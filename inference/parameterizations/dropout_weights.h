// Weights of which units are dropped: dropout as a distribution of a perceptron's weights.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/parameterization.h>
#include <stein/inference/parameterizations/dropout_pass.h>

#include <optional>
#include <vector>

namespace stein::inference {

template <class Scalar>
struct WeightDriver;

/// How many hidden units are dropped, and how often a minibatch sees them drawn.
struct DropoutWeightsOptions {
  double dropout_rate = 0.2;        ///< p
  std::int64_t weight_samples = 1;  ///< S

  template <class V>
  void describe(V& v) {
    v("dropout_rate", dropout_rate, "probability that a hidden unit is dropped",
      Range{.low = 0, .high = 1, .high_open = true});
    v("weight_samples", weight_samples, "S: sets of dropped units a minibatch", between(1, 1e6));
  }
};

/// θ = Z M: every row of a weight matrix behind the first layer is what one hidden unit gives on; it is dropped, that
/// is 0, with probability p, else divided by 1 − p (Gal & Ghahramani 2016, "Dropout as a Bayesian approximation", eq.
/// 2: the divergence to a Gaussian prior is, up to a constant, that prior at M). All rows of a minibatch see the same
/// units dropped. Inputs and biases are whole.
template <class Scalar>
class DropoutWeights final : public Parameterization<Scalar> {
 public:
  /// @param device  where coordinates and weights lie
  /// @throws Error(usage) naming the option that is out of range, and for weights of another shape than matrices
  DropoutWeights(Layout weights, const DropoutWeightsOptions& options, Device device = {});

  const Layout& coordinates() const override { return coordinates_; }
  const Layout& weights() const override { return weights_; }
  std::int64_t samples() const override { return options_.weight_samples; }
  void forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise, MatrixView<Scalar> weights,
               ForwardTrace& trace) const override;
  void pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                ForwardTrace& trace) const override;
  void initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) override;

 private:
  /// A parameter: its places among weights and among coordinates, and where its rows may be dropped its first unit.
  struct Part {
    LayoutEntry weight;
    std::int64_t coordinate;
    std::optional<std::int64_t> first_unit;
  };
  DroppedUnits units_of(const Part& part, const NoiseKey& noise) const;
  /// What a row of coordinates calls its first draw.
  std::uint32_t first_draw(const ParticleRows<const Scalar>& coordinates, std::int64_t row) const {
    return static_cast<std::uint32_t>((coordinates.first_row + row) * options_.weight_samples);
  }

  DropoutWeightsOptions options_;
  Layout weights_, coordinates_;
  const WeightDriver<Scalar>& driver_;
  std::vector<Part> parts_;
};

}  // namespace stein::inference
