// The hierarchical Gaussian prior of the S2VGD paper: Gaussian weights whose precision has a Gamma prior of its own.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/prior.h>
#include <stein/inference/priors/learned_precision.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/matrix.h>

#include <map>
#include <string>

namespace stein::inference {

template <class Scalar>
struct WeightDriver;

/// The precision λ of the weights: given, or learned under a gamma law.
struct GaussianPriorOptions {
  double weight_precision = 1;          ///< λ of weights, biases and gains: its value, or its start if it is learned
  bool learn_weight_precision = false;  ///< sample log λ as a coordinate
  bool precision_per_layer = false;     ///< one λ a layer instead of one for the network
  double reflector_precision = 1;       ///< φ, ψ of the Householder vectors: their values, or where they start
  bool learn_reflector_precision = false;  ///< sample log φ and log ψ as coordinates
  double scale_deviation = 1;              ///< s: log Λ₁, log Λ₂ ~ N(0, s²); ours, the paper gives none
  GammaPriorOptions gamma{};               ///< of every learned precision
  /// Fixed precisions of weights, biases and gains by their names, in place of λ: those of function_prior. No option.
  std::map<std::string, double> precisions{};

  /// What there is to choose for plain weights.
  template <class V>
  void describe(V& v) {
    v("weight_precision", weight_precision,
      "λ of the Gaussian prior on weights, biases and gains (where it starts if learned)", positive);
    v("learn_weight_precision", learn_weight_precision, "sample log λ with the weights");
    v("precision_per_layer", precision_per_layer, "one λ a layer instead of one for the network");
    gamma.describe(v);
  }
  /// What there is where no precision of weights can be learned.
  template <class V>
  void describe_fixed(V& v) {
    v("weight_precision", weight_precision, "λ of the Gaussian prior on weights, biases and gains", positive);
    gamma.describe(v);
  }
  /// What there is besides for structured weights.
  template <class V>
  void describe_structured(V& v) {
    v("reflector_precision", reflector_precision,
      "φ, ψ: precision of the Householder vectors (where they start if learned)", positive);
    v("learn_reflector_precision", learn_reflector_precision, "sample log φ and log ψ with the weights");
    v("scale_deviation", scale_deviation, "sd of log Λ₁ and log Λ₂", positive);
  }
  /// The precision that a coordinate begins with, which is the one it keeps where none is learned; 0 for coordinates
  /// that are not Gaussian.
  double precision_of(const LayoutEntry& entry) const {
    if (entry.is_weight()) return precision_of_weight(entry.name);
    const bool reflector = entry.role == Role::reflector_left || entry.role == Role::reflector_right;
    if (reflector) return reflector_precision;
    return entry.role == Role::log_scale ? 1 / (scale_deviation * scale_deviation) : 0;
  }
  /// The same of the weight, bias or gain of that name.
  double precision_of_weight(const std::string& name) const {
    const auto own = precisions.find(name);
    return own == precisions.end() ? weight_precision : own->second;
  }
  /// Name of the coordinate that holds log λ of `layer`, if it is learned.
  std::string weight_precision_name(std::int64_t layer) const {
    return precision_per_layer ? fmt::format("log_weight_precision{}", layer) : "log_weight_precision";
  }
};

/// Weights and biases ~ N(0, 1/λ), gains of normalisations ~ N(1, 1/λ), Householder vectors ~ N(0, I/φ) and N(0, I/ψ),
/// log Λ ~ N(0, s²), every learned precision ~ Gamma(a₀, b₀) sampled as its logarithm with the Jacobian (Zhang et al.
/// 2018, §3; each normaliser counts its own variables). A coordinate `log_noise_precision` of the model gets the same
/// Gamma prior.
template <class Scalar>
class GaussianPrior final : public Prior<Scalar> {
 public:
  /// @param layout   of the parameterization's coordinates, before this prior extends them; or, if that is the space,
  ///                 of the weights, padded or not
  /// @param without  names of entries on which another prior has a say
  /// @param device   where the rows lie that it is given
  /// @throws Error(usage) naming the option that is out of range; if a precision is to be learned in the space of the
  ///         weights: it is no coordinate; for one precision a layer where none is learned: they would all be the same;
  ///         for a layout with log deviations, whose parameterization brings its own law
  GaussianPrior(const GaussianPriorOptions& options, const Layout& layout, const std::vector<std::string>& without = {},
                PriorSpace space = PriorSpace::coordinates, Device device = {});

  PriorSpace space() const override { return space_; }
  void extend(Layout& coordinates) override;
  void initialise(std::span<Scalar> row) const override;
  void add_log_density(const ParticleRows<const Scalar>& rows, const Evaluation<Scalar>& wanted) const override;

 private:
  /// Parameters that share one precision.
  struct Group {
    std::string name;  ///< of the coordinate that holds its logarithm, if learned
    bool learned;
    double precision;              ///< value, or start
    std::int64_t coordinate = -1;  ///< position of the logarithm in a row, once the layout was extended; −1: fixed
    std::int64_t variables = 0;
    std::vector<NumberRun> runs{};   ///< around 0
    std::vector<NumberRun> gains{};  ///< around 1
  };
  /// The gradient alone, of all rows: no number comes home from a device for it, unless gains have a learned precision.
  void add_slopes(MatrixView<const Scalar> values, MatrixView<Scalar> gradient) const;
  /// Both return a log density and add its gradient, unless that is empty.
  double add_group(const Group& group, std::span<const Scalar> values, std::span<Scalar> gradient) const;
  double add_gamma(std::int64_t coordinate, std::span<const Scalar> values, std::span<Scalar> gradient) const;
  /// gradient ← gradient − λ (x − 1) of gains.
  void subtract_gains(std::span<const Scalar> gains, double precision, std::span<Scalar> gradient) const;
  /// Σ (x − 1)².
  double sum_of_gain_squares(std::span<const Scalar> gains) const;

  GaussianPriorOptions options_;
  PriorSpace space_;
  Device device_;
  const Driver<Scalar>& driver_;
  const WeightDriver<Scalar>& weight_driver_;
  std::vector<Group> groups_;
  std::vector<ScaledRun<Scalar>> fixed_runs_;    ///< around 0, of fixed precisions
  std::vector<std::int64_t> noise_coordinates_;  ///< log-precisions of the model
  Matrix<Scalar> ones_;                          ///< [1, the longest run of gains], where the rows lie
};

/// Puts the weights, biases, gains, log scales and reflectors of all particles at draws from the prior, each precision
/// at its value or start; other coordinates stay. A number depends on the key, its global row and its position alone.
template <class Scalar>
void draw_from_prior(const GaussianPriorOptions& prior, Particles<Scalar>& particles, const NoiseKey& key);

}  // namespace stein::inference
