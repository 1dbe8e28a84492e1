#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/policies/student_t.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stein::policies {

double draw(const StudentT& variable, Draws& draws) {
  const double normal = draws.normal(), half = variable.degrees / 2;
  if (std::isinf(half)) return variable.location + variable.scale * normal;
  return variable.location + variable.scale * normal * std::sqrt(half / draws.gamma(half));
}

std::vector<std::vector<double>> draw_samples(std::span<const StudentT> variables, std::size_t samples,
                                              std::uint64_t seed) {
  std::vector<std::vector<double>> drawn(samples, std::vector<double>(variables.size()));
  for (std::size_t k = 0; k < variables.size(); ++k) {
    Draws draws({seed, 0, Stream::sampler}, static_cast<std::uint32_t>(k));
    for (auto& sample : drawn) sample[k] = draw(variables[k], draws);
  }
  return drawn;
}

StudentTDensity::StudentTDensity(const StudentT& variable) : variable_(variable), reach_(8) {
  // P(T > s) < f(s) (ν + s²) / (ν s): the right-hand side falls faster than −f.
  const double degrees = variable.degrees;
  if (std::isinf(degrees)) return;  // P(T > 8) = 6e-16
  while (standard_density(reach_) * (degrees + reach_ * reach_) / (degrees * reach_) > 1e-12) reach_ *= 2;
}

double StudentTDensity::standard_density(double s) const {
  const double degrees = variable_.degrees;
  if (std::isinf(degrees)) return 0.4 * std::exp(-s * s / 2);
  return 0.4 * std::exp(-(degrees + 1) / 2 * std::log1p(s * s / degrees));
}

double StudentTDensity::panel_end(double t) const {
  if (t < low()) return low();
  if (t >= high()) return std::numeric_limits<double>::infinity();
  const double s = (t - variable_.location) / variable_.scale;
  return t + variable_.scale * std::max(1.0, s < 0 ? -s / 2 : s);
}

void largest_probabilities(std::span<const StudentT> variables, std::span<double> probabilities,
                           LargestProbability<StudentTDensity>& pass) {
  STEIN_CHECK(!variables.empty() && variables.size() == probabilities.size(),
              "expected at least one variable and as many probabilities, got {} and {}", variables.size(),
              probabilities.size());
  const auto by_location = [](const StudentT& a, const StudentT& b) { return a.location < b.location; };
  const auto [lowest, highest] = std::minmax_element(variables.begin(), variables.end(), by_location);
  const double centre = std::midpoint(lowest->location, highest->location);
  const double narrowest = 1e-9 * (highest->location - lowest->location);  // below, t itself would be too coarse
  pass.clear();
  for (const auto& [degrees, location, scale] : variables) {
    STEIN_CHECK(degrees >= 1 && std::isfinite(location) && scale > 0 && std::isfinite(scale),
                "a Student-t variable needs degrees ≥ 1 and a scale > 0, got degrees {}, location {}, scale {}",
                degrees, location, scale);
    pass.add(StudentTDensity({degrees, location - centre, std::max(scale, narrowest)}));
  }
  pass.write(probabilities);
}

}  // namespace stein::policies
