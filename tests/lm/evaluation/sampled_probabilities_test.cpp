#include <stein/core/rng.h>
#include <stein/lm/evaluation/sampled_probabilities.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

using inference::Selection;

/// Two tokens, three samples with probabilities (½, ¼), (¼, ¼), (1, ½).
SampledProbabilities three_samples() {
  SampledProbabilities samples(2);
  for (const auto& [a, b] : {std::pair(0.5, 0.25), std::pair(0.25, 0.25), std::pair(1.0, 0.5)})
    samples.add(std::vector<float>{static_cast<float>(std::log(a)), static_cast<float>(std::log(b))});
  return samples;
}

TEST_CASE("probabilities are averaged, never their logarithms", "[lm][samples]") {
  const SampledProbabilities samples = three_samples();
  CHECK(samples.loss(0) == Approx(-(std::log(0.5) + std::log(0.25)) / 2));
  CHECK(samples.single_loss() == Approx(-(std::log(0.5 * 0.25) + std::log(0.25 * 0.25) + std::log(0.5)) / 6));
  // Averages over the three: 7/12 and 1/3.
  CHECK(samples.averaged_loss() == Approx(-(std::log(7.0 / 12) + std::log(1.0 / 3)) / 2));
  CHECK(samples.averaged()[0] == Approx(std::log(7.0 / 12)));
  CHECK(samples.averaged()[1] == Approx(std::log(1.0 / 3)));
}

TEST_CASE("curves average the first samples, the last ones, or some at equal distances", "[lm][samples]") {
  const SampledProbabilities samples = three_samples();
  const auto loss = [](double a, double b) { return -(std::log(a) + std::log(b)) / 2; };
  const std::vector<double> forward = samples.curve(Selection::forward), backward = samples.curve(Selection::backward),
                            thinned = samples.curve(Selection::thinned);
  CHECK(forward[0] == Approx(loss(0.5, 0.25)));
  CHECK(forward[1] == Approx(loss(0.375, 0.25)));
  CHECK(backward[0] == Approx(loss(1, 0.5)));
  CHECK(backward[1] == Approx(loss(0.625, 0.375)));
  CHECK(thinned[0] == Approx(loss(1, 0.5)));       // the last one
  CHECK(thinned[1] == Approx(loss(0.75, 0.375)));  // the first and the last
  for (const auto& curve : {forward, backward, thinned}) CHECK(curve[2] == Approx(samples.averaged_loss()));
}

TEST_CASE("a curve that is shorter than there are samples still chooses among all of them", "[lm][samples]") {
  const std::vector<double> p{0.5, 0.25, 0.125, 0.0625, 0.75};
  SampledProbabilities samples(1);
  for (const double each : p) samples.add(std::vector<float>{static_cast<float>(std::log(each))});
  const std::vector<double> forward = samples.curve(Selection::forward, 3),
                            backward = samples.curve(Selection::backward, 3),
                            thinned = samples.curve(Selection::thinned, 3);
  for (const auto& curve : {forward, backward, thinned}) REQUIRE(curve.size() == 3);
  CHECK(forward[2] == Approx(-std::log((p[0] + p[1] + p[2]) / 3)));
  CHECK(backward[2] == Approx(-std::log((p[2] + p[3] + p[4]) / 3)));
  CHECK(thinned[0] == Approx(-std::log(p[4])));
  CHECK(thinned[1] == Approx(-std::log((p[1] + p[4]) / 2)));
  CHECK(thinned[2] == Approx(-std::log((p[0] + p[2] + p[4]) / 3)));
}

