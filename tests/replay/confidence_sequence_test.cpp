#include <stein/core/rng.h>
#include <stein/replay/confidence_sequence.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using replay::ConfidenceSequence;
using replay::Interval;

namespace {

/// The largest number of misses among 1,000 sequences that a chance of 5 % each allows: with a true chance of 5 % more
/// are seen with a probability of 4e-6 (binomial: 50 ± 6.9; the share of hits is then 1 − 83/1000 = .917). A sequence
/// that covers at all times misses less often than that: .05 is the bound of its chance.
constexpr int most_misses = 83;

/// How many of 1,000 sequences of `length` clicks with chances `chance(t)` miss the mean of the chances at any time.
template <class Chance>
int misses(const Chance& chance, int length, bool look_once) {
  int missed = 0;
  for (std::uint32_t sequence = 0; sequence < 1000; ++sequence) {
    Draws draws({.seed = 17, .step = sequence, .stream = Stream::test}, 0);
    ConfidenceSequence clicks(0, 1);
    double chances = 0;
    bool outside = false;
    for (int t = 1; t <= length; ++t) {
      const double p = chance(t);
      chances += p;
      clicks.add(draws.uniform() < p ? 1 : 0);
      const Interval interval = clicks.interval();
      const bool out = chances / t < interval.low - 1e-12 || chances / t > interval.high + 1e-12;
      if (!look_once || t == length) outside = outside || out;
    }
    missed += outside;
  }
  return missed;
}

}  // namespace

TEST_CASE("a confidence sequence covers the mean at all times at once", "[replay][confidence]") {
  CHECK(misses([](int) { return 0.04; }, 2000, false) <= most_misses);
  CHECK(misses([](int) { return 0.5; }, 2000, false) <= most_misses);
  CHECK(misses([](int t) { return t < 500 ? 0.9 : 0.1; }, 2000, false) <= most_misses);  // a mean that changes
}

TEST_CASE("the interval of a confidence sequence is its formula", "[replay][confidence]") {
  Draws draws({.seed = 5, .stream = Stream::test}, 0);
  ConfidenceSequence sequence(0, 1, 0.9);
  std::vector<double> seen;
  for (int t = 0; t < 4000; ++t) sequence.add(seen.emplace_back(draws.uniform() < 0.3 ? 0.8 : 0.1));
  // Distances from guesses that were made before: (1/2 + sum of those before) / (1 + how many).
  double sum = 0, squares = 0;
  for (std::size_t t = 0; t < seen.size(); ++t) {
    squares += std::pow(seen[t] - (0.5 + sum) / (1.0 + static_cast<double>(t)), 2);
    sum += seen[t];
  }
  double least = 1e300;
  for (int k = 0; k < 60; ++k) {
    const double slope = 0.9 / std::pow(std::sqrt(2.0), k), weight = 1.0 / ((k + 1) * (k + 2));
    const double psi = -std::log(1 - slope) - slope;
    least = std::min(least, (std::log(2 / (0.1 * weight)) + psi * squares) / slope);
  }
  CHECK(sequence.interval().low == Approx((sum - least) / 4000).epsilon(1e-9));
  CHECK(sequence.interval().high == Approx((sum + least) / 4000).epsilon(1e-9));
}

TEST_CASE("a confidence sequence is not much wider than an interval for one time", "[replay][confidence]") {
  Draws draws({.seed = 3, .stream = Stream::test}, 0);
  ConfidenceSequence clicks(0, 1);
  for (int t = 0; t < 100'000; ++t) clicks.add(draws.uniform() < 0.04 ? 1 : 0);
  const Interval interval = clicks.interval();
  const double half = (interval.high - interval.low) / 2, once = 1.96 * std::sqrt(0.04 * 0.96 / 100'000);
  CHECK(half > once);
  CHECK(half < 2.5 * once);
}

TEST_CASE("observations of another range are scaled, and a longer sequence is narrower", "[replay][confidence]") {
  ConfidenceSequence clicks(0, 1), scaled(-10, 30);
  double before = 1;
  for (int t = 0; t < 3000; ++t) {
    const double x = t % 7 == 0 ? 1 : 0;
    clicks.add(x), scaled.add(-10 + 40 * x);
    if (t % 1000 != 999) continue;
    const Interval one = clicks.interval(), other = scaled.interval();
    CHECK(other.low == Approx(-10 + 40 * one.low).margin(1e-9));
    CHECK(other.high == Approx(-10 + 40 * one.high).margin(1e-9));
    CHECK(one.high - one.low < before);
    before = one.high - one.low;
  }
  CHECK(clicks.mean() == Approx(429.0 / 3000));
}

TEST_CASE("a confidence sequence goes on from where it was saved", "[replay][confidence]") {
  ConfidenceSequence whole(0, 1), first(0, 1), second(0, 1);
  for (int t = 0; t < 50; ++t) whole.add(t % 3 == 0), first.add(t % 3 == 0);
  Snapshot saved;
  first.save(saved);
  second.restore(saved);
  for (int t = 0; t < 50; ++t) whole.add(t % 2 == 0), second.add(t % 2 == 0);
  CHECK(whole.interval().low == second.interval().low);
  CHECK(whole.interval().high == second.interval().high);
}

TEST_CASE("before the first observation the interval is the whole range", "[replay][confidence]") {
  const Interval all = ConfidenceSequence(-1, 3).interval();
  CHECK(all.low == -1);
  CHECK(all.high == 3);
}

TEST_CASE("numbers out of the range, and ranges and levels that make no sense, are refused", "[replay][confidence]") {
  ConfidenceSequence clicks(0, 1);
  CHECK_ERROR(clicks.add(1.5), usage, "in [0, 1] got 1.5");
  CHECK_ERROR(clicks.add(std::nan("")), usage, "got nan");
  CHECK_ERROR(ConfidenceSequence(1, 1), usage, "low < high");
  CHECK_ERROR(ConfidenceSequence(0, 1, 1), usage, "(0, 1), got 1");
}
