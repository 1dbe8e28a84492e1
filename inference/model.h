// The likelihood of data given the weights of a network, and its gradient.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/batch.h>
#include <stein/inference/layout.h>
#include <stein/inference/particles.h>

#include <span>

namespace stein::inference {

/// A log-likelihood as a function of flat weight vectors.
///
/// Calls for different rows may run at the same time; a model keeps no state of a call.
template <class Scalar>
class Model {
 public:
  virtual ~Model() = default;

  /// Names and places of the weights θ, and of the likelihood's own parameters (`log_noise_precision`). Rows may be
  /// padded.
  virtual const Layout& layout() const = 0;
  /// Where a parameter that is no weight (Role::log_precision, Role::rate) starts.
  virtual double initial_value(const LayoutEntry& entry) const {
    static_cast<void>(entry);
    return 0;
  }
  /// Puts a row of buffers [B] at their starting values.
  virtual void initialise_buffers(std::span<Scalar> row) const { static_cast<void>(row); }
  /// How many rows of weights one call should get: 1, or all where the model computes them together (0).
  virtual std::int64_t rows_per_call() const { return 1; }

  /// Writes ∇θ of (N/n) Σ_i w_i log p(y_i | x_i, θ) for every row.
  /// @param weights   [m, P]; `first_row` keys the noise of a stochastic model (dropout). The buffers [m, B] are read;
  ///                  where there are none a model takes its own
  /// @param gradient  [m, P], overwritten, padding included
  /// @param value     [m] log-likelihoods (scaled N/n, with their constants), or empty if not wanted
  /// @throws Error(usage) if the batch does not fit the layout
  virtual void log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                              const NoiseKey& noise, MatrixView<Scalar> gradient, std::span<Scalar> value) = 0;

  /// Writes H v, with H the Hessian of what `log_likelihood` scores and a vector v [m, P] for every row. The default
  /// takes central differences of the gradient, whose error is of the order of ε^⅔.
  /// @param product  [m, P], overwritten
  virtual void hessian_product(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                               const NoiseKey& noise, MatrixView<const Scalar> vectors, MatrixView<Scalar> product);

  /// Writes to `buffers` [m, B] what they are after the model has seen the batch with these weights and their buffers.
  virtual void adapt(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
                     MatrixView<Scalar> buffers) {
    static_cast<void>(weights), static_cast<void>(batch), static_cast<void>(noise), static_cast<void>(buffers);
  }

  /// Number of outputs of the network for one input row.
  virtual std::int64_t output_count() const = 0;
  /// Writes the network's outputs (the mean of a Gaussian, logits of a categorical or Bernoulli) for every row of
  /// weights and every input: [m·n, K], particle by particle.
  virtual void predict(const ParticleRows<const Scalar>& weights, const Inputs<Scalar>& inputs,
                       MatrixView<Scalar> outputs) = 0;
};

}  // namespace stein::inference
