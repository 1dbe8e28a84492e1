// Student-t variables with location and scale: draws, and how likely each of several is the largest.
#pragma once

#include <stein/policies/largest_probability.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stein {
class Draws;
}

namespace stein::policies {

/// location + scale · T, T Student-t with `degrees` degrees of freedom; infinitely many make it normal.
struct StudentT {
  double degrees = 1;
  double location = 0;
  double scale = 1;
};

/// One value of the variable.
double draw(const StudentT& variable, Draws& draws);

/// The density of a variable as LargestProbability asks for it.
class StudentTDensity {
 public:
  explicit StudentTDensity(const StudentT& variable);

  double low() const { return variable_.location - reach_ * variable_.scale; }
  double high() const { return variable_.location + reach_ * variable_.scale; }
  /// One scale away in the middle, halving the distance to the middle on the way in, doubling it on the way out.
  double panel_end(double t) const;
  double operator()(double t) const {
    return standard_density((t - variable_.location) / variable_.scale) / variable_.scale;
  }

 private:
  double standard_density(double s) const;

  StudentT variable_;
  double reach_;  ///< low and high are so many scales away
};

/// So many draws of every variable, [samples][variables], each variable with draws of its own under the seed.
std::vector<std::vector<double>> draw_samples(std::span<const StudentT> variables, std::size_t samples,
                                              std::uint64_t seed);

/// Writes to `probabilities` the probability that each of the independent `variables` is the largest,
///   P(a) = ∫ f_a(t) ∏_{b≠a} F_b(t) dt,
/// with an absolute error below 1e-8; they sum to 1. Scales below 1e-9 of the span of the locations count as that.
/// Throws Error(usage) unless there is at least one variable, as many probabilities, degrees ≥ 1, scales > 0 and
/// everything but the degrees is finite.
/// @param pass  memory that is used again: calls for no more variables than before allocate nothing
void largest_probabilities(std::span<const StudentT> variables, std::span<double> probabilities,
                           LargestProbability<StudentTDensity>& pass);

}  // namespace stein::policies
