// Step size and temperature as functions of the number of steps taken.
#pragma once

#include <stein/core/options.h>
#include <stein/core/snapshot.h>

namespace stein::inference {

/// h_t = h (1 + t/τ)^−γ: with γ = 1 half of h after τ steps; with τ = 1, γ = 1/3 the 0.001 k^(−1/3) of Deng et al.
/// 2019. In cycles of C steps (Zhang et al. 2020, eq. 1) h_t is multiplied by (1 + cos(π (t mod C)/C))/2.
struct StepSizeOptions {
  double step_size = 1e-3;         ///< h, multiplies a direction in units of the full log joint
  double step_decay_steps = 0;     ///< τ; 0: constant
  double step_decay_exponent = 1;  ///< γ
  std::int64_t cycle_steps = 0;    ///< C; 0: no cycles

  template <class V>
  void describe(V& v) {
    v("step_size", step_size, "h, multiplies the direction (∇ of the full log joint, preconditioned)", positive);
    v("step_decay_steps", step_decay_steps, "τ of h/(1 + t/τ)^γ; 0 keeps h", non_negative, "updates");
    v("step_decay_exponent", step_decay_exponent, "γ of h/(1 + t/τ)^γ", positive);
    v("cycle_steps", cycle_steps, "length of a cosine cycle of the step size; 0: no cycles", at_least(0), "updates");
  }
};

/// T_t = T f^⌊t/k⌋ (t + 1)^−A, and 0 during the first part of every cycle.
struct TemperatureOptions {
  double temperature = 1;                    ///< T
  double temperature_decay = 1;              ///< f
  std::int64_t temperature_decay_steps = 1;  ///< k
  double annealing_exponent = 0;             ///< A
  double exploration_share = 0.8;            ///< of a cycle of the step size

  template <class V>
  void describe(V& v) {
    v("temperature", temperature, "T: the target is the posterior to the power 1/T", non_negative);
    v("temperature_decay", temperature_decay, "f: T is multiplied by it every temperature_decay_steps updates",
      Range{.low = 0, .high = 1, .low_open = true});
    v("temperature_decay_steps", temperature_decay_steps, "updates between two multiplications by temperature_decay",
      at_least(1), "updates");
    v("annealing_exponent", annealing_exponent, "A: T is multiplied by (t + 1)^−A", non_negative);
    v("exploration_share", exploration_share, "first part of every cycle, without noise",
      Range{.low = 0, .high = 1, .high_open = true});
  }
};

/// Both as one object, with the factor by which a rolled-back run has lowered its step size.
class Schedule {
 public:
  /// Throws Error(usage) naming the option that is out of range.
  explicit Schedule(const StepSizeOptions& step_size, const TemperatureOptions& temperature = {});

  /// h_t of step t = 0, 1, …
  double step_size(std::int64_t t) const;
  /// T_t, 0 while exploring.
  double temperature(std::int64_t t) const { return exploring(t) ? 0 : temperature_of_noise(t); }
  /// T_t as if no step explored: what the chain is asked for.
  double temperature_of_noise(std::int64_t t) const;
  /// Whether step t lies in the part of its cycle that looks for a mode and draws no samples.
  bool exploring(std::int64_t t) const;

  /// Multiplies all step sizes from now on.
  void scale_step_size(double factor) { factor_ *= factor; }

  void save(Snapshot& snapshot) const { snapshot.put("step_size_factor", factor_); }
  void restore(const Snapshot& snapshot) { factor_ = snapshot.get_scalar<double>("step_size_factor"); }

 private:
  StepSizeOptions step_size_;
  TemperatureOptions temperature_;
  double factor_ = 1;
};

}  // namespace stein::inference
