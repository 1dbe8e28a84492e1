// What many draws of the weights predict together, and how far they disagree.
#pragma once

#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/posterior.h>

#include <vector>

namespace stein::inference {

/// Averages the predictions of draws of the weights, one draw after the other, so that neither weights nor predictions
/// are stored. Probabilities are averaged, never logits. Welford's recurrence in double precision: the numbers are
/// those of all draws together.
///
/// Rows are inputs; columns are classes, or the outputs that a Gaussian or a Bernoulli has one variable each for.
/// Entropies are in nats, one a row for a categorical and one an output for a Bernoulli.
class Predictive {
 public:
  /// For n inputs with K outputs each. Throws Error(usage) unless both are at least 1, and 2 classes for a categorical.
  Predictive(Likelihood likelihood, std::int64_t inputs, std::int64_t outputs);

  /// Adds one draw.
  /// @param outputs          [n, K] means of a Gaussian, or logits
  /// @param noise_precision  γ of a Gaussian in this draw
  /// @throws Error(usage) if the shape does not fit; Error(numeric) naming the first output that is no number, and
  ///         nothing is added
  template <class Scalar>
  void add(MatrixView<const Scalar> outputs, double noise_precision = 1);

  /// Adds the draws of another, of the same inputs: chains or shards put together (Chan, Golub & LeVeque 1979). Throws
  /// Error(usage) if it has another likelihood or shape.
  void merge(const Predictive& other);

  /// Draws so far. All that follows throws Error(usage) before the first.
  std::int64_t draws() const { return draws_; }
  /// [n, K] mean probabilities, or means of a Gaussian.
  MatrixView<const double> mean() const;
  /// [n·K] sd over draws of each probability or Gaussian mean, with 1/draws.
  std::vector<double> deviation() const;

  /// [n·K] √(mean of 1/γ): the noise that stays when the weights are known. Gaussian only, as the next.
  std::vector<double> aleatoric_deviation() const;
  /// [n·K] sd of the predicted answer: √(aleatoric² + deviation²), the law of total variance.
  std::vector<double> total_deviation() const;

  /// Entropy of the mean probabilities (Fortunato et al. 2017, eq. 19). Not for a Gaussian, as the next.
  std::vector<double> entropy() const;
  /// Mutual information of answer and weights, H[mean p] − mean H[p]: how far the draws disagree (BALD, Houlsby et al.
  /// 2011, eq. 2).
  std::vector<double> mutual_information() const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if it was saved for another likelihood or shape.
  void restore(const Snapshot& snapshot);

 private:
  bool gaussian() const { return likelihood_ == Likelihood::gaussian; }
  void check_any_draw() const;
  /// Replaces a row of logits by probabilities.
  void to_probabilities(std::span<double> row) const;
  /// One input's probabilities, or means, of the draw that `draws_` counts already.
  void add_row(std::int64_t i, std::span<const double> draw);
  /// Of the probabilities of all rows, in the order of `entropy`.
  std::vector<double> entropies(const std::vector<double>& probabilities) const;

  Likelihood likelihood_;
  std::int64_t inputs_, outputs_, draws_ = 0;
  std::vector<double> mean_, square_;  ///< [n·K] and summed squared deviations
  std::vector<double> mean_entropy_;   ///< of single draws
  double noise_variance_ = 0;          ///< mean of 1/γ
};

/// ΔH = mean entropy over the inputs of `other` − that over those of `test` (Fortunato et al. 2017, eq. 20): how much
/// less sure a model is of data of another kind, such as reversed text. Throws Error(usage) for a Gaussian.
double entropy_gap(const Predictive& other, const Predictive& test);

/// Adds to `predictive` what every draw of the weights behind `coordinates` [m, Q] predicts for `inputs`: m draws, or
/// m·S where a row stands for S. Buffers are those of each row. γ is the draw's own where `log_noise_precision` is
/// sampled, else `noise_precision`.
/// @param noise    keys the weights of a stochastic parameterization: another step for every sample of a chain
/// @param inputs   with a row of carried state for each draw, of a model with state; `after` is written
template <class Scalar>
void add_predictions(Predictive& predictive, Posterior<Scalar>& posterior,
                     const ParticleRows<const Scalar>& coordinates, const Inputs<Scalar>& inputs, const NoiseKey& noise,
                     double noise_precision = 1);

}  // namespace stein::inference
