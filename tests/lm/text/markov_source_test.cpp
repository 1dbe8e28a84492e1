#include <stein/lm/text/markov_source.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

TEST_CASE("the loss of the true chain on its own text is its entropy rate", "[lm][markov]") {
  const MarkovSource source(12, 1.5, 3);
  const std::vector<std::int32_t> text = source.text(400'000, 0);
  double sum = 0, square = 0;
  for (std::size_t t = 1; t < text.size(); ++t) {
    const double loss = -source.log_probability(text[t - 1], text[t]);
    sum += loss, square += loss * loss;
  }
  const double n = static_cast<double>(text.size() - 1), mean = sum / n, variance = square / n - mean * mean;
  // Losses of neighbouring words are correlated, by little: twice the variance covers it.
  CHECK(std::abs(mean - source.entropy_rate()) < 6.1 * std::sqrt(2 * variance / n));
}

TEST_CASE("words follow one another as often as the chain says", "[lm][markov]") {
  const MarkovSource source(4, 1, 7);
  const std::vector<std::int32_t> text = source.text(200'000, 1);
  double counts[4][4] = {}, totals[4] = {};
  for (std::size_t t = 1; t < text.size(); ++t) ++counts[text[t - 1]][text[t]], ++totals[text[t - 1]];
  for (int a = 0; a < 4; ++a) {
    double sum = 0;
    for (int b = 0; b < 4; ++b) {
      const double p = std::exp(source.log_probability(a, b));
      sum += p;
      CHECK(std::abs(counts[a][b] - totals[a] * p) < 6.1 * std::sqrt(totals[a] * p * (1 - p)));
    }
    CHECK(std::abs(sum - 1) < 1e-12);
  }
}

TEST_CASE("a chain without spread has log V nats a word", "[lm][markov]") {
  CHECK(std::abs(MarkovSource(8, 0, 1).entropy_rate() - std::log(8)) < 1e-12);
}

TEST_CASE("a piece is the same each time, other pieces differ", "[lm][markov]") {
  const MarkovSource source(20, 2, 0);
  CHECK(source.text(50, 0) == MarkovSource(20, 2, 0).text(50, 0));
  CHECK(source.text(50, 0) != source.text(50, 1));
  CHECK(source.text(50, 0) != MarkovSource(20, 2, 1).text(50, 0));
  CHECK_ERROR(MarkovSource(1, 2, 0), usage, "got 1");
  CHECK_ERROR(MarkovSource(3, -1, 0), usage, "spread");
  CHECK_ERROR(source.log_probability(0, 20), usage, "got 20");
}

}  // namespace
}  // namespace stein::lm
