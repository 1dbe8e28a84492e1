// Stochastic gradient Hamiltonian Monte Carlo.
#pragma once

#include <stein/inference/samplers/diffusion.h>

namespace stein::inference {

/// Step sizes, temperature, friction and the noise of the gradient.
struct SghmcOptions {
  StepSizeOptions step{.step_size = 1e-6};
  TemperatureOptions temperature{};
  double friction = 0.1;         ///< α
  double gradient_variance = 0;  ///< V, of the noise that minibatches bring
  GradientClipOptions clip{};

  template <class V>
  void describe(V& v) {
    step.describe(v);
    temperature.describe(v);
    v("friction", friction, "α: share of the momentum lost in a step", Range{.low = 0, .high = 1, .low_open = true});
    v("gradient_variance", gradient_variance,
      "V: variance of the noise that minibatches bring to a coordinate of the gradient; that much less is injected",
      non_negative);
    clip.describe(v);
  }
};

/// Stochastic gradient Hamiltonian Monte Carlo (Chen et al. 2014, eq. 15):
///   r ← (1 − α) r + η ∇ log p(φ) + N(0, 2(αT − β̂)η);  φ ← φ + r.
/// with β̂ = ηV/2, which follows the step size (ibid., §3.3). The step size η is that of momentum SGD: the square of a
/// leapfrog step. On a Gaussian target of curvature k, with b = ηk and s² = 2(αT − β̂)η + η²V: E r² = s²/(α(2 − α −
/// b/2)), Var φ = (1 − α/2) E r²/b; tests/inference/exact_law_test.cpp holds it to that.
template <class Scalar>
class Sghmc : public Diffusion<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = SghmcOptions;
  /// The parameters and errors of GradientSampler; Error(usage) too where ηV/2 > αT: there is no negative variance.
  Sghmc(const Options& options, const Ensemble& ensemble);
  std::string_view name() const override { return "sghmc"; }
  /// (1 − α/2)/η.
  double kinetic_scale() const override;

 protected:
  DiffusionNumbers numbers(std::int64_t t, double data_size) const override;

 private:
  Options options_;
};

}  // namespace stein::inference
