// Ten numbers out of fifty with a conjugate posterior, right or spoiled in ways that belong to a target rather than to
// a sampler: the sign of its prior, and minibatches that nobody scales.
#pragma once

#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/mean_field_gaussian.h>
#include <stein/inference/parameterizations/variational_matrix_gaussian.h>
#include <stein/inference/posterior.h>

#include <cmath>
#include <memory>
#include <vector>

#include "inference/chain_statistics.h"
#include "inference/ensemble_of.h"

namespace stein::inference {

enum class Spoiled { nothing, prior_sign, minibatch };

/// n = 10 of N = 50 numbers that are all 1: log p(y | x) = −τ Σ (y − x)²/2 N/n, with noise of a given sd in the
/// gradient.
class RepeatedNumber final : public Model<double> {
 public:
  RepeatedNumber(std::int64_t size, bool scaled, double gradient_deviation)
      : scaled_(scaled), deviation_(gradient_deviation) {
    layout_.add("mean", {size}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }
  void log_likelihood(const ParticleRows<const double>& weights, const Batch<double>& batch, const NoiseKey& noise,
                      const Evaluation<double>& wanted) override {
    const auto gradient = wanted.gradient;
    const auto value = wanted.value;
    const double count = scaled_ ? batch.data_size : static_cast<double>(batch.rows);
    std::ranges::fill(value, 0.0);
    for (std::int64_t i = 0; i < gradient.rows; ++i) {
      fill_normal(gradient.row(i), {noise.seed, noise.step, Stream::test},
                  static_cast<std::uint32_t>(weights.first_row + i));
      for (std::int64_t q = 0; q < gradient.columns; ++q) {
        const double rest = 1 - weights.values(i, q);
        gradient(i, q) = deviation_ * gradient(i, q) + count * rest;
        if (!value.empty()) value[i] -= count * rest * rest / 2;
      }
    }
  }
  std::int64_t output_count() const override { return layout_.size(); }
  void predict(const ParticleRows<const double>&, const Inputs<double>&, MatrixView<double>) override {}

 private:
  Layout layout_;
  bool scaled_;
  double deviation_;
};

/// Weights ~ N(0, 1/20), or the mirror image of that density.
class NormalPrior final : public Prior<double> {
 public:
  static constexpr double precision = 20;
  explicit NormalPrior(double sign) : sign_(sign) {}
  PriorSpace space() const override { return PriorSpace::weights; }
  void add_log_density(const ParticleRows<const double>& rows, const Evaluation<double>& wanted) const override {
    const auto gradient = wanted.gradient;
    const auto value = wanted.value;
    const MatrixView<const double> values = rows.values;
    for (std::int64_t i = 0; i < values.rows; ++i)
      for (std::int64_t q = 0; q < values.columns; ++q) {
        gradient(i, q) -= sign_ * precision * values(i, q);
        if (!value.empty()) value[i] -= sign_ * precision * values(i, q) * values(i, q) / 2;
      }
  }

 private:
  double sign_;
};

/// How the posterior is asked for.
struct ConjugateCase {
  enum class Weights { direct, mean_field, variational_matrix_gaussian };
  Weights weights = Weights::direct;
  double gradient_deviation = 0;  ///< of samplers that draw nothing themselves, so that chains differ
  std::int64_t together = 1;      ///< particles that see one another; the ensembles are independent
};

inline std::unique_ptr<Parameterization<double>> parameterization(ConjugateCase::Weights form, const Layout& weights) {
  switch (form) {
    case ConjugateCase::Weights::direct: return std::make_unique<Direct<double>>(weights);
    case ConjugateCase::Weights::mean_field:
      return std::make_unique<MeanFieldGaussian<double>>(weights, VariationalOptions{});
    case ConjugateCase::Weights::variational_matrix_gaussian:
      return std::make_unique<VariationalMatrixGaussian<double>>(weights, VariationalOptions{});
  }
  return nullptr;
}

/// |z| of the mean over 64 chains or ensembles against that of the posterior, N/(N + 20): exact for every sampler that
/// is linear on it, and by symmetry for one that would move the mirror image the other way.
template <class S>
double z_of_posterior_mean(const typename S::Options& options, Spoiled spoiled, const ConjugateCase& how = {}) {
  constexpr std::int64_t chains = 64, size = 4, steps = 1000;
  auto model = std::make_unique<RepeatedNumber>(size, spoiled != Spoiled::minibatch, how.gradient_deviation);
  auto weights = parameterization(how.weights, model->layout());
  std::vector<std::unique_ptr<Prior<double>>> priors;
  priors.push_back(std::make_unique<NormalPrior>(spoiled == Spoiled::prior_sign ? -1 : 1));
  Posterior<double> target(std::move(model), std::move(weights), std::move(priors));
  const std::vector<double> inputs(10);  // for samplers that hide some
  const Batch<double> batch{.inputs = {.dense = {inputs.data(), 10, 1}}, .rows = 10, .data_size = 50};

  const std::int64_t ensembles = how.together == 1 ? 1 : chains, rows = how.together == 1 ? chains : how.together;
  ChainAverages mean(chains);
  for (std::int64_t e = 0; e < ensembles; ++e) {
    Particles<double> particles(target.layout(), rows, e * rows, ensembles * rows);
    Ensemble these = ensemble_of(rows, target.layout().size(), 5);  // that see one another, and no others
    these.rows.first = particles.first_row();
    S sampler(options, these);
    for (int t = 0; t < 2 * steps; ++t) {
      sampler.step(particles, target, batch);
      if (t < steps) continue;
      for (std::int64_t i = 0; i < rows; ++i)
        mean.add(ensembles == 1 ? i : e, particles.values()(i, 0) / (static_cast<double>(how.together) * steps));
    }
  }
  mean.count();
  return std::abs(mean.z(50 / (50 + NormalPrior::precision)));
}

}  // namespace stein::inference
