// Langevin dynamics preconditioned as RMSprop is.
#pragma once

#include <stein/inference/samplers/averaged_square.h>
#include <stein/inference/samplers/diffusion.h>

namespace stein::inference {

/// Step sizes, temperature and the metric.
struct PsgldOptions {
  StepSizeOptions step{};
  TemperatureOptions temperature{};
  AveragedSquareOptions square{};
  GradientClipOptions clip{};

  template <class V>
  void describe(V& v) {
    step.describe(v);
    temperature.describe(v);
    square.describe(v);
    clip.describe(v);
  }
};

/// Preconditioned SGLD (Li et al. 2016; Gan et al. 2017, algorithm 1 with its sign mended):
///   v ← β₁ v + (1 − β₁) g∘g;  G = 1/(λ + √v);  φ ← φ + (h/2) G∘∇ log p(φ) + N(0, h T G).
/// v averages the square of the full f̃ as in algorithm 1, or (`square_of=mean`) of f̃/N as in Li et al. With a metric at
/// rest it is SGLD with step h G/2.
///
/// The term Γ = Σ ∂G/∂φ is left out, as published, and with it the posterior unless v averages over longer than the
/// chain needs to forget (1 − β₁ well below h G k/2 at curvature k). Where the metric is faster, G is a function of φ,
/// and the current of dφ = (h/2) G ∇ log p dt + √(h T G) dW vanishes where ∂(G ρ) = G ρ ∂ log p/T: the law is ρ ∝
/// p^{1/T}/G, for T = 1 p (λ + |g|), on N(0, 1) with λ → 0 of variance 2. Small steps at a fixed β₁ lead there: the
/// bias grows as h falls. tests/inference/psgld_law_test.cpp holds it to both limits.
template <class Scalar>
class Psgld : public Diffusion<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = PsgldOptions;
  /// The parameters and errors of GradientSampler.
  Psgld(const Options& options, const Ensemble& ensemble);
  std::string_view name() const override { return "psgld"; }
  bool exploring(std::int64_t t) const override {
    return options_.square.warming_up(t) || Diffusion<Scalar>::exploring(t);
  }

 protected:
  DiffusionNumbers numbers(std::int64_t t, double data_size) const override;

 private:
  Options options_;
};

}  // namespace stein::inference
