#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/policies/beta.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace stein::policies {
namespace {

/// log of a Gamma(shape, 1) variable; small shapes by G(a) = G(a + 1) U^(1/a), which may be too small for a double.
double draw_log_gamma(double shape, Draws& draws) {
  if (shape >= 1) return std::log(draws.gamma(shape));
  const double larger = std::log(draws.gamma(shape + 1));
  return larger + std::log(draws.uniform()) / shape;
}

/// log Γ(a) − [(a − ½) log a − a + ½ log 2π], to 1e-9: Stirling's series from 8 on, the recurrence of Γ below.
double stirling_remainder(double a) {
  double sum = 0;
  while (a < 8) {
    sum += (a + 0.5) * std::log1p(1 / a) - 1;
    a += 1;
  }
  const double inverse = 1 / a, square = inverse * inverse;
  return sum + inverse * (1.0 / 12 - square * (1.0 / 360 - square / 1260));
}

/// Distance from the mode at which a density has fallen by e³⁰.
template <class Ratio>
double reach_of(double width, const Ratio& ratio) {
  double reach = 8 * width;
  while (ratio(reach) > 1e-13) reach *= 1.25;
  return reach;
}

}  // namespace

double draw_log_odds(const Beta& variable, Draws& draws) {
  const double success = draw_log_gamma(variable.successes, draws);
  return success - draw_log_gamma(variable.failures, draws);
}

BetaDensity::BetaDensity(const Beta& variable)
    : variable_(variable),
      mode_(std::log(variable.successes) - std::log(variable.failures)),
      width_(std::sqrt(1 / variable.successes + 1 / variable.failures)) {
  const auto& [a, b] = variable;
  peak_ = std::exp(stirling_remainder(a + b) - stirling_remainder(a) - stirling_remainder(b)) /
          (width_ * std::sqrt(2 * std::numbers::pi));
  low_ = mode_ - reach_of(width_, [&](double reach) { return ratio(-reach); });
  high_ = mode_ + reach_of(width_, [&](double reach) { return ratio(reach); });
}

double BetaDensity::ratio(double distance) const {
  // With d the distance, m = a / (a + b) and n = a + b: a d − n log(1 + m (eᵈ − 1)) below the mode, which is
  // −b d − n log(1 + (1 − m) (e⁻ᵈ − 1)) and so the same of the mirrored variable above it. Of both forms the one whose
  // terms are small beside n is taken, but where eᵈ would overflow.
  const auto& [a, b] = variable_;
  const double toward = distance <= 0 ? a : b, other = distance <= 0 ? b : a, total = a + b, far = std::abs(distance);
  const double log_ratio = toward < other || far > 600
                               ? -toward * far - total * std::log1p(toward / total * std::expm1(-far))
                               : other * far - total * std::log1p(other / total * std::expm1(far));
  return std::exp(log_ratio);
}

double BetaDensity::panel_end(double t) const {
  if (t < low_) return low_;
  if (t >= high_) return std::numeric_limits<double>::infinity();
  const double distance = t - mode_;
  const double tail = 1 / (distance < 0 ? variable_.successes : variable_.failures);
  const double away = std::min(distance < 0 ? -distance / 2 : distance, tail);
  return t + std::max(std::min(width_, 1.0), away);
}

void largest_probabilities(std::span<const Beta> variables, std::span<double> probabilities,
                           LargestProbability<BetaDensity>& pass) {
  STEIN_CHECK(!variables.empty() && variables.size() == probabilities.size(),
              "expected at least one variable and as many probabilities, got {} and {}", variables.size(),
              probabilities.size());
  pass.clear();
  for (const auto& [successes, failures] : variables) {
    STEIN_CHECK(successes >= 0.01 && failures >= 0.01 && successes <= 1e12 && failures <= 1e12,
                "a Beta variable needs successes and failures between 0.01 and 1e12, got {} and {}", successes,
                failures);
    pass.add(BetaDensity({successes, failures}));
  }
  pass.write(probabilities);
}

}  // namespace stein::policies
