// Dropped units as a parameterization: which weights vanish, how often, and that gradients follow.
#include <stein/core/rng.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/parameterizations/dropout_weights.h>
#include <stein/inference/storage/matrix.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

const MlpSpec dropout_network{.inputs = 5, .hidden = {30, 20}, .outputs = 3};

}  // namespace

TEST_CASE("a dropped unit gives nothing on, a kept one 1/(1 − p) of its weights, and inputs are whole",
          "[inference][dropout]") {
  const Layout weights = mlp_layout(dropout_network, 8);
  const DropoutWeights<double> dropout(weights, {.dropout_rate = 0.3, .weight_samples = 200});
  Particles<double> particles(dropout.coordinates(), 1);
  for (double& value : particles.values().row(0)) value = 7;
  Matrix<double> drawn(200, weights.size());
  dropout.forward(particles.coordinates(), {.seed = 4}, drawn.view(), *dropout.make_trace());
  std::int64_t units = 0, dropped = 0, alike = 0;
  for (std::int64_t s = 0; s < 200; ++s) {
    for (const LayoutEntry& entry : weights.entries())
      for (std::int64_t row = 0; row < entry.rows(); ++row) {
        const double first = drawn.row(s)[entry.offset + row * entry.row_stride];
        for (std::int64_t j = 0; j < entry.columns(); ++j)
          REQUIRE(drawn.row(s)[entry.offset + row * entry.row_stride + j] == first);
        if (entry.role != Role::weight || entry.layer == 0) {
          REQUIRE(first == 7);
          continue;
        }
        REQUIRE((first == 0 || first == Approx(10)));
        ++units, dropped += first == 0 ? 1 : 0;
      }
    const auto of_unit = [&](const char* matrix, std::int64_t unit) {
      const LayoutEntry& entry = weights.at(matrix);
      return drawn.row(s)[entry.offset + unit * entry.row_stride];
    };
    for (std::int64_t unit = 0; unit < 20; ++unit)
      alike += of_unit("layer1.weight", unit) == of_unit("layer2.weight", unit) ? 1 : 0;
  }
  REQUIRE(units == 200 * 50);
  CHECK(std::abs(static_cast<double>(dropped) / 10'000 - 0.3) < 6 * std::sqrt(0.3 * 0.7 / 10'000));
  // Two layers draw for themselves: units of the same number are alike with probability .3² + .7².
  CHECK(std::abs(static_cast<double>(alike) / 4000 - 0.58) < 6 * std::sqrt(0.58 * 0.42 / 4000));
}

TEST_CASE("the pullback of dropped units is the transpose of their forward map", "[inference][dropout]") {
  const Layout weights = mlp_layout(dropout_network, 8);
  const DropoutWeights<double> dropout(weights, {.dropout_rate = 0.4, .weight_samples = 3});
  const std::int64_t size = dropout.coordinates().size();
  Particles<double> particles(dropout.coordinates(), 2, 1, 4);
  for (std::int64_t i = 0; i < 2; ++i)
    fill_normal(particles.values().row(i), {.seed = 1}, static_cast<std::uint32_t>(i));
  Matrix<double> drawn(6, weights.size()), slopes(6, weights.size()), gradient(2, size);
  for (std::int64_t i = 0; i < 6; ++i) fill_normal(slopes.row(i), {.seed = 2}, static_cast<std::uint32_t>(i));
  const auto trace = dropout.make_trace();
  const NoiseKey key{.seed = 9, .step = 3};
  dropout.forward(particles.coordinates(), key, drawn.view(), *trace);
  dropout.pullback(particles.coordinates(), key, std::as_const(slopes).view(), gradient.view(), *trace);
  for (std::int64_t i = 0; i < 2; ++i) {
    double left = 0, right = 0;
    for (std::int64_t s = 3 * i; s < 3 * i + 3; ++s)
      for (std::int64_t q = 0; q < weights.size(); ++q) left += drawn.row(s)[q] * slopes.row(s)[q];
    for (std::int64_t q = 0; q < size; ++q) right += particles.values()(i, q) * gradient.row(i)[q];
    CHECK(left == Approx(right).epsilon(1e-12));  // the map is linear: ⟨Zφ, g⟩ = ⟨φ, Zᵀg⟩
  }
}

TEST_CASE("dropped units refuse kernels and a rate of 1", "[inference][dropout]") {
  Layout kernels;
  kernels.add("layer1.weight", {3, 3, 2}, Role::weight, 1);
  CHECK_ERROR(DropoutWeights<float>(kernels, {}), usage, "layer1.weight", "matrices");
  CHECK_ERROR(DropoutWeights<float>(mlp_layout(dropout_network), {.dropout_rate = 1}), usage, "'dropout_rate'");
}
