// Both forms of the density that `stein bench nuts` samples against a plain loop over rows, written from the formula.
#include <stein/bench/eigen_posterior.h>
#include <stein/bench/logistic_posterior.h>

#include <catch2/catch.hpp>
#include <cmath>

using namespace stein;
using namespace stein::bench;

namespace {

struct Density {
  double value;
  std::vector<double> slope;
};

/// log p(w) = Σ_i y_i η_i − log(1 + e^η_i) − ‖w‖²/2 and its gradient.
Density by_rows(const LogisticData& data, std::span<const double> weights) {
  Density density{.value = 0, .slope = {}};
  for (const double weight : weights) {
    density.value -= weight * weight / 2;
    density.slope.push_back(-weight);
  }
  for (std::int64_t i = 0; i < data.rows; ++i) {
    double eta = 0;
    for (std::int64_t j = 0; j < data.columns; ++j) eta += data.inputs[j * data.rows + i] * weights[j];
    density.value += data.answers[i] * eta - (eta > 0 ? eta + std::log1p(std::exp(-eta)) : std::log1p(std::exp(eta)));
    const double probability = eta > 0 ? 1 / (1 + std::exp(-eta)) : std::exp(eta) / (1 + std::exp(eta));
    for (std::int64_t j = 0; j < data.columns; ++j)
      density.slope[j] += (data.answers[i] - probability) * data.inputs[j * data.rows + i];
  }
  return density;
}

/// The value to 1e-12 of itself, a gradient to 1e-13 of the sum of its largest terms.
void check_density(inference::Target<double>& target, const LogisticData& data, std::span<const double> weights,
                   double constant) {
  const Density expected = by_rows(data, weights);
  inference::Particles<double> point(target.layout(), 1);
  std::ranges::copy(weights, point.values().row(0).begin());
  std::vector<double> value(1);
  target.evaluate(point.coordinates(), {}, {}, {.gradient = point.gradients(), .value = value});
  CHECK(value[0] + constant == Approx(expected.value).epsilon(1e-12));
  std::vector<double> alone(1);
  target.evaluate(point.coordinates(), {}, {}, {.value = alone});
  CHECK(alone == value);
  for (std::int64_t j = 0; j < data.columns; ++j) {
    const double largest = static_cast<double>(data.rows) + std::abs(weights[static_cast<std::size_t>(j)]);
    CHECK(std::abs(point.gradients()(0, j) - expected.slope[j]) < 1e-13 * largest);
  }
}

}  // namespace

TEST_CASE("ours and Eigen's density of a logistic regression are that of a plain loop", "[bench]") {
  // Rows that fill blocks and that do not; weights at which e^η is near 1, and at which it leaves the numbers there
  // are.
  const auto [rows, columns] = GENERATE(table<std::int64_t, std::int64_t>({{1000, 25}, {256, 8}, {37, 3}, {1, 1}}));
  const double spread = GENERATE(0.2, 20.0, 1000.0);
  const LogisticData data(rows, columns, 3);
  std::vector<double> weights(static_cast<std::size_t>(columns));
  fill_normal(std::span<double>(weights), {.seed = 5}, 0);
  for (double& weight : weights) weight *= spread;
  CAPTURE(rows, columns, spread);

  LogisticPosterior ours(data);
  const std::int64_t blocks = (rows + 31) / 32;
  const auto padding = static_cast<double>(32 * blocks - rows);
  check_density(ours, data, weights, padding * std::log(2.0));
  for (const EigenArithmetic& arithmetic : eigen_arithmetics()) {
    INFO("Eigen, " << arithmetic.instructions);
    EigenPosterior reference(data, arithmetic);
    check_density(reference, data, weights, 0);
  }
}
