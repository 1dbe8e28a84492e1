// The prior of Bayes by Backprop: a mixture of a wide and a narrow Gaussian.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/prior.h>
#include <stein/inference/priors/scale_mixture_pass.h>

namespace stein::inference {

template <class Scalar>
struct WeightDriver;

/// What one draw of the mixture's component decides.
enum class MixtureOver {
  weight,  ///< every weight on its own: equation 18
  row,     ///< a whole row of a matrix together, as the released code of Fortunato et al. did by mistake
};

/// The two normal laws and their shares.
struct ScaleMixtureOptions {
  double wide_share = 0.25;          ///< π
  double log_wide_deviation = -1;    ///< log σ₁
  double log_narrow_deviation = -7;  ///< log σ₂
  MixtureOver mixture_over = MixtureOver::weight;

  template <class V>
  void describe(V& v) {
    v("wide_share", wide_share, "π: weight of the wide component",
      Range{.low = 0, .high = 1, .low_open = true, .high_open = true});
    v("log_wide_deviation", log_wide_deviation, "log σ₁: sd of the wide component", between(-30, 30));
    v("log_narrow_deviation", log_narrow_deviation, "log σ₂: sd of the narrow component", between(-30, 30));
    v("mixture_over", mixture_over, "a component for every weight, or (as once released) for every row of a matrix",
      {{"weight", MixtureOver::weight}, {"row", MixtureOver::row}});
  }
  /// Standard deviation of the mixture: √(π σ₁² + (1 − π) σ₂²), 0.1839 by default.
  double deviation() const;
};

/// p(w) = π N(w; 0, σ₁²) + (1 − π) N(w; 0, σ₂²) for every weight and bias, around 1 for gains (Blundell et al. 2015,
/// eq. 7; Fortunato et al. 2017, eq. 18), in the space of the network's weights. Other parameters (log-precisions) have
/// no law here. Computed in log space: no weight is too large for it.
template <class Scalar>
class ScaleMixturePrior final : public Prior<Scalar> {
 public:
  /// @param weights  the layout of the network's weights, padded or not
  /// @param device   where the rows lie that it is given
  /// @throws Error(usage) naming the option that is out of range, and unless σ₁ > σ₂
  ScaleMixturePrior(const ScaleMixtureOptions& options, const Layout& weights, Device device = {});

  PriorSpace space() const override { return PriorSpace::weights; }
  void add_log_density(const ParticleRows<const Scalar>& rows, const Evaluation<Scalar>& wanted) const override;

 private:
  /// Adds the gradient, unless that is empty, of all weights of an entry, within whole rows of values and gradient.
  /// @param with_value  else it may return anything
  /// @returns their log density
  double add_entry(const LayoutEntry& entry, std::span<const Scalar> values, std::span<Scalar> gradient,
                   bool with_value) const;

  ScaleMixtureOptions options_;
  Layout weights_;
  const WeightDriver<Scalar>& driver_;
  double log_share_[2];  ///< log π, log(1 − π)
  ScaleMixture law_;     ///< of a weight whose centre is 0
};

}  // namespace stein::inference
