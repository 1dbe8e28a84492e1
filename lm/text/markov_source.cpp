#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/lm/text/markov_source.h>

#include <cmath>
#include <numeric>

namespace stein::lm {

MarkovSource::MarkovSource(std::int32_t words, double spread, std::uint64_t seed) : words_(words), seed_(seed) {
  STEIN_CHECK(words >= 2 && words <= 10'000, "a Markov source needs between 2 and 10000 words, got {}", words);
  STEIN_CHECK(spread >= 0 && spread <= 20, "the spread of a Markov source must be between 0 and 20, got {}", spread);
  const auto size = static_cast<std::size_t>(words);
  probability_.resize(size * size);
  for (std::size_t a = 0; a < size; ++a) {
    const std::span own = std::span(probability_).subspan(a * size, size);
    fill_normal(own, {.seed = seed, .stream = Stream::data}, static_cast<std::uint32_t>(a));
    for (double& p : own) p = std::exp(spread * p);
    const double sum = std::accumulate(own.begin(), own.end(), 0.0);
    for (double& p : own) p /= sum;
  }
}

std::span<const double> MarkovSource::row(std::int32_t before) const {
  STEIN_CHECK(before >= 0 && before < words_, "a Markov source has words 0 to {}, got {}", words_ - 1, before);
  return std::span(probability_)
      .subspan(static_cast<std::size_t>(before) * static_cast<std::size_t>(words_), static_cast<std::size_t>(words_));
}

std::vector<double> MarkovSource::stationary() const {
  const auto size = static_cast<std::size_t>(words_);
  std::vector<double> now(size, 1.0 / words_), next(size);
  double change = 1;
  for (int k = 0; k < 10'000 && change > 1e-15; ++k) {
    std::ranges::fill(next, 0.0);
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t b = 0; b < size; ++b) next[b] += now[a] * probability_[a * size + b];
    change = 0;
    for (std::size_t a = 0; a < size; ++a) change = std::max(change, std::abs(next[a] - now[a]));
    now.swap(next);
  }
  return now;
}

std::vector<std::int32_t> MarkovSource::text(std::int64_t count, std::uint32_t piece) const {
  STEIN_CHECK(count >= 0, "a text has at least 0 words, got {}", count);
  Draws draws({.seed = seed_, .step = 1, .stream = Stream::data}, piece);
  std::vector<std::int32_t> words(static_cast<std::size_t>(count));
  const std::vector<double> rest = stationary();
  for (std::size_t t = 0; t < words.size(); ++t)
    words[t] = static_cast<std::int32_t>(draws.categorical(t == 0 ? std::span(rest) : row(words[t - 1])));
  return words;
}

double MarkovSource::log_probability(std::int32_t before, std::int32_t word) const {
  const std::span<const double> own = row(before);
  STEIN_CHECK(word >= 0 && word < words_, "a Markov source has words 0 to {}, got {}", words_ - 1, word);
  return std::log(own[static_cast<std::size_t>(word)]);
}

double MarkovSource::entropy_rate() const {
  const std::vector<double> rest = stationary();
  double entropy = 0;
  for (std::int32_t a = 0; a < words_; ++a)
    for (const double p : row(a)) entropy -= p > 0 ? rest[static_cast<std::size_t>(a)] * p * std::log(p) : 0;
  return entropy;
}

}  // namespace stein::lm
