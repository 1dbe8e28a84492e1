// Posterior sharpening: weights that follow the gradient of the minibatch they are about to be scored on.
#pragma once

#include <stein/core/options.h>
#include <stein/core/pool.h>
#include <stein/inference/model.h>
#include <stein/inference/storage/matrix.h>

#include <memory>
#include <vector>

namespace stein::inference {

template <class Scalar>
struct WeightDriver;
struct SharpeningNumbers;

/// How the gradient of θ(φ) = φ − η ∘ g_φ is taken.
enum class SharpeningGradient {
  first_order,  ///< g_φ held constant
  exact,        ///< through g_φ too: one Hessian-vector product of the model a minibatch
};

/// What the divergence of q(φ) weighs beside a minibatch.
enum class SharpeningObjective {
  full_joint,    ///< KL/(B·C): every weight is paid for once in an epoch
  as_published,  ///< KL/C, as eq. 9 has it: B times as much
};

/// How wide a sharpened posterior is, and where its rate starts.
struct SharpeningOptions {
  double sharpening_deviation = 0.02;  ///< σ₀
  double initial_rate = 0;             ///< where η starts
  double rate_scale = 1;               ///< s: η = s η̂, and η̂ is what is learned
  SharpeningGradient gradient = SharpeningGradient::first_order;
  SharpeningObjective objective = SharpeningObjective::full_joint;
  double minibatches = 1;  ///< B, of `as_published`: known to whoever draws the minibatches, no option

  template <class V>
  void describe(V& v) {
    v("sharpening_deviation", sharpening_deviation, "σ₀: sd of θ around where φ is moved to", positive);
    v("initial_rate", initial_rate, "where every η starts", between(-1e6, 1e6), "1 / gradient of a minibatch");
    v("rate_scale", rate_scale,
      "s of η = s η̂, of which η̂ is learned: how fast rates are learned beside weights, by s² under plain gradient "
      "steps",
      positive);
    v("sharpening_gradient", gradient, "hold the gradient that θ follows constant, or differentiate it as well",
      {{"first_order", SharpeningGradient::first_order}, {"exact", SharpeningGradient::exact}});
    v("sharpening_objective", objective, "weight of the divergence: as (5) has it, or B times that, as (9) has it",
      {{"full_joint", SharpeningObjective::full_joint}, {"as_published", SharpeningObjective::as_published}});
  }
};

/// The likelihood of a hierarchical model, seen from φ (Fortunato et al. 2017, Algorithm 1, eq. 7–9). Given φ and η,
///   g_φ = −∇ log p(y | φ, x) of the minibatch,  θ = φ − η ∘ g_φ + σ₀ ε,
/// and the log-likelihood is (N/n) [log p(y | θ, x) − ‖η ∘ g_φ‖²/(2σ₀²)], the second term being KL[q(θ | φ, (x, y)) ‖
/// N(φ, σ₀² I)]. With `as_published` all of it is divided by B, which is KL times B in another unit.
///
/// The layout is that of the model and for every weight, bias and gain `NAME.rate`, η/`rate_scale`. A mean-field
/// Gaussian over it in a variational objective is the paper's method:
///   auto sharpened = std::make_unique<SharpenedModel<float>>(std::move(model), options);
///   auto family = std::make_unique<MeanFieldGaussian<float>>(sharpened->layout(), VariationalOptions{});
///   auto objective = make_variational_objective<float>(std::move(sharpened), std::move(family), prior);
/// Predictions: `predict` with φ from q alone, or `bound`, whose perplexity is an upper bound.
template <class Scalar>
class SharpenedModel final : public Model<Scalar> {
 public:
  /// Throws Error(usage) naming the option that is out of range.
  SharpenedModel(std::unique_ptr<Model<Scalar>> model, const SharpeningOptions& options);

  const Layout& layout() const override { return layout_; }
  Device device() const override { return model_->device(); }
  double initial_value(const LayoutEntry& entry) const override;
  void initialise_buffers(std::span<Scalar> row) const override { model_->initialise_buffers(row); }
  /// The model's own start, and the initial rates.
  bool draw_start(std::span<Scalar> weights, std::uint64_t seed, std::int64_t row) const override;
  std::int64_t rows_per_call() const override { return model_->rows_per_call(); }
  bool concurrent() const override { return model_->concurrent(); }
  std::int64_t tasks(const Batch<Scalar>& batch) const override { return model_->tasks(batch); }
  std::int64_t output_count() const override { return model_->output_count(); }
  std::int64_t output_rows(const Inputs<Scalar>& inputs) const override { return model_->output_rows(inputs); }
  std::int64_t carried_size(const Inputs<Scalar>& inputs) const override { return model_->carried_size(inputs); }
  std::int64_t carried_blocks() const override { return model_->carried_blocks(); }

  /// Both evaluations of the model have the same noise key: dropout hides the same units in both. They start from the
  /// same carried state, and what comes after is that of θ.
  void log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
                      const Evaluation<Scalar>& wanted) override;
  /// Buffers as φ moves them.
  void adapt(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
             MatrixView<Scalar> buffers) override;
  /// The outputs at φ.
  void predict(const ParticleRows<const Scalar>& weights, const Inputs<Scalar>& inputs,
               MatrixView<Scalar> outputs) override;
  std::unique_ptr<Predictor<Scalar>> predictor(const ParticleRows<const Scalar>& weights) override;

  /// Writes log p(y | θ, x) − KL[q(θ | φ, (x, y)) ‖ N(φ, σ₀² I)] of the minibatch itself (N = n) for each row of
  /// weights: averaged over rows that are draws of φ, the lower bound of eq. 17.
  void bound(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
             std::span<double> value);

 private:
  /// Weights that lie end to end, as do their rates and the indices of their noise.
  struct Stretch {
    std::int64_t weight, rate, count;
    std::uint64_t noise;
  };
  /// Working memory of a call.
  struct Workspace {
    Matrix<Scalar> slope, sharp;
    std::vector<double> score, divergence;
  };
  void make_room(Workspace& space, std::int64_t rows) const;
  ParticleRows<const Scalar> inner(const ParticleRows<const Scalar>& weights) const;
  /// Writes θ of row i to `space.sharp` from φ and its gradient, which is in `space.slope`.
  void sharpen_row(const ParticleRows<const Scalar>& weights, std::int64_t i, const SharpeningNumbers& numbers,
                   const NoiseKey& noise, Workspace& space) const;
  /// What the rates of row i get back, to `wanted`, and what the weights have through their gradient, to `space.sharp`.
  void pull_back_row(const ParticleRows<const Scalar>& weights, std::int64_t i, const SharpeningNumbers& numbers,
                     const Evaluation<Scalar>& wanted, Workspace& space) const;
  /// Calls visit(number of the part, stretch) for all stretches, on the host parts of a fixed size at the same time.
  template <class Visit>
  void for_each_stretch(const Visit& visit) const;

  std::unique_ptr<Model<Scalar>> model_;
  SharpeningOptions options_;
  Layout layout_;
  std::vector<Stretch> stretches_;
  std::vector<std::size_t> parts_;  ///< where among the stretches each begins, and the last one's end
  const WeightDriver<Scalar>& driver_;
  Pool<Workspace> workspaces_;
};

}  // namespace stein::inference
