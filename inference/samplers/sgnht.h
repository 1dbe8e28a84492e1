// Stochastic gradient Nosé–Hoover thermostats.
#pragma once

#include <stein/inference/samplers/diffusion.h>

namespace stein::inference {

/// What shares a thermostat.
enum class Thermostat {
  particle,    ///< one ξ for all coordinates of a particle (Ding et al. 2014)
  coordinate,  ///< one for every coordinate (Gan et al. 2015)
};

/// Step sizes, temperature and the thermostats.
struct SgnhtOptions {
  StepSizeOptions step{};
  TemperatureOptions temperature{};
  double diffusion = 1;  ///< A
  Thermostat thermostat = Thermostat::coordinate;
  GradientClipOptions clip{};

  template <class V>
  void describe(V& v) {
    step.describe(v);
    temperature.describe(v);
    v("diffusion", diffusion, "A: injected noise has variance 2AhT; friction settles at A plus what gradients bring",
      positive);
    v("thermostat", thermostat, "one friction a particle, or one a coordinate",
      {{"particle", Thermostat::particle}, {"coordinate", Thermostat::coordinate}});
    clip.describe(v);
  }
};

/// Stochastic gradient Nosé–Hoover thermostat (Ding et al. 2014, eq. 9; Gan et al. 2017, table 1):
///   r ← r − ξ r h + h ∇ log p(φ) + √(2AhT) n;  φ ← φ + h r;  ξ ← ξ + h (r·r/Q − T), or ξ ← ξ + h (r∘r − T).
/// ξ starts at A, r at N(0, T I). Where a cyclical schedule looks for a mode without noise, ξ rests: nothing but
/// friction would drive it there. Its stationary law has E r² = T and E[φ r′] = −h E r²/2 exactly, r′ the updated
/// momentum; tests/inference/exact_law_test.cpp holds it to that.
template <class Scalar>
class Sgnht : public Diffusion<Scalar> {
 public:
  /// What the registry makes it from.
  using Options = SgnhtOptions;
  /// The parameters and errors of GradientSampler.
  Sgnht(const Options& options, const Ensemble& ensemble);
  std::string_view name() const override { return "sgnht"; }
  std::string_view form() const override {
    return options_.thermostat == Thermostat::particle ? "one thermostat a particle" : "one thermostat a coordinate";
  }
  double kinetic_scale() const override { return 1; }

 protected:
  DiffusionNumbers numbers(std::int64_t t, double data_size) const override;

 private:
  Dynamics dynamics(std::int64_t t) const override;
  void before_gradient(Particles<Scalar>& particles) override;
  void move_thermostats(std::span<const double> momentum_squares) override;

  Options options_;
};

}  // namespace stein::inference