TEST_CASE("an average never loses more than its samples do on average", "[lm][samples]") {
  SampledProbabilities samples(10'000);
  std::vector<float> numbers(10'000);
  for (std::uint32_t k = 0; k < 5; ++k) {
    fill_normal(std::span(numbers), {.seed = 4}, k);
    for (float& number : numbers) number = -std::abs(3 * number);
    samples.add(numbers);
    CHECK(samples.averaged_loss() <= samples.single_loss());
  }
}

TEST_CASE("losses of a long text are those of all of its tokens", "[lm][samples]") {
  constexpr std::int64_t tokens = 10'007;  // more than one task adds up
  const auto probability = [](std::int64_t k, std::int64_t t) {
    const std::int64_t denominator = 2 + t * (k + 3) % 13 + t / 1000;
    return 1 / static_cast<double>(denominator);
  };
  SampledProbabilities samples(tokens);
  for (std::int64_t k = 0; k < 4; ++k) {
    std::vector<float> own;
    for (std::int64_t t = 0; t < tokens; ++t) own.push_back(static_cast<float>(std::log(probability(k, t))));
    samples.add(own);
  }
  const auto average = [&](const std::vector<std::int64_t>& chosen, std::int64_t t) {
    double sum = 0;
    for (const std::int64_t k : chosen) sum += probability(k, t);
    return sum / static_cast<double>(chosen.size());
  };
  const auto loss = [&](const std::vector<std::int64_t>& chosen) {
    double sum = 0;
    for (std::int64_t t = 0; t < tokens; ++t) sum -= std::log(average(chosen, t));
    return sum / static_cast<double>(tokens);
  };
  CHECK(samples.averaged_loss() == Approx(loss({0, 1, 2, 3})).epsilon(1e-6));
  for (std::int64_t k = 0; k < 4; ++k) CHECK(samples.loss(k) == Approx(loss({k})).epsilon(1e-6));
  CHECK(samples.single_loss() == Approx((loss({0}) + loss({1}) + loss({2}) + loss({3})) / 4).epsilon(1e-6));
  CHECK(samples.curve(Selection::forward)[1] == Approx(loss({0, 1})).epsilon(1e-6));
  CHECK(samples.curve(Selection::backward)[1] == Approx(loss({2, 3})).epsilon(1e-6));
  CHECK(samples.curve(Selection::thinned)[1] == Approx(loss({1, 3})).epsilon(1e-6));
  CHECK(samples.curve(Selection::thinned)[3] == Approx(loss({0, 1, 2, 3})).epsilon(1e-6));
  const std::vector<float> averaged = samples.averaged();
  REQUIRE(std::ssize(averaged) == tokens);
  double apart = 0;
  for (std::int64_t t = 0; t < tokens; ++t)
    apart = std::max(apart, std::abs(averaged[static_cast<std::size_t>(t)] - std::log(average({0, 1, 2, 3}, t))));
  CHECK(apart < 1e-6);
}

TEST_CASE("samples of lost steps are dropped, and all are saved and read back", "[lm][samples]") {
  SampledProbabilities samples = three_samples();
  samples.drop_last(1);
  CHECK(samples.samples() == 2);
  CHECK(samples.averaged_loss() == Approx(-(std::log(0.375) + std::log(0.25)) / 2));
  CHECK_ERROR(samples.drop_last(3), usage, "cannot drop 3 of 2");
  Snapshot saved;
  samples.save(saved);
  SampledProbabilities again(2), other(3);
  again.restore(saved);
  CHECK(again.averaged_loss() == samples.averaged_loss());
  CHECK_ERROR(other.restore(saved), data, "2 scored tokens, this one has 3");
  CHECK_ERROR(SampledProbabilities(2).single_loss(), usage, "no sample");
  CHECK_ERROR(samples.add(std::vector<float>(3)), usage, "2 tokens, got 3");
}

TEST_CASE("a token that a sample takes for impossible costs an average little", "[lm][samples]") {
  SampledProbabilities samples(1);
  samples.add(std::vector<float>{-200.0F});
  samples.add(std::vector<float>{static_cast<float>(std::log(0.5))});
  CHECK(samples.averaged_loss() == Approx(-std::log(0.25)));
}

}  // namespace
}  // namespace stein::lm
