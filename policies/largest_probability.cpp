#include <stein/policies/largest_probability.h>

#include <cmath>
#include <numbers>

namespace stein::policies {
namespace {

/// Legendre polynomials P_0 … P_n at x.
std::array<double, Collocation::nodes + 1> legendre(double x) {
  std::array<double, Collocation::nodes + 1> p{1, x};
  for (std::size_t k = 1; k < Collocation::nodes; ++k) {
    const auto degree = static_cast<double>(k);
    p[k + 1] = ((2 * degree + 1) * x * p[k] - degree * p[k - 1]) / (degree + 1);
  }
  return p;
}

}  // namespace

const Collocation& Collocation::rule() {
  static const Collocation rule;
  return rule;
}

Collocation::Collocation() {
  std::array<std::array<double, nodes + 1>, nodes> p;
  for (std::size_t i = 0; i < nodes; ++i) {
    double x = -std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (nodes + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 8; ++iteration) {  // Newton's method doubles the digits each time
      p[i] = legendre(x);
      slope = nodes * (x * p[i][nodes] - p[i][nodes - 1]) / (x * x - 1);
      x -= p[i][nodes] / slope;
    }
    p[i] = legendre(x);
    place[i] = (1 + x) / 2;
    weight[i] = 1 / ((1 - x * x) * slope * slope);
  }
  // The i-th Lagrange polynomial is Σ_k (2k + 1)/2 · w_i P_k(x_i) P_k, and (2k + 1) ∫ P_k = P_{k+1} − P_{k−1}.
  for (std::size_t j = 0; j < nodes; ++j)
    for (std::size_t i = 0; i < nodes; ++i) {
      double sum = p[i][1] + 1;
      for (std::size_t k = 1; k < nodes; ++k) sum += p[j][k] * (p[i][k + 1] - p[i][k - 1]);
      running[j][i] = weight[j] / 2 * sum;
    }
}

}  // namespace stein::policies
