// Santa: stochastic annealing thermostats with adaptive momentum.
#pragma once

#include <stein/inference/samplers/averaged_square.h>
#include <stein/inference/samplers/diffusion.h>

namespace stein::inference {

enum class SantaScheme {
  euler,      ///< algorithm 1
  splitting,  ///< algorithm 2
};

/// Step sizes, annealing, friction and the metric.
struct SantaOptions {
  StepSizeOptions step{.step_size = 1e-6};
  TemperatureOptions temperature{};
  SantaScheme scheme = SantaScheme::splitting;
  std::int64_t exploration_steps = 0;          ///< 0: explores for ever
  double initial_thermostat = 1;               ///< C, α starts at √η C
  AveragedSquareOptions square{.warm_up = 1};  ///< λ inside the outer root
  bool metric_correction = false;
  GradientClipOptions clip{};

  template <class V>
  void describe(V& v) {
    step.describe(v);
    temperature.describe(v);
    v("scheme", scheme, "Euler steps, or symmetric splitting",
      {{"euler", SantaScheme::euler}, {"splitting", SantaScheme::splitting}});
    v("exploration_steps", exploration_steps, "updates with noise, before the refinement without; 0: all of them",
      at_least(0), "updates");
    v("initial_thermostat", initial_thermostat, "C: every thermostat starts at √η C", non_negative);
    square.describe(v);
    v("metric_correction", metric_correction, "the published term for a metric that changes, κ(1 − G′/G)/u");
    clip.describe(v);
  }
};

/// Santa (Chen et al. 2016, algorithms 1 and 2): per-coordinate thermostats, an RMSprop metric and a falling
/// temperature; first exploring with noise, then refining without, as it does too where a cyclical schedule looks for a
/// mode. The equations are in diffusion_steps.inc.
///
/// The published κ(1 − G′/G)/u for a metric that changes has no finite variance; the authors' own code leaves it out,
/// and so does this unless `metric_correction`. Their symmetric splitting asks for the gradient before the first half
/// of the move; here it is asked for after it, without which the scheme is not symmetric. At a metric and temperature
/// that rest, with u = h r, η = h² and α = h ξ, Euler at G = 1 is SGNHT with A = 1/h.
///
/// The noise is multiplied by √G and friction has to balance it: u² can average κ only where G is below about ½ (an α
/// with α(2 − α) = 2G), and Euler's variance is too small by a share of α/2 however small η is. The splitting's bias is
/// of second order in √η, down to a variance that is too large by cosh(α/2) − 1 with sinh α = G: a share of 1/128 at
/// G = ¼. tests/inference/exact_law_test.cpp holds both to their laws. The published average of f̃/N (`square_of=mean`)
/// makes G large: it needs a `preconditioner_epsilon` above 4.
template <class Scalar>
class Santa : public Diffusion<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = SantaOptions;
  /// The parameters and errors of GradientSampler.
  Santa(const Options& options, const Ensemble& ensemble);
  std::string_view name() const override { return "santa"; }
  bool exploring(std::int64_t t) const override {
    return options_.square.warming_up(t) || Diffusion<Scalar>::exploring(t);
  }
  std::string_view form() const override { return options_.scheme == SantaScheme::euler ? "euler" : "splitting"; }
  /// 1/η while it explores, from the thermostat's E u² = η T; 0 while it refines.
  double kinetic_scale() const override;

 protected:
  DiffusionNumbers numbers(std::int64_t t, double data_size) const override;

 private:
  bool refining(std::int64_t t) const;
  Dynamics dynamics(std::int64_t t) const override;
  void before_gradient(Particles<Scalar>& particles) override;

  Options options_;
};

}  // namespace stein::inference
