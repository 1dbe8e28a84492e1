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

/// Two masks treat a unit alike with probability p² + (1 − p)², as independent ones do: the share of such units is
/// within 6.1 standard errors of it (an error of 1e-9). Of different lengths, what both have of the same draws is
/// compared.
void check_independent(std::span<const float> one, std::span<const float> other) {
  const std::size_t count = std::min(one.size(), other.size());
  std::size_t alike = 0;
  for (std::size_t i = 0; i < count; ++i)
    if ((one[i] == 0) == (other[i] == 0)) ++alike;
  const double n = static_cast<double>(count), expected = p * p + (1 - p) * (1 - p);
  CHECK(std::abs(static_cast<double>(alike) / n - expected) < 6.1 * std::sqrt(expected * (1 - expected) / n));
}

TEST_CASE("every layer, the outputs and the states before have masks of their own", "[inference][recurrent]") {
  for (const DropoutMask mask : {DropoutMask::each_step, DropoutMask::sequence}) {
    const bool each_step = mask == DropoutMask::each_step;
    CAPTURE(each_step);
    const RecurrentSpec spec = spec_with(mask);
    RecurrentDropout dropout(spec);
    dropout.draw(DropoutDraw{.key = {.seed = 4, .step = 3}, .row = 2}, steps, rows);
    std::vector<std::vector<float>> masks;  // in the order in which they are used
    for (std::int64_t l = 0; l <= spec.layers; ++l) {
      const std::int64_t width = l == spec.layers ? spec.hidden : spec.layer_inputs(l);
      std::vector<float> ones(static_cast<std::size_t>((each_step ? steps : 1) * rows * width), 1.0F);
      dropout.drop(l, ones);
      masks.push_back(ones);
      if (each_step || l == spec.layers) continue;
      const float* const kept = dropout.kept(l);
      REQUIRE(kept != nullptr);
      masks.emplace_back(kept, kept + rows * spec.hidden);
    }
    REQUIRE(masks.size() == (each_step ? 3 : 5));
    for (std::size_t i = 0; i < masks.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) {
        CAPTURE(i, k);
        check_independent(masks[i], masks[k]);
      }
  }
}

TEST_CASE("every row of weights has masks of its own", "[inference][recurrent]") {
  const RecurrentSpec spec = spec_with(DropoutMask::each_step);
  const auto mask_of = [&](std::uint32_t row) {
    RecurrentDropout dropout(spec);
    dropout.draw(DropoutDraw{.key = {.seed = 4, .step = 3}, .row = row}, steps, rows);
    std::vector<float> ones(static_cast<std::size_t>(steps * rows * spec.layer_inputs(0)), 1.0F);
    dropout.drop(0, ones);
    return ones;
  };
  CHECK(mask_of(1) == mask_of(1));
  check_independent(mask_of(0), mask_of(1));
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
