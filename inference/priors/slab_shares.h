// How the probabilities of the slab follow the weights, as one would write it down. The kernel in fused/slab_shares.h
// is held to it by tests/inference/fused/slab_shares_test.cpp.
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

namespace reference {

/// ρ ← ρ + ω (P(γ = 1 | β) − ρ) for every weight; returns the sum of the new ρ.
/// @param weights  β [p]
/// @param rho      [p]
double move_slab_shares(const SpikeOdds& odds, std::span<const double> weights, double omega, std::span<double> rho);

}  // namespace reference
}  // namespace stein::inference
