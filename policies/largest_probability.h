// How likely each of several independent variables is the largest, by one pass of a quadrature that serves them all.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace stein::policies {

/// Gauss–Legendre points on [0, 1]: `weight[i]` integrates a function over the interval from its values at `place`,
/// `running[j][i]` from 0 to place[i].
struct Collocation {
  static constexpr std::size_t nodes = 8;
  using Nodes = std::array<double, nodes>;  ///< a number a point

  Nodes place, weight;
  std::array<Nodes, nodes> running;

  static const Collocation& rule();

 private:
  Collocation();
};

/// P(a) = ∫ f_a(t) ∏_{b≠a} F_b(t) dt by Gauss–Legendre collocation of order 16 (Hairer, Nørsett & Wanner, Solving ODEs
/// I, II.7) of the system F_b′ = f_b, P_a′ = f_a ∏_{b≠a} F_b on panels no wider than the narrowest density present: one
/// pass over t serves all variables, and no distribution function has to be evaluated.
///
/// A `Density` has
///   double low() const, high() const         where it begins and ends: the mass beyond is below 1e-12 on each side
///   double panel_end(double t) const         where a panel that begins at t has to end for it to be smooth there,
///                                            infinite from high() on
///   double operator()(double t) const        its value, up to a factor near 1: the sum of all P takes factors out
///
/// Keeps its memory, so that a pass over no more densities than the last one allocates nothing.
template <class Density>
class LargestProbability {
 public:
  void clear() { arms_.clear(); }
  void add(const Density& density) { arms_.push_back({.density = density}); }
  /// Writes the probability that each variable is the largest, in the order in which they were added; they sum to 1.
  void write(std::span<double> probabilities);

 private:
  using Nodes = Collocation::Nodes;

  /// One variable while the pass goes over it.
  struct Arm {
    Density density;
    double below = 0;        ///< mass to the left of the panel
    double probability = 0;  ///< of being the largest, with t to the left of the panel
    bool present = false;    ///< the panel lies between low and high
    Nodes values{}, mass{}, others{};

    void enter(const Collocation& rule, double t, double width) {
      mass.fill(below);
      present = t >= density.low() && t < density.high();
      if (!present) return;
      for (std::size_t i = 0; i < Collocation::nodes; ++i) values[i] = density(t + width * rule.place[i]) * width;
      for (std::size_t j = 0; j < Collocation::nodes; ++j)
        for (std::size_t i = 0; i < Collocation::nodes; ++i) mass[i] += rule.running[j][i] * values[j];
      below += std::inner_product(values.begin(), values.end(), rule.weight.begin(), 0.0);
    }
  };

  /// others[i] = ∏_{b≠a} F_b at node i, by products from the left and from the right.
  void multiply_others();

  std::vector<Arm> arms_;
};

template <class Density>
void LargestProbability<Density>::write(std::span<double> probabilities) {
  const Collocation& rule = Collocation::rule();
  double t = std::numeric_limits<double>::infinity(), end = -t;
  for (const Arm& arm : arms_) {
    t = std::min(t, arm.density.low());
    end = std::max(end, arm.density.high());
  }
  while (t < end) {
    double next = end;
    for (const Arm& arm : arms_) next = std::min(next, arm.density.panel_end(t));
    next = std::max(next, std::nextafter(t, end));
    for (Arm& arm : arms_) arm.enter(rule, t, next - t);
    multiply_others();
    for (Arm& arm : arms_) {
      if (!arm.present) continue;
      for (std::size_t i = 0; i < Collocation::nodes; ++i)
        arm.probability += rule.weight[i] * arm.values[i] * arm.others[i];
    }
    t = next;
  }
  double total = 0;
  for (Arm& arm : arms_) total += arm.probability = std::max(0.0, arm.probability);
  for (std::size_t a = 0; a < arms_.size(); ++a) probabilities[a] = arms_[a].probability / total;
}

template <class Density>
void LargestProbability<Density>::multiply_others() {
  Nodes product;
  product.fill(1);
  for (Arm& arm : arms_) {
    arm.others = product;
    for (std::size_t i = 0; i < Collocation::nodes; ++i) product[i] *= arm.mass[i];
  }
  product.fill(1);
  for (auto arm = arms_.rbegin(); arm != arms_.rend(); ++arm)
    for (std::size_t i = 0; i < Collocation::nodes; ++i) {
      arm->others[i] *= product[i];
      product[i] *= arm->mass[i];
    }
}

}  // namespace stein::policies
