// The likelihood of data given the weights of a network, and its gradient.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/batch.h>
#include <stein/inference/evaluation.h>
#include <stein/inference/layout.h>
#include <stein/inference/particles.h>
#include <stein/inference/predictor.h>

#include <memory>
#include <span>

namespace stein::inference {

/// A log-likelihood as a function of flat weight vectors.
///
/// Calls for different rows may run at the same time, unless `concurrent` says otherwise; a model keeps no state of a
/// call.
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
  /// Draws a row of weights [P] as the model itself starts; false: it has no start of its own, and nothing is written.
  /// @param row  global number of the row: each starts differently
  virtual bool draw_start(std::span<Scalar> weights, std::uint64_t seed, std::int64_t row) const {
    static_cast<void>(weights), static_cast<void>(seed), static_cast<void>(row);
    return false;
  }
  /// How many rows of weights one call should get at most: 1, or all where the model computes them together (0).
  virtual std::int64_t rows_per_call() const { return 1; }
  /// Whether calls for different rows may run at the same time. Where not, rows are evaluated one call after the other.
  virtual bool concurrent() const { return true; }
  /// Tasks that a call for one row of weights splits this batch into: how many cores it can use.
  virtual std::int64_t tasks(const Batch<Scalar>& batch) const {
    static_cast<void>(batch);
    return 1;
  }

  /// Where weights, buffers, gradients and products lie that it is given. Batches, inputs, outputs and values are on
  /// the host; carried state is there or here, as it says.
  virtual Device device() const { return {}; }
  /// Whether `log_likelihood` can be asked for values that are on their way home (Evaluation::late), so that the host
  /// of a device does not wait for them.
  virtual bool answers_late() const { return false; }

  /// C: numbers that one row of weights carries from a minibatch with these inputs to the next; 0: none.
  virtual std::int64_t carried_size(const Inputs<Scalar>& inputs) const {
    static_cast<void>(inputs);
    return 0;
  }
  /// The C numbers that a row carries are so many blocks of one length, one behind the other; each has the numbers of
  /// sequence 0, then of sequence 1, … of the inputs. So the state of some of the sequences can be found in it.
  virtual std::int64_t carried_blocks() const { return 1; }

  /// Writes (N/n) Σ_i w_i log p(y_i | x_i, θ), with its constants, and its gradient ∇θ, for every row. A model with
  /// state starts from `batch.inputs.carried.before` and writes `after`, a row for each row of weights, numbers
  /// that no gradient goes back through.
  /// @param weights  [m, P]; `first_row` keys the noise of a stochastic model (dropout). The buffers [m, B] are read;
  ///                 where there are none a model takes its own
  /// @param wanted   gradient [m, P], overwritten, padding included; value [m]
  /// @throws Error(usage) if the batch does not fit the layout
  virtual void log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                              const NoiseKey& noise, const Evaluation<Scalar>& wanted) = 0;

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

  /// K: numbers in a row of outputs.
  virtual std::int64_t output_count() const = 0;
  /// r: rows of outputs for these inputs, one an input row; of a sequence model often one a token.
  virtual std::int64_t output_rows(const Inputs<Scalar>& inputs) const { return inputs.rows(); }
  /// Writes the network's outputs (the mean of a Gaussian, logits of a categorical or Bernoulli) for every row of
  /// weights and all inputs: [m·r, K], particle by particle. State goes on as in `log_likelihood`: the owner of
  /// `inputs.carried` moves it on.
  virtual void predict(const ParticleRows<const Scalar>& weights, const Inputs<Scalar>& inputs,
                       MatrixView<Scalar> outputs) = 0;
  /// The same for weights that are predicted with many times. What a model makes of them for its products it makes
  /// once, here; the default makes nothing and calls `predict`. Model, weights and buffers outlive it, and do not
  /// change.
  /// @param weights  one row [1, P]
  virtual std::unique_ptr<Predictor<Scalar>> predictor(const ParticleRows<const Scalar>& weights);
};

}  // namespace stein::inference
