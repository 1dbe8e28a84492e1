// The mixture of two Gaussians in SIMD against the reference in double.
#include <stein/core/parallel.h>
#include <stein/core/rng.h>
#include <stein/inference/fused/scale_mixture_pass.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace stein;
using namespace stein::inference;

namespace {

/// The law with its options' defaults.
ScaleMixture mixture(double centre, double log_wide = -1, double log_narrow = -7) {
  const double height = -0.5 * std::log(2 * std::acos(-1.0));
  return {.centre = centre,
          .precision = {std::exp(-2 * log_wide), std::exp(-2 * log_narrow)},
          .log_height = {std::log(0.25) - log_wide + height, std::log(0.75) - log_narrow + height}};
}

struct MixturePass {
  double value;
  std::vector<float> gradient;
};

MixturePass mixture_by_simd(const ScaleMixture& law, std::span<const float> weights, bool with_gradient = true) {
  MixturePass result{0, std::vector<float>(with_gradient ? weights.size() : 0, 3.0f)};
  result.value = fused::add_scale_mixture(law, weights, result.gradient);
  return result;
}

}  // namespace

TEST_CASE("the SIMD mixture is the reference to float precision, at every length and wherever a weight lies",
          "[inference][scale_mixture_pass]") {
  const double centre = GENERATE(0.0, 1.0);
  const ScaleMixture law = mixture(centre);
  for (const std::size_t size : {1, 7, 16, 33, 4096, 4099, 70000}) {
    std::vector<float> numbers(size + 1);  // at an address that no vector is aligned to
    fill_normal(std::span<float>(numbers), {.seed = 3}, 0);
    // From deep in the narrow component over where both count (near 4.8 σ₂) to far out in the wide one.
    for (std::size_t q = 0; q < numbers.size(); ++q)
      numbers[q] = static_cast<float>(centre) + numbers[q] * (q % 3 == 0 ? 9e-4f : q % 3 == 1 ? 4e-3f : 0.4f);
    const std::span<const float> weights = std::span<const float>(numbers).subspan(1);
    const MixturePass found = mixture_by_simd(law, weights);
    std::vector<double> exact(weights.begin(), weights.end()), slope(size, 0.0);
    const double value = reference::add_scale_mixture<double>(law, exact, slope);
    CHECK(found.value == Approx(value).epsilon(1e-5));
    for (std::size_t q = 0; q < size; ++q) {
      // Where both components count, the probability of one follows the square of the weight: 1e-4 of the slope.
      const double error = std::abs(found.gradient[q] - 3 - slope[q]);
      if (error > 1e-4 * std::abs(slope[q]) + 1e-6) CHECK(found.gradient[q] - 3 == Approx(slope[q]));
    }
    CHECK(mixture_by_simd(law, weights, false).value == found.value);
  }
}

TEST_CASE("the SIMD mixture stays finite for weights of any size", "[inference][scale_mixture_pass]") {
  const std::vector<float> weights{0, 1e-30f, -1e-10f, 1e3f, -1e9f};
  const MixturePass found = mixture_by_simd(mixture(0), weights);
  std::vector<double> exact(weights.begin(), weights.end()), slope(weights.size(), 0.0);
  CHECK(found.value == Approx(reference::add_scale_mixture<double>(mixture(0), exact, slope)).epsilon(1e-5));
  for (std::size_t q = 0; q < weights.size(); ++q) CHECK(found.gradient[q] == Approx(3 + slope[q]).epsilon(1e-5));
}

TEST_CASE("the SIMD mixture has the same bits at any thread count", "[inference][scale_mixture_pass]") {
  std::vector<float> weights(200'000);
  fill_normal(std::span<float>(weights), {.seed = 5}, 0);
  const int threads = thread_count();
  set_thread_count(1);
  const MixturePass one = mixture_by_simd(mixture(0), weights);
  for (const int count : {2, 3, 7}) {
    set_thread_count(count);
    const MixturePass several = mixture_by_simd(mixture(0), weights);
    CHECK(several.value == one.value);
    CHECK(several.gradient == one.gradient);
  }
  set_thread_count(threads);
}
