// Text whose truth is known: a Markov chain of words, with its entropy rate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stein::lm {

/// Words 0 … V − 1, each drawn given the one before it: P[a, b] in proportion to exp(s z) with z ~ N(0, 1) drawn once
/// for every pair, so that some words follow often and most seldom. No model does better on its text than
/// `log_probability`, and on endless text none better than `entropy_rate`.
class MarkovSource {
 public:
  /// @param words   V ≥ 2
  /// @param spread  s ≥ 0; 0 makes every word as likely as every other
  /// @throws Error(usage) naming what is out of range
  MarkovSource(std::int32_t words, double spread, std::uint64_t seed);

  std::int32_t words() const { return words_; }
  /// `count` words that begin where the chain is at rest. Other numbers `piece` give other text of the same chain.
  std::vector<std::int32_t> text(std::int64_t count, std::uint32_t piece) const;
  /// log P[before, word], in nats.
  double log_probability(std::int32_t before, std::int32_t word) const;
  /// H = −Σ π_a P[a, b] log P[a, b] nats a word, with π the chain's stationary distribution.
  double entropy_rate() const;

 private:
  std::span<const double> row(std::int32_t before) const;
  std::vector<double> stationary() const;

  std::int32_t words_;
  std::uint64_t seed_;
  std::vector<double> probability_;  ///< [V, V]
};

}  // namespace stein::lm
