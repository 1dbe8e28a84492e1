#include <stein/lm/captions/bleu.h>

#include <algorithm>
#include <cmath>

namespace stein::lm {
namespace {

/// What BLEU is computed from, of one caption or of many.
struct Statistics {
  std::int64_t words = 0;      ///< c
  std::int64_t reference = 0;  ///< r: words of the closest references
  std::array<std::int64_t, longest_ngram> matched{}, ngrams{};

  void add(const Statistics& other) {
    words += other.words;
    reference += other.reference;
    for (std::size_t n = 0; n < longest_ngram; ++n) {
      matched[n] += other.matched[n];
      ngrams[n] += other.ngrams[n];
    }
  }
};

std::int64_t closest_length(const TokenizedCaption& caption) {
  const std::int64_t words = std::ssize(caption.caption);
  std::int64_t closest = std::ssize(caption.references.front());
  for (const Words& reference : caption.references) {
    const std::int64_t length = std::ssize(reference), distance = std::abs(length - words),
                       least = std::abs(closest - words);
    if (distance < least || (distance == least && length < closest)) closest = length;
  }
  return closest;
}

Statistics statistics_of(const TokenizedCaption& caption) {
  Statistics statistics{.words = std::ssize(caption.caption), .reference = closest_length(caption)};
  for (std::size_t n = 1; n <= longest_ngram; ++n) {
    NgramCounts most;  // of an n-gram in any single reference
    for (const Words& reference : caption.references)
      for (const auto& [ngram, count] : count_ngrams(reference, n)) most[ngram] = std::max(most[ngram], count);
    for (const auto& [ngram, count] : count_ngrams(caption.caption, n)) {
      const auto place = most.find(ngram);
      statistics.ngrams[n - 1] += count;
      if (place != most.end()) statistics.matched[n - 1] += std::min(count, place->second);
    }
  }
  return statistics;
}

Bleu score(const Statistics& statistics) {
  Bleu bleu{};
  const double c = static_cast<double>(statistics.words), r = static_cast<double>(statistics.reference);
  const double brevity = c < r ? std::exp(1 - r / c) : 1;
  double product = 1;
  for (std::size_t n = 0; n < longest_ngram && statistics.matched[n] > 0; ++n) {
    product *= static_cast<double>(statistics.matched[n]) / static_cast<double>(statistics.ngrams[n]);
    bleu[n] = brevity * std::pow(product, 1 / static_cast<double>(n + 1));
  }
  return bleu;
}

}  // namespace

BleuScores bleu(std::span<const TokenizedCaption> captions) {
  check_captions(captions, "BLEU");
  BleuScores scores;
  Statistics all;
  for (const TokenizedCaption& caption : captions) {
    const Statistics statistics = statistics_of(caption);
    all.add(statistics);
    scores.images.push_back(score(statistics));
  }
  scores.corpus = score(all);
  return scores;
}

}  // namespace stein::lm
