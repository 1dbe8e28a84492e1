#include <stein/lm/captions/meteor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace stein::lm {
namespace {

constexpr double alpha = 0.85, beta = 0.2, gamma = 0.6, delta = 0.75;
constexpr double exact_weight = 1, stem_weight = 0.6;

/// Sorted.
constexpr auto function_words = std::to_array<std::string_view>(
    {"$",    "'s",     "'t",   "-lrb-", "-rrb-", "a",     "about", "after", "all",   "also",  "an",    "and",
     "are",  "as",     "at",   "be",    "been",  "but",   "by",    "can",   "could", "first", "for",   "from",
     "had",  "has",    "have", "he",    "her",   "his",   "i",     "if",    "in",    "into",  "is",    "it",
     "its",  "last",   "more", "new",   "no",    "not",   "of",    "on",    "one",   "or",    "other", "out",
     "over", "people", "s",    "said",  "she",   "so",    "some",  "than",  "that",  "the",   "their", "there",
     "they", "this",   "time", "to",    "two",   "up",    "was",   "we",    "were",  "what",  "when",  "which",
     "who",  "will",   "with", "would", "year",  "years", "you"});
static_assert(std::ranges::is_sorted(function_words));

void count(std::string_view word, MatchedWords& counts) {
  ++(is_function_word(word) ? counts.function : counts.content);
}

void add(const MatchedWords& from, MatchedWords& to) {
  to.content += from.content;
  to.function += from.function;
}

void add(const MeteorSide& from, MeteorSide& to) {
  add(from.words, to.words);
  add(from.exact, to.exact);
  add(from.stem, to.stem);
}

/// δ content words + (1 − δ) function words.
double weighted(const MatchedWords& counts) {
  return delta * static_cast<double>(counts.content) + (1 - delta) * static_cast<double>(counts.function);
}

/// The share of a side's words that is matched: P or R.
double share(const MeteorSide& side) {
  const double words = weighted(side.words);
  return words > 0 ? (exact_weight * weighted(side.exact) + stem_weight * weighted(side.stem)) / words : 0;
}

MeteorStatistics best_statistics(const TokenizedCaption& caption, EnglishStemmer& stemmer) {
  const StemmedWords words = stemmer.with_stems(caption.caption);
  std::optional<MeteorStatistics> best;
  for (const Words& reference : caption.references) {
    const MeteorStatistics statistics = meteor_statistics(words, stemmer.with_stems(reference));
    if (!best || statistics.score() > best->score()) best = statistics;
  }
  return *best;
}

}  // namespace

void MeteorStatistics::add(const MeteorStatistics& other) {
  lm::add(other.caption, caption);
  lm::add(other.reference, reference);
  chunks += other.chunks;
}

double MeteorStatistics::score() const {
  const double precision = share(caption), recall = share(reference);
  if (precision == 0 || recall == 0) return 0;
  const double mean = precision * recall / (alpha * precision + (1 - alpha) * recall);
  const double matches = static_cast<double>(caption.exact.all() + caption.stem.all());
  return (1 - gamma * std::pow(static_cast<double>(chunks) / matches, beta)) * mean;
}

bool is_function_word(std::string_view word) {
  return std::ranges::binary_search(function_words, word);
}

MeteorStatistics meteor_statistics(const StemmedWords& caption, const StemmedWords& reference) {
  MeteorStatistics statistics;
  for (const StemmedWord& word : caption) count(word.word, statistics.caption.words);
  for (const StemmedWord& word : reference) count(word.word, statistics.reference.words);
  const std::vector<WordMatch> matches = align_words(caption, reference);
  for (const WordMatch& match : matches) {
    count(caption[match.caption].word, match.exact ? statistics.caption.exact : statistics.caption.stem);
    count(reference[match.reference].word, match.exact ? statistics.reference.exact : statistics.reference.stem);
  }
  statistics.chunks = count_chunks(matches);
  const bool is_whole = matches.size() == caption.size() && matches.size() == reference.size();
  if (is_whole && statistics.chunks == 1) statistics.chunks = 0;
  return statistics;
}

CaptionMetric meteor_exact_stem(std::span<const TokenizedCaption> captions) {
  check_captions(captions, meteor_name);
  EnglishStemmer stemmer;
  CaptionMetric metric;
  MeteorStatistics all;
  for (const TokenizedCaption& caption : captions) {
    const MeteorStatistics statistics = best_statistics(caption, stemmer);
    all.add(statistics);
    metric.images.push_back(statistics.score());
  }
  metric.corpus = all.score();
  return metric;
}

}  // namespace stein::lm
