// The positive numbers of variational families: σ = softplus(ρ), its slope and its inverse.
#pragma once

#include <algorithm>
#include <cmath>

namespace stein::inference {

/// log(1 + eˣ), without overflow and with all digits where it is small.
template <class Scalar>
Scalar softplus(Scalar x) {
  return std::max(x, Scalar{0}) + std::log1p(std::exp(-std::abs(x)));
}

/// The slope of softplus, 1/(1 + e⁻ˣ).
template <class Scalar>
Scalar sigmoid(Scalar x) {
  const Scalar e = std::exp(-std::abs(x));
  return (x >= 0 ? Scalar{1} : e) / (Scalar{1} + e);
}

/// ρ with softplus(ρ) = y > 0.
inline double inverse_softplus(double y) {
  return y + std::log(-std::expm1(-y));
}

}  // namespace stein::inference
