#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/policies/student_t.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace stein::policies {
namespace {

constexpr std::size_t nodes = 8;
using Nodes = std::array<double, nodes>;

/// Gauss–Legendre points on [0, 1]: `weight[i]` integrates a function over the interval from its values at `place`,
/// `running[j][i]` from 0 to place[i].
struct Collocation {
  Nodes place, weight;
  std::array<Nodes, nodes> running;

  Collocation();
};

/// Legendre polynomials P_0 … P_n at x.
std::array<double, nodes + 1> legendre(double x) {
  std::array<double, nodes + 1> p{1, x};
  for (std::size_t k = 1; k < nodes; ++k) {
    const auto degree = static_cast<double>(k);
    p[k + 1] = ((2 * degree + 1) * x * p[k] - degree * p[k - 1]) / (degree + 1);
  }
  return p;
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

/// One variable while the pass goes over it. Its density is scaled by a constant, which the final division by the sum
/// of all probabilities takes out.
struct Arm {
  StudentT variable;
  double reach = 0;        ///< the mass beyond ±reach scales is below 1e-12 on each side
  double below = 0;        ///< mass to the left of the panel
  double probability = 0;  ///< of being the largest, with t to the left of the panel
  bool present = false;    ///< the panel lies within reach
  Nodes density{}, mass{}, others{};

  explicit Arm(const StudentT& given) : variable(given) {
    // P(T > s) < f(s) (ν + s²) / (ν s): the right-hand side falls faster than −f.
    const double degrees = variable.degrees;
    reach = 8;
    while (standard_density(reach) * (degrees + reach * reach) / (degrees * reach) > 1e-12) reach *= 2;
  }

  double low() const { return variable.location - reach * variable.scale; }
  double high() const { return variable.location + reach * variable.scale; }
  double standard_density(double s) const {
    const double degrees = variable.degrees;
    return 0.4 * std::exp(-(degrees + 1) / 2 * std::log1p(s * s / degrees));
  }
  /// Where a panel that begins at `t` must end at the latest for the density to be smooth in it: one scale long in the
  /// middle, halving the distance to the middle on the way in, doubling it on the way out.
  double panel_end(double t) const {
    if (t < low()) return low();
    if (t >= high()) return std::numeric_limits<double>::infinity();
    const double s = (t - variable.location) / variable.scale;
    return t + variable.scale * std::max(1.0, s < 0 ? -s / 2 : s);
  }
  void enter(const Collocation& rule, double t, double width) {
    mass.fill(below);
    present = t >= low() && t < high();
    if (!present) return;
    for (std::size_t i = 0; i < nodes; ++i)
      density[i] =
          standard_density((t + width * rule.place[i] - variable.location) / variable.scale) / variable.scale * width;
    for (std::size_t j = 0; j < nodes; ++j)
      for (std::size_t i = 0; i < nodes; ++i) mass[i] += rule.running[j][i] * density[j];
    below += std::inner_product(density.begin(), density.end(), rule.weight.begin(), 0.0);
  }
};

/// others[i] = ∏_{b≠a} F_b at node i, by products from the left and from the right.
void multiply_others(std::vector<Arm>& arms) {
  Nodes product;
  product.fill(1);
  for (Arm& arm : arms) {
    arm.others = product;
    for (std::size_t i = 0; i < nodes; ++i) product[i] *= arm.mass[i];
  }
  product.fill(1);
  for (auto arm = arms.rbegin(); arm != arms.rend(); ++arm)
    for (std::size_t i = 0; i < nodes; ++i) {
      arm->others[i] *= product[i];
      product[i] *= arm->mass[i];
    }
}

}  // namespace

double draw(const StudentT& variable, Draws& draws) {
  const double normal = draws.normal(), half = variable.degrees / 2;
  return variable.location + variable.scale * normal * std::sqrt(half / draws.gamma(half));
}

void largest_probabilities(std::span<const StudentT> variables, std::span<double> probabilities) {
  static const Collocation rule;
  STEIN_CHECK(!variables.empty() && variables.size() == probabilities.size(),
              "expected at least one variable and as many probabilities, got {} and {}", variables.size(),
              probabilities.size());
  const auto by_location = [](const StudentT& a, const StudentT& b) { return a.location < b.location; };
  const auto [lowest, highest] = std::minmax_element(variables.begin(), variables.end(), by_location);
  const double centre = std::midpoint(lowest->location, highest->location);
  const double narrowest = 1e-9 * (highest->location - lowest->location);  // below, t itself would be too coarse
  std::vector<Arm> arms;
  arms.reserve(variables.size());
  double t = std::numeric_limits<double>::infinity(), end = -t;
  for (const auto& [degrees, location, scale] : variables) {
    STEIN_CHECK(degrees >= 1 && std::isfinite(degrees) && std::isfinite(location) && scale > 0 && std::isfinite(scale),
                "a Student-t variable needs degrees ≥ 1 and a scale > 0, got degrees {}, location {}, scale {}",
                degrees, location, scale);
    const Arm& arm = arms.emplace_back(StudentT{degrees, location - centre, std::max(scale, narrowest)});
    t = std::min(t, arm.low());
    end = std::max(end, arm.high());
  }
  while (t < end) {
    double next = end;
    for (const Arm& arm : arms) next = std::min(next, arm.panel_end(t));
    next = std::max(next, std::nextafter(t, end));
    for (Arm& arm : arms) arm.enter(rule, t, next - t);
    multiply_others(arms);
    for (Arm& arm : arms) {
      if (!arm.present) continue;
      for (std::size_t i = 0; i < nodes; ++i) arm.probability += rule.weight[i] * arm.density[i] * arm.others[i];
    }
    t = next;
  }
  double total = 0;
  for (Arm& arm : arms) total += arm.probability = std::max(0.0, arm.probability);
  for (std::size_t a = 0; a < arms.size(); ++a) probabilities[a] = arms[a].probability / total;
}

}  // namespace stein::policies
