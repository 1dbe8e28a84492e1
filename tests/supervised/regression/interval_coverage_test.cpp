// Intervals of a regression hold as many held-out targets as they say.
#include <stein/inference/models/particle_mlp.h>
#include <stein/runs/seed_statistics.h>
#include <stein/supervised/regression/regression_trainer.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "training/method_with.h"

namespace stein::supervised {
namespace {

constexpr std::int64_t hidden = 4, train_rows = 15, test_rows = 40;
constexpr double noise_deviation = 0.5;

/// A curve whose weights are drawn from the prior N(0, 1), and rows that it explains but for the noise.
RegressionParts drawn_from_the_prior(std::uint64_t seed) {
  Draws draws({.seed = seed, .stream = Stream::test}, 0);
  std::vector<double> weights;
  for (std::int64_t i = 0; i < 3 * hidden + 1; ++i) weights.push_back(draws.normal());
  const auto rows = [&](std::int64_t count) {
    RegressionRows made{.inputs = {count, 1}};
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = 2 * draws.normal();
      made.inputs.row(i)[0] = static_cast<float>(x);
      double y = weights.back();
      for (std::size_t h = 0; h < hidden; ++h)
        y += weights[3 * h] * std::tanh(weights[3 * h + 1] * x + weights[3 * h + 2]);
      made.targets.push_back(y + noise_deviation * draws.normal());
    }
    return made;
  };
  RegressionParts parts{.train = rows(train_rows), .validation = {}, .test = rows(test_rows)};
  parts.noise_precision = 1 / (noise_deviation * noise_deviation);
  return parts;
}

/// The share of the test targets within the intervals of probability 0.9, after sampling by NUTS under the prior from
/// which the curve was drawn. @param noise_precision  that the network is told
double coverage(std::uint64_t seed, double noise_precision) {
  RegressionParts parts = drawn_from_the_prior(seed);
  parts.noise_precision = noise_precision;
  const inference::MlpSpec spec{.inputs = 1,
                                .hidden = {hidden},
                                .outputs = 1,
                                .activation = inference::Activation::tanh,
                                .noise_precision = noise_precision};
  RegressionTrainer trainer(std::move(parts),
                            {.batch_size = train_rows, .epochs = 600, .burn_in = 0.5, .samples_per_epoch = 1},
                            test::method_with("nuts", {{"warm_up", "200"}, {"max_depth", "6"}}),
                            std::make_unique<inference::ParticleMlp>(spec), seed);
  runs::Records records(false);
  while (!trainer.ended()) trainer.advance(1'000'000'000, {}, records);
  return trainer.test_result().averaged.coverage;
}

// Over curves drawn from the prior and exact posteriors the expected coverage is 0.9 exactly. Test rows of one curve go
// together, so the mean over curves is judged by its own spread: |t| < 6.5 with 59 degrees of freedom, which chance
// passes once in 5e7 runs.
TEST_CASE("intervals of probability 0.9 hold nine targets of ten that were held out",
          "[supervised][regression][slow]") {
  constexpr std::uint64_t curves = 60;
  std::vector<double> right, sure;
  for (std::uint64_t seed = 0; seed < curves; ++seed) {
    right.push_back(coverage(seed, 1 / (noise_deviation * noise_deviation)));
    sure.push_back(
        coverage(seed, 4 / (noise_deviation * noise_deviation)));  // a network that is told half of the noise
  }
  const auto t = [](const std::vector<double>& values) {
    return (runs::mean(values) - 0.9) / (runs::deviation(values) / std::sqrt(static_cast<double>(values.size())));
  };
  CAPTURE(runs::mean(right), runs::deviation(right), runs::mean(sure));
  CHECK(std::abs(t(right)) < 6.5);
  CHECK(t(sure) < -6.5);
}

}  // namespace
}  // namespace stein::supervised
