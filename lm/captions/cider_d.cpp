#include <stein/lm/captions/cider_d.h>
#include <stein/lm/captions/ngram_counts.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace stein::lm {
namespace {

constexpr double length_deviation = 6;  // σ, in words
constexpr double scale = 10;

/// Number of images of which a reference has the n-gram, for all n.
NgramCounts document_frequencies(std::span<const TokenizedCaption> captions) {
  NgramCounts frequencies;
  for (const TokenizedCaption& caption : captions) {
    std::set<std::string> ngrams;
    for (const Words& reference : caption.references)
      for (std::size_t n = 1; n <= longest_ngram; ++n)
        for (const auto& [ngram, count] : count_ngrams(reference, n)) ngrams.insert(ngram);
    for (const std::string& ngram : ngrams) ++frequencies[ngram];
  }
  return frequencies;
}

/// The n-grams of one length in a caption with their weights g.
struct Weighted {
  std::map<std::string, double> weights;
  double norm = 0;
};

class Vectorizer {
 public:
  explicit Vectorizer(std::span<const TokenizedCaption> captions)
      : frequencies_(document_frequencies(captions)), log_images_(std::log(static_cast<double>(captions.size()))) {}

  std::array<Weighted, longest_ngram> operator()(const Words& words) const {
    std::array<Weighted, longest_ngram> vectors;
    for (std::size_t n = 1; n <= longest_ngram; ++n) {
      auto& [weights, norm] = vectors[n - 1];
      for (const auto& [ngram, count] : count_ngrams(words, n)) {
        const double weight = static_cast<double>(count) * inverse_document_frequency(ngram);
        weights[ngram] = weight;
        norm += weight * weight;
      }
      norm = std::sqrt(norm);
    }
    return vectors;
  }

 private:
  double inverse_document_frequency(const std::string& ngram) const {
    const auto place = frequencies_.find(ngram);
    return place == frequencies_.end() ? log_images_ : log_images_ - std::log(static_cast<double>(place->second));
  }

  NgramCounts frequencies_;
  double log_images_;
};

/// Clipped cosine of a caption and a reference.
double similarity(const Weighted& caption, const Weighted& reference) {
  if (caption.norm == 0 || reference.norm == 0) return 0;
  double product = 0;
  for (const auto& [ngram, weight] : caption.weights)
    if (const auto place = reference.weights.find(ngram); place != reference.weights.end())
      product += std::min(weight, place->second) * place->second;
  return product / (caption.norm * reference.norm);
}

double score(const TokenizedCaption& caption, const Vectorizer& vectors_of) {
  const auto vectors = vectors_of(caption.caption);
  double sum = 0;
  for (const Words& reference : caption.references) {
    const auto reference_vectors = vectors_of(reference);
    const double difference = static_cast<double>(std::ssize(caption.caption) - std::ssize(reference));
    const double penalty = std::exp(-difference * difference / (2 * length_deviation * length_deviation));
    for (std::size_t n = 0; n < longest_ngram; ++n) sum += penalty * similarity(vectors[n], reference_vectors[n]);
  }
  return scale * sum / static_cast<double>(longest_ngram * caption.references.size());
}

}  // namespace

CaptionMetric cider_d(std::span<const TokenizedCaption> captions) {
  check_captions(captions, "CIDEr-D");
  const Vectorizer vectors_of(captions);
  CaptionMetric metric;
  for (const TokenizedCaption& caption : captions) {
    metric.images.push_back(score(caption, vectors_of));
    metric.corpus += metric.images.back() / static_cast<double>(captions.size());
  }
  return metric;
}

}  // namespace stein::lm
