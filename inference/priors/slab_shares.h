// The loops of the spike-and-slab prior over its weights. How the probabilities of the slab follow the weights stands
// here as one would write it down: the kernel in fused/slab_shares.h is held to it by
// tests/inference/fused/slab_shares_test.cpp.
#pragma once

#include <span>

namespace stein::inference {

/// log of P(γ = 0 | β)/P(γ = 1 | β) of eq. 12 of Deng et al. 2019: constant − absolute |β| + square β². Neither density
/// ever underflows.
struct SpikeOdds {
  double constant = 0;
  double absolute = 0;  ///< 1/(σ v₀)
  double square = 0;    ///< 1/(2 σ² v₁)
};

/// Σ (1 − ρ) |β| and Σ ρ β².
struct SlabSums {
  double spikes = 0, slabs = 0;
  void operator+=(const SlabSums& more) { spikes += more.spikes, slabs += more.slabs; }
};

/// Of weights β [p] with the probabilities ρ [p], in a fixed order on all threads.
SlabSums slab_sums(std::span<const double> rho, std::span<const double> weights);

/// gradient ← gradient − [(1 − ρ) spike sgn(β) + ρ slab β], of which β = 0 has 0; on all threads.
/// @param spike  1/(σ v₀)
/// @param slab   1/(σ² v₁)
template <class Scalar>
void add_spike_and_slab(double spike, double slab, std::span<const double> rho, std::span<const Scalar> weights,
                        std::span<Scalar> gradient);

namespace reference {

/// ρ ← ρ + ω (P(γ = 1 | β) − ρ) for every weight; returns the sum of the new ρ.
/// @param weights  β [p]
/// @param rho      [p]
double move_slab_shares(const SpikeOdds& odds, std::span<const double> weights, double omega, std::span<double> rho);

}  // namespace reference
}  // namespace stein::inference
