// Dropout of a recurrent network: what is kept is scaled so that the expected input stays what it was (Srivastava et
// al. 2014; for whole sequences Gal & Ghahramani 2016).
#include <stein/inference/models/recurrent_dropout.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <vector>

namespace stein::inference {
namespace {

constexpr std::int64_t steps = 30, rows = 40;
constexpr double p = 0.3;

RecurrentSpec spec_with(DropoutMask mask) {
  RecurrentSpec spec;
  spec.vocabulary = 5, spec.embedding = 16, spec.hidden = 12, spec.layers = 2;
  spec.dropout = p, spec.dropout_mask = mask;
  return spec;
}

/// Each number is 0 or 1/(1 − p), and the shares are those of p: the mean of n independent ones, whose sd is √(p/(1 −
/// p)), is within 6.1 standard errors of 1 (an error of 1e-9).
void check_mask(std::span<const float> mask, std::size_t independent) {
  double sum = 0;
  for (const float each : mask) {
    if (each != 0) REQUIRE(each == Approx(1 / (1 - p)).epsilon(1e-6));
    sum += each;
  }
  CHECK(std::abs(sum / static_cast<double>(mask.size()) - 1) <
        6.1 * std::sqrt(p / (1 - p) / static_cast<double>(independent)));
}

TEST_CASE("what dropout keeps is scaled, so that inputs are the same on average", "[inference][recurrent]") {
  for (const DropoutMask mask : {DropoutMask::each_step, DropoutMask::sequence}) {
    const RecurrentSpec spec = spec_with(mask);
    RecurrentDropout dropout(spec);
    dropout.draw(DropoutDraw{.key = {.seed = 4}, .row = 0}, steps, rows);
    for (std::int64_t l = 0; l <= spec.layers; ++l) {
      const std::int64_t width = l == spec.layers ? spec.hidden : spec.layer_inputs(l);
      std::vector<float> ones(static_cast<std::size_t>(steps * rows * width), 1.0F);
      dropout.drop(l, ones);
      const std::size_t independent = ones.size() / (mask == DropoutMask::each_step ? 1 : steps);
      check_mask(ones, independent);
      const bool repeated =
          std::equal(ones.begin(), ones.begin() + rows * width, ones.begin() + rows * width);  // the first two steps
      CHECK(repeated == (mask == DropoutMask::sequence));
    }
    for (std::int64_t l = 0; l < spec.layers; ++l) {
      const float* const kept = dropout.kept(l);
      REQUIRE((kept != nullptr) == (mask == DropoutMask::sequence));
      const auto size = static_cast<std::size_t>(rows * spec.hidden);
      if (kept != nullptr) check_mask({kept, size}, size);
    }
  }
}

TEST_CASE("without a draw nothing is dropped", "[inference][recurrent]") {
  const RecurrentSpec spec = spec_with(DropoutMask::sequence);
  RecurrentDropout dropout(spec);
  dropout.draw(DropoutDraw{.key = {.seed = 4}, .row = 0}, steps, rows);
  dropout.draw({}, steps, rows);
  std::vector<float> ones(static_cast<std::size_t>(steps * rows * spec.hidden), 1.0F);
  dropout.drop(spec.layers, ones);
  CHECK(ones == std::vector<float>(ones.size(), 1.0F));
  CHECK(dropout.kept(0) == nullptr);
}

}  // namespace
}  // namespace stein::inference
