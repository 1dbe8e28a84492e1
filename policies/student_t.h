// Student-t variables with location and scale: draws, and how likely each of several is the largest.
#pragma once

#include <span>

namespace stein {
class Draws;
}

namespace stein::policies {

/// location + scale · T, T Student-t with `degrees` degrees of freedom.
struct StudentT {
  double degrees = 1;
  double location = 0;
  double scale = 1;
};

/// One value of the variable.
double draw(const StudentT& variable, Draws& draws);

/// Writes to `probabilities` the probability that each of the independent `variables` is the largest,
///   P(a) = ∫ f_a(t) ∏_{b≠a} F_b(t) dt,
/// with an absolute error below 1e-8; they sum to 1. Scales below 1e-9 of the span of the locations count as that.
/// Throws Error(usage) unless there is at least one variable, as many probabilities, degrees ≥ 1, scales > 0 and
/// everything is finite.
///
/// Quadrature by Gauss–Legendre collocation of order 16 (Hairer, Nørsett & Wanner, Solving ODEs I, II.7) of the system
/// F_b′ = f_b, P_a′ = f_a ∏_{b≠a} F_b on panels no wider than the narrowest density present: one pass over t serves all
/// arms, and no distribution function has to be evaluated.
void largest_probabilities(std::span<const StudentT> variables, std::span<double> probabilities);

}  // namespace stein::policies
