// The spike-and-slab Gaussian–Laplace prior on chosen layers, and the posterior that it makes.
#pragma once

#include <stein/inference/parameterizations/masked.h>
#include <stein/inference/posterior.h>
#include <stein/inference/priors/gaussian_prior.h>
#include <stein/inference/priors/spike_and_slab.h>

#include <memory>
#include <string>

namespace stein::inference {

/// β | γ ~ (1 − γ) Laplace(0, σ v₀) + γ N(0, σ² v₁), γ ~ Bernoulli(δ_l), δ_l ~ Beta(a, b), σ² ~ IG(ν/2, νλ/2) on chosen
/// entries of the coordinates (Deng et al. 2019, eq. 4). What is sampled is the bound of eq. 10 with γ averaged out:
///   log p₀ = −Σ_j [κ₀ⱼ |βⱼ|/σ + κ₁ⱼ βⱼ²/(2σ²)] − (p + ν + 2) log σ − νλ/(2σ²),
/// with a gradient of 0 at β = 0; `adapt` moves the latents as SpikeAndSlabLatents says. Other entries have no law
/// here.
///
/// β⁽ᵏ⁾ of eq. 12 is where the last gradient before the adaptation was taken.
template <class Scalar>
class SpikeAndSlabPrior final : public Prior<Scalar> {
 public:
  /// @param latents      of these entries, in their order; shared with whatever else needs σ
  /// @param coordinates  of the parameterization
  /// @param entries      names of the sparse layers' parameters
  /// @param device       where the rows lie that it is given, and ρ
  /// @throws Error(usage) naming an entry that there is not, or unless the latents are of as many weights
  SpikeAndSlabPrior(std::shared_ptr<SpikeAndSlabLatents> latents, const Layout& coordinates,
                    const std::vector<std::string>& entries, Device device = {});

  void add_log_density(const ParticleRows<const Scalar>& rows, const Evaluation<Scalar>& wanted) const override;
  void observe(const ParticleRows<const Scalar>& coordinates) override;
  void adapt(const ParticleRows<const Scalar>& coordinates,
             const std::function<Residuals(std::int64_t)>& residuals) override;
  bool adapts() const override { return true; }
  void save(Snapshot& snapshot) const override { latents_->save(snapshot); }
  void restore(const Snapshot& snapshot) override { latents_->restore(snapshot); }

  const SpikeAndSlabLatents& latents() const { return *latents_; }

 private:
  std::span<double> observed_row(std::int64_t row) {
    return observed_.row(static_cast<std::int64_t>(latents_->position(row)));
  }
  /// The sparse weights [p] of a row of coordinates, as doubles.
  void gather(std::span<const Scalar> row, std::span<double> weights) const;

  std::shared_ptr<SpikeAndSlabLatents> latents_;
  const WeightDriver<Scalar>& driver_;
  std::vector<std::pair<std::int64_t, std::int64_t>> spans_;  ///< offset and length of every entry
  Matrix<double> observed_;                                   ///< [rows, p] where the last gradients were taken
  Matrix<double> after_;                                      ///< [1, p] of one row, where the step ended
};

/// Sizes of chosen entries of a layout. Throws Error(usage) naming one that there is not.
std::vector<std::int64_t> sizes_of(const Layout& layout, const std::vector<std::string>& entries);

/// The priors of a posterior whose chosen entries are sparse.
struct SpikeAndSlabPosteriorOptions {
  SpikeAndSlabOptions sparse{};              ///< of the chosen entries
  GaussianPriorOptions dense{};              ///< of all others
  PruningOptions pruning{.final_share = 0};  ///< of the chosen entries; not asked for where `describe` is

  template <class V>
  void describe(V& v) {
    sparse.describe(v);
    dense.describe(v);
  }
};

/// A posterior and the latents that it moves.
template <class Scalar>
struct SpikeAndSlabPosterior {
  std::unique_ptr<Posterior<Scalar>> posterior;
  std::shared_ptr<const SpikeAndSlabLatents> latents;
};

/// The weights of `model` under a spike-and-slab prior on `entries` and a Gaussian one on the others, for `rows` of an
/// ensemble; the smallest of the chosen ones are pruned if `pruning` says so. In the regression form the model must
/// have its noise precision as the last entry of its layout
/// (`learn_noise_precision`): it follows σ (see CoupledNoise). Throws Error(usage) if it has none.
template <class Scalar>
SpikeAndSlabPosterior<Scalar> make_spike_and_slab_posterior(const SpikeAndSlabPosteriorOptions& options,
                                                            std::unique_ptr<Model<Scalar>> model,
                                                            const std::vector<std::string>& entries,
                                                            RowRange rows = {});

}  // namespace stein::inference
