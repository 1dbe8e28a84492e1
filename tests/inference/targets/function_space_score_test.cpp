// Slopes of function-space SVGD, by hand.
#include <stein/inference/targets/function_space_score.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// Two rows with two outputs, of which each row trains one; predictions of two particles.
struct TwoParticles {
  std::vector<float> predictions{/* particle 0 */ 1, 9, 9, 2, /* particle 1 */ 2, 9, 9, 4};
  std::vector<float> targets{3, 1}, weights{2, 5};
  std::vector<std::int32_t> outputs{0, 1};
  std::vector<float> ones{1, 1};
  Batch<float> batch;

  TwoParticles() {
    batch.inputs.dense = {ones.data(), 2, 1};
    batch.targets = {targets.data(), 2, 1};
    batch.outputs = outputs;
    batch.row_weights = weights;
    batch.rows = 2;
    batch.data_size = 20;
  }
};

/// The slopes of a particle, [2 rows · 2 outputs], its rows scored one by one.
std::vector<float> slopes(const FunctionSpaceScore& score, std::int64_t particle) {
  std::vector<float> gradient(4), outputs(4);
  for (std::int64_t row = 0; row < 2; ++row)
    score.score(particle, row, {outputs.data() + 2 * row, 1, 2}, {}, {gradient.data() + 2 * row, 1, 2}, {});
  return gradient;
}

}  // namespace

TEST_CASE("functions climb together and push one another apart, by the kernel of their predictions",
          "[inference][svgd]") {
  const TwoParticles data;
  FunctionSpaceScore score({.bandwidth_rule = Bandwidth::fixed, .bandwidth = 4});
  score.prepare(data.batch, {data.predictions.data(), 4, 2}, Likelihood::gaussian);
  // f₀ = (1, 2), f₁ = (2, 4): ‖f₀ − f₁‖² = 5, k = exp(−5/4). Likelihood slopes w (y − f): (4, −5) and (2, −15).
  // N/n is 10, by which the model multiplies what the score writes.
  const double k = std::exp(-1.25), total = 1 + k;
  const double push = 2.0 / 4 * k / 10;
  const std::vector<float> first = slopes(score, 0), second = slopes(score, 1);
  CHECK(first[0] == Approx((4 + k * 2 + push * (1 - 2)) / total));
  CHECK(first[3] == Approx((-5 + k * -15 + push * (2 - 4)) / total));
  CHECK(second[0] == Approx((2 + k * 4 + push * (2 - 1)) / total));
  CHECK(second[3] == Approx((-15 + k * -5 + push * (4 - 2)) / total));
  for (const std::size_t untouched : {1, 2}) CHECK((first[untouched] == 0 && second[untouched] == 0));
}

TEST_CASE("a single function climbs its likelihood alone", "[inference][svgd]") {
  const TwoParticles data;
  FunctionSpaceScore score({});
  score.prepare(data.batch, {data.predictions.data(), 2, 2}, Likelihood::gaussian);
  CHECK(slopes(score, 0) == std::vector<float>{4, 0, 0, -5});
  TwoParticles clicks;
  clicks.targets = {1, 0};
  score.prepare(clicks.batch, {clicks.predictions.data(), 2, 2}, Likelihood::bernoulli);
  const std::vector<float> slope = slopes(score, 0);
  CHECK(slope[0] == Approx(2 * (1 - 1 / (1 + std::exp(-1.0)))));
  CHECK(slope[3] == Approx(5 * (0 - 1 / (1 + std::exp(-2.0)))));
}

TEST_CASE("the repulsion of an inverse multiquadric is its gradient", "[inference][svgd]") {
  const TwoParticles data;
  FunctionSpaceScore score({.kernel = SvgdKernel::imq, .bandwidth_rule = Bandwidth::fixed, .bandwidth = 5});
  score.prepare(data.batch, {data.predictions.data(), 4, 2}, Likelihood::gaussian);
  const double k = 1 / std::sqrt(2.0), total = 1 + k;  // (1 + 5/5)^(−½); −∂k/∂f₀ = k³ (f₀ − f₁)/h
  CHECK(slopes(score, 0)[0] == Approx((4 + k * 2 + k * k * k / 5 / 10 * (1 - 2)) / total));
}

TEST_CASE("targets and weights of particles' own are theirs", "[inference][svgd]") {
  TwoParticles data;
  data.targets = {3, 1, 7, 7};
  data.weights = {2, 5, 1, 3};
  data.batch.targets = {data.targets.data(), 4, 1};
  data.batch.row_weights = data.weights;
  data.batch.targets_per_particle = data.batch.weights_per_particle = true;
  FunctionSpaceScore score({.bandwidth_rule = Bandwidth::fixed, .bandwidth = 1e-3});  // too far apart to see each other
  score.prepare(data.batch, {data.predictions.data(), 4, 2}, Likelihood::gaussian);
  CHECK(slopes(score, 1)[0] == Approx(1 * (7 - 2)));
  CHECK(slopes(score, 1)[3] == Approx(3 * (7 - 4)));
}

TEST_CASE("between functions a linear kernel is refused", "[inference][svgd]") {
  CHECK_ERROR(FunctionSpaceScore({.kernel = SvgdKernel::linear}), usage, "'kernel'", "got linear");
}
