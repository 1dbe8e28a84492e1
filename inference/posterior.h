// The target that most methods use: a model, a parameterization of its weights, and a prior.
#pragma once

#include <stein/core/pool.h>
#include <stein/inference/model.h>
#include <stein/inference/parameterization.h>
#include <stein/inference/prior.h>
#include <stein/inference/storage/matrix.h>
#include <stein/inference/target.h>

#include <memory>
#include <vector>

namespace stein::inference {

template <class Scalar>
struct WeightDriver;

/// log p(φ | data) = (N/n) Σ log p(y | x, θ(φ)) + log p₀ [+ entropy, for a stochastic parameterization] and its
/// gradient ∇φ = (∂θ/∂φ)ᵀ ∇θ log-likelihood + ∇ log p₀. With S weight samples a row, likelihood and weight priors are
/// averaged over them. In `adapt` buffers of the model move, by the first weight sample of each row, then the latents
/// of the priors, then the mask of the parameterization, then the carried state.
///
/// Weights and their gradients have memory of their own only for as many rows as the calls of the model that run at the
/// same time take; where the parameterization passes coordinates through, none.
template <class Scalar>
class Posterior final : public Target<Scalar> {
 public:
  /// Throws Error(usage) if the parameterization maps to another number of weights or buffers than the model has.
  Posterior(std::unique_ptr<Model<Scalar>> model, std::unique_ptr<Parameterization<Scalar>> parameterization,
            std::vector<std::unique_ptr<Prior<Scalar>>> priors);

  const Layout& layout() const override { return layout_; }
  bool concurrent() const override { return model_->concurrent(); }
  void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
                const Evaluation<Scalar>& wanted) override;
  void adapt(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
             MatrixView<Scalar> buffers) override;
  bool adapts() const override;
  std::span<const std::uint8_t> free_coordinates(std::int64_t row) const override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  /// Writes to `value` [m] what `evaluate` would, without the likelihood: log p₀ at every row; of a variational family
  /// −KL(q ‖ p), by S draws where it has no closed form.
  void evaluate_prior(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise, std::span<double> value);

  /// Multiplies the prior by another factor, which brings no coordinates of its own.
  void multiply_prior(std::unique_ptr<Prior<Scalar>> factor) { priors_.push_back(std::move(factor)); }

  Model<Scalar>& model() { return *model_; }
  const Parameterization<Scalar>& parameterization() const { return *parameterization_; }
  const std::vector<std::unique_ptr<Prior<Scalar>>>& priors() const { return priors_; }
  const Layout& weight_layout() const { return parameterization_->weights(); }
  /// S: rows of weights for each row of coordinates.
  std::int64_t weight_samples() const { return parameterization_->samples(); }

  /// Starting particles: weights as the model starts them if it has a way of its own and the parameterization has a
  /// coordinate for them, else N(0, spread²/fan-in) (He et al. 2015: spread √2); reflectors random, precisions where
  /// the prior and the model start them, buffers as in the model. Every row starts differently.
  Particles<Scalar> initial_particles(std::int64_t rows, std::uint64_t seed, double spread);
  /// The same for particles that are there: those of a shard start as they would in the whole ensemble.
  void initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread);
  /// Writes the network weights [m·S, P] that the coordinates stand for: what a prediction needs, once for many
  /// predictions.
  void effective_weights(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                         MatrixView<Scalar> weights);
  /// The same for one use of them: a view of the coordinates where they are the weights themselves, else of `memory`,
  /// which is made large enough.
  MatrixView<const Scalar> weights_of(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                      Matrix<Scalar>& memory);

 private:
  /// Working memory of one call of the model.
  struct Block {
    Matrix<Scalar> weights;      ///< and behind them their gradients, unless coordinates pass through
    std::vector<double> values;  ///< of every weight sample
    std::unique_ptr<ForwardTrace> trace;
  };
  typename Pool<Block>::Loan borrow_block() const;
  void adapt_buffers(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
                     MatrixView<Scalar> buffers);
  /// Residuals of particle i: targets minus predicted means.
  Residuals residuals(const ParticleRows<const Scalar>& coordinates, std::int64_t i, const Batch<Scalar>& batch,
                      const NoiseKey& noise);
  /// The likelihood of `rows`, m of them, at every weight sample: weights [m·S, P], values [m·S].
  void score(const ParticleRows<const Scalar>& rows, MatrixView<const Scalar> weights, const Batch<Scalar>& batch,
             const NoiseKey& noise, const Evaluation<Scalar>& wanted);
  /// Everything of `evaluate` for the rows first … first + count.
  void evaluate_block(const ParticleRows<const Scalar>& coordinates, std::int64_t first, std::int64_t count,
                      const Batch<Scalar>& batch, const NoiseKey& noise, const Evaluation<Scalar>& wanted);
  /// The value of m rows from those of their weight samples [m·S], and what priors add to value and gradient of the
  /// coordinates.
  void add_prior_of_coordinates(const ParticleRows<const Scalar>& rows, std::span<const double> of_samples,
                                const Evaluation<Scalar>& wanted);
  void start_as_model(Particles<Scalar>& particles, std::uint64_t seed) const;

  std::unique_ptr<Model<Scalar>> model_;
  std::unique_ptr<Parameterization<Scalar>> parameterization_;
  std::vector<std::unique_ptr<Prior<Scalar>>> priors_;
  Layout layout_;
  const WeightDriver<Scalar>& driver_;
  mutable Pool<Block> blocks_;
};

}  // namespace stein::inference
