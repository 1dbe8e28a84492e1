// Parameterizations whose coordinates describe a distribution of the weights, with what its divergence needs.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/parameterization.h>
#include <stein/inference/parameterizations/mean_field_pass.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stein::inference {

template <class Scalar>
struct WeightDriver;

/// How often a family is drawn from, and where its spread starts: by default at a quarter to half of the sd of the
/// scale mixture with its default options (Fortunato et al. 2017).
struct VariationalOptions {
  std::int64_t weight_samples = 1;  ///< S: draws of θ a minibatch
  double initial_deviation_low = 0.046;
  double initial_deviation_high = 0.092;

  template <class V>
  void describe(V& v) {
    v("weight_samples", weight_samples, "S: draws of the weights a minibatch", between(1, 1e6));
    v("initial_deviation_low", initial_deviation_low, "sd of a weight starts uniformly between this …", positive);
    v("initial_deviation_high", initial_deviation_high, "… and this", positive);
  }
  /// A starting sd.
  double draw_deviation(Draws& draws) const { return draws.uniform(initial_deviation_low, initial_deviation_high); }
};

/// Where the ε of one draw of the weights lie: row `row` of a sheet, at the weights' unpadded indices.
struct VariationalNoise {
  NoiseKey key;
  std::uint32_t row;

  /// Those of a parameter whose first weight has this index.
  MeanFieldNoise from(std::int64_t first) const { return {key, row, static_cast<std::uint64_t>(first)}; }
};

/// The Gaussian of one named parameter: knows its own coordinates in a row [Q] and its own weights in a row [P].
template <class Scalar>
class VariationalPart {
 public:
  virtual ~VariationalPart() = default;

  /// Name of the parameter that it distributes.
  virtual const std::string& name() const = 0;
  /// Weights that it distributes.
  virtual std::int64_t variables() const = 0;
  /// Writes a draw of its weights, zeros in their padding.
  virtual void draw(std::span<const Scalar> row, const VariationalNoise& noise, std::span<Scalar> weights) const = 0;
  /// Writes, to its own coordinates, the gradient of Σ_s ⟨g_s, θ_s⟩ + log |∂θ/∂ε| − λ/2 E‖θ − c‖², with c the centre of
  /// the weights (1 for gains, else 0), through draws that are made again.
  /// @param noise            of the first draw; the others have the rows behind it
  /// @param weight_gradient  g, [S, P]
  virtual void pull_back(std::span<const Scalar> row, const VariationalNoise& noise,
                         MatrixView<const Scalar> weight_gradient, double precision,
                         std::span<Scalar> gradient) const = 0;
  /// log |∂θ/∂ε|.
  virtual double log_determinant(std::span<const Scalar> row) const = 0;
  /// E‖θ − c‖².
  virtual double expected_square(std::span<const Scalar> row) const = 0;
  /// Draws where its spread starts.
  virtual void initialise(std::span<Scalar> row, Draws& draws) const = 0;
};

/// q(θ | φ), Gaussian in every named parameter and drawn from by reparameterization. `forward` draws weights,
/// `pullback` carries their gradient back through the same draw. The gradient of q's entropy is the pathwise one of
/// −log q at the draw, too.
///
/// Weights, biases and gains are distributed, their means are coordinates under the same names; every other parameter
/// of the model (a log-precision, a rate) is a point that passes through and has no entropy.
template <class Scalar>
class VariationalFamily : public Parameterization<Scalar> {
 public:
  const Layout& coordinates() const override { return coordinates_; }
  const Layout& weights() const override { return weights_; }
  std::int64_t samples() const override { return options_.weight_samples; }

  void forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise, MatrixView<Scalar> weights,
               ForwardTrace& trace) const override;
  void pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                ForwardTrace& trace) const override;
  void add_entropy(const ParticleRows<const Scalar>& coordinates, std::span<double> value) const override;
  void initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) override;

  /// From now on E_q log N(θ; c, 1/λ) over weights, biases and gains, with its normaliser, stands with the entropy:
  /// together −KL(q ‖ N(c, 1/λ)), whose gradient costs no pass of its own. @param precision_of  λ of a name
  void include_gaussian_prior(const std::function<double(const std::string&)>& precision_of);
  /// Writes the mean of q [m, P], padding included: prediction without sampling.
  void mean_weights(MatrixView<const Scalar> coordinates, MatrixView<Scalar> weights) const;

 protected:
  /// @param device  where coordinates and weights lie
  /// @throws Error(usage) naming the option that is out of range, or unless low ≤ high
  VariationalFamily(Layout weights, const VariationalOptions& options, Device device = {});
  /// How a derived class gives a parameter its Gaussian; every weight, bias and gain needs one.
  void add(std::unique_ptr<VariationalPart<Scalar>> part) { parts_.push_back(std::move(part)); }

  VariationalOptions options_;
  Layout weights_;
  Layout coordinates_;  ///< the means; a derived class appends what spreads them

 private:
  /// A parameter that is a point: its entry among the weights, its place in a row of coordinates.
  struct Point {
    LayoutEntry weight;
    std::int64_t coordinate;
  };

  double prior_precision(std::size_t part) const { return prior_precisions_.empty() ? 0 : prior_precisions_[part]; }

  const WeightDriver<Scalar>& driver_;
  std::vector<std::unique_ptr<VariationalPart<Scalar>>> parts_;
  std::vector<Point> points_;
  std::vector<double> prior_precisions_;  ///< of every part; empty: the prior is another's affair
};

}  // namespace stein::inference
