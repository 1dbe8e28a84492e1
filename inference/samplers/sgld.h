// Stochastic gradient Langevin dynamics.
#pragma once

#include <stein/inference/samplers/diffusion.h>

namespace stein::inference {

/// Step sizes and temperature.
struct SgldOptions {
  StepSizeOptions step{.step_size = 1e-4};
  TemperatureOptions temperature{};
  GradientClipOptions clip{};

  template <class V>
  void describe(V& v) {
    step.describe(v);
    temperature.describe(v);
    clip.describe(v);
  }
};

/// Stochastic gradient Langevin dynamics (Welling & Teh 2011, eq. 4):
///   φ ← φ + h ∇ log p(φ) + √(2hT) n,  n ~ N(0, I).
/// With gradient noise of variance V on a Gaussian target of curvature k its stationary variance is
/// (2hT + h²V)/(2hk − h²k²); tests/inference/exact_law_test.cpp holds it to that.
template <class Scalar>
class Sgld : public Diffusion<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = SgldOptions;
  /// The parameters and errors of GradientSampler.
  Sgld(const Options& options, const Ensemble& ensemble)
      : Diffusion<Scalar>(Dynamics::sgld, Schedule(options.step, options.temperature), options.clip, ensemble) {}
  std::string_view name() const override { return "sgld"; }

 protected:
  DiffusionNumbers numbers(std::int64_t t, double data_size) const override;
};

}  // namespace stein::inference
