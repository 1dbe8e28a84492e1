// The latent variables of the spike-and-slab Gaussian–Laplace prior, learned by stochastic approximation.
#pragma once

#include <stein/core/options.h>
#include <stein/core/snapshot.h>
#include <stein/inference/priors/residuals.h>
#include <stein/inference/storage/matrix.h>
#include <stein/inference/storage/row_range.h>

#include <functional>
#include <span>
#include <vector>

namespace stein::inference {

template <class Scalar>
struct WeightDriver;

/// What σ is to the likelihood (eq. 5).
enum class SlabLikelihood {
  regression,      ///< its noise has variance σ² as well
  classification,  ///< it knows no σ
};

/// How far an adaptation moves the latents.
enum class SlabAdaptation {
  stochastic_approximation,  ///< by ω_k = A (k + B)^−α of the way
  expectation_maximisation,  ///< all the way: ω = 1
  fixed,                     ///< not at all: ω = 0
};

/// What σ is divided by in the regression form.
enum class SigmaCount {
  derived,    ///< R_a = N + p + ν + 2, where Q₁ of eq. 10 has its maximum
  published,  ///< R_a = N + p + ν, as eq. 14 prints it
};

/// The laws of spike and slab, and how their numbers are learned.
struct SpikeAndSlabOptions {
  SlabLikelihood likelihood = SlabLikelihood::classification;
  double laplace_scale = 0.1;  ///< v₀
  double gaussian_scale = 10;  ///< v₁
  double sigma = 1;            ///< σ: its value, or where it starts
  double slab_share = 0.5;     ///< δ of every layer: its value, or where it starts; ρ starts there too
  double slab_share_a = 1;     ///< a of δ ~ Beta(a, b)
  double slab_share_b = 1;     ///< b
  double sigma_shape = 1;      ///< ν of σ² ~ IG(ν/2, νλ/2)
  double sigma_scale = 1;      ///< λ
  SlabAdaptation adaptation = SlabAdaptation::stochastic_approximation;
  double rate = 10;              ///< A of ω_k = A (k + B)^−α
  double rate_offset = 1000;     ///< B
  double rate_exponent = 0.7;    ///< α
  bool adapt_sigma = true;       ///< false: σ stays (the deep networks of the paper)
  bool adapt_slab_share = true;  ///< false: δ stays
  SigmaCount sigma_count = SigmaCount::derived;

  template <class V>
  void describe(V& v) {
    v("likelihood", likelihood, "whether σ² is the variance of the likelihood's noise too",
      {{"regression", SlabLikelihood::regression}, {"classification", SlabLikelihood::classification}});
    v("laplace_scale", laplace_scale, "v₀: the spike is Laplace of scale σ v₀", positive);
    v("gaussian_scale", gaussian_scale, "v₁: the slab is Gaussian of variance σ² v₁", positive);
    v("sigma", sigma, "σ, or where it starts", positive);
    v("slab_share", slab_share, "δ of every layer, or where it starts",
      Range{.low = 0, .high = 1, .low_open = true, .high_open = true});
    v("slab_share_a", slab_share_a, "a of δ ~ Beta(a, b)", at_least(1));
    v("slab_share_b", slab_share_b, "b of δ ~ Beta(a, b)", at_least(1));
    v("sigma_shape", sigma_shape, "ν of σ² ~ IG(ν/2, νλ/2)", positive);
    v("sigma_scale", sigma_scale, "λ of σ² ~ IG(ν/2, νλ/2)", positive);
    v("adaptation", adaptation, "ω: A (k + B)^−α, 1, or 0",
      {{"sa", SlabAdaptation::stochastic_approximation},
       {"em", SlabAdaptation::expectation_maximisation},
       {"fixed", SlabAdaptation::fixed}});
    v("rate", rate, "A of ω_k = A (k + B)^−α, which is limited to 1", positive);
    v("rate_offset", rate_offset, "B of ω_k", non_negative, "adaptations");
    v("rate_exponent", rate_exponent, "α of ω_k", Range{.low = 0, .high = 1, .low_open = true});
    v("adapt_sigma", adapt_sigma, "learn σ");
    v("adapt_slab_share", adapt_slab_share, "learn δ");
    v("sigma_count", sigma_count, "whether R_a of the regression form has the 2 that follows from Q₁",
      {{"derived", SigmaCount::derived}, {"published", SigmaCount::published}});
  }
  /// ω_k for k = 1, 2, …
  double weight(std::int64_t k) const;
};

/// ρ, σ and δ of one layer or several for every row of an ensemble (Deng, Zhang, Liang & Lin 2019), in double
/// whatever the weights are. κ₀ = (1 − ρ)/v₀ and κ₁ = ρ/v₁ (eq. 13) are linear in ρ and smoothed by the same ω, so they
/// are computed from it and not kept.
class SpikeAndSlabLatents {
 public:
  /// @param layers  number of weights of each sparse layer, in order; each has its own δ
  /// @param rows    those that have latents here
  /// @param device  where ρ lies, and the weights that it is given
  /// @throws Error(usage) naming the option that is out of range, or if there is no layer or no row
  SpikeAndSlabLatents(const SpikeAndSlabOptions& options, std::vector<std::int64_t> layers, RowRange rows,
                      Device device = {});

  const SpikeAndSlabOptions& options() const { return options_; }
  std::int64_t size() const { return size_; }  ///< p: weights of all sparse layers
  const RowRange& rows() const { return rows_; }
  /// Position of a row among them. Throws Error(usage) if it is none of them.
  std::size_t position(std::int64_t row) const { return rows_.position(row, "spike and slab"); }
  double sigma(std::int64_t row) const { return sigma_[position(row)]; }
  double slab_share(std::int64_t row, std::size_t layer) const;  ///< δ_l
  /// [p] probability of the slab, on the device.
  std::span<const double> rho(std::int64_t row) const;

  /// Adaptation k of a row, from θ⁽ᵏ⁾ to θ⁽ᵏ⁺¹⁾ by ω⁽ᵏ⁺¹⁾: ρ by eq. 12 with β⁽ᵏ⁾, then with the new ρ and β⁽ᵏ⁺¹⁾ σ by
  /// eq. 14, and δ by eq. 15.
  /// @param before     β⁽ᵏ⁾ [p], where the step began
  /// @param after      β⁽ᵏ⁺¹⁾ [p], where it ended
  /// @param residuals  at β⁽ᵏ⁺¹⁾; asked for in the regression form only
  void adapt(std::int64_t row, std::span<const double> before, std::span<const double> after,
             const std::function<Residuals()>& residuals);
  /// The part of Q₁ (eq. 10) that is not the likelihood's, at weights β [p] of a row.
  double log_density(std::int64_t row, std::span<const double> weights) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if they were saved for other rows or layers.
  void restore(const Snapshot& snapshot);

 private:
  SpikeAndSlabOptions options_;
  std::vector<std::int64_t> layers_;
  RowRange rows_;
  std::int64_t size_;
  const WeightDriver<float>& driver_;
  Matrix<double> rho_;               ///< [rows, p], on the device
  std::vector<double> sigma_;        ///< [rows]
  Matrix<double> slab_share_;        ///< [rows, layers]
  std::vector<std::int64_t> count_;  ///< [rows] adaptations so far
  std::vector<double> slabs_;        ///< [layers] Σ ρ in an adaptation
};

}  // namespace stein::inference
