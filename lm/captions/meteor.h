// METEOR with two of its four matchers, exact and stem.
#pragma once

#include <stein/lm/captions/tokenized_caption.h>
#include <stein/lm/captions/word_alignment.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace stein::lm {

/// The name of this metric wherever its values are shown. METEOR itself also matches synonyms and paraphrases, so its
/// values are higher.
inline constexpr std::string_view meteor_name = "METEOR-exact-stem";

/// Words of one text by kind: content words, and function words (`is_function_word`).
struct MatchedWords {
  std::int64_t content = 0, function = 0;

  std::int64_t all() const { return content + function; }
  bool operator==(const MatchedWords&) const = default;
};

/// One side of an alignment: all its words, and those in an exact and in a stem match.
struct MeteorSide {
  MatchedWords words, exact, stem;
};

/// What METEOR is computed from; a sum over captions gives the corpus value.
struct MeteorStatistics {
  MeteorSide caption, reference;
  std::int64_t chunks = 0;  ///< 0 where all words of both match in one chunk

  void add(const MeteorStatistics& other);
  /// From 0 to 1; 0 without a match.
  double score() const;
};

/// Whether METEOR 1.5 takes `word` for a function word: its relative frequency in English news text is above 10⁻³
/// (Denkowski & Lavie 2011). The 79 words are those of METEOR 1.5's list that `coco_words` can give: not punctuation.
bool is_function_word(std::string_view word);

/// The statistics of a caption and one reference, aligned by `align_words`.
MeteorStatistics meteor_statistics(const StemmedWords& caption, const StemmedWords& reference);

/// METEOR 1.5 (Denkowski & Lavie 2014) with the matchers exact and stem, on the words as they are given.
///
///   P = Σ_i w_i (δ m_i(c) + (1 − δ) m_i(f)) / (δ |c| + (1 − δ) |f|) of the caption, R the same of the reference
///   F = P R / (α P + (1 − α) R),  score = (1 − γ (chunks / matches)^β) F
///
/// α = 0.85, β = 0.2, γ = 0.6, δ = 0.75; w = 1 of exact and 0.6 of stem matches; c content words, f function words. A
/// caption all of whose words match in one chunk, and which leaves out no word of the reference, has no penalty, as in
/// METEOR 1.5: a caption against itself scores 1. An image has the highest score over its references, of equal ones the
/// first. The corpus value is the score of the summed statistics of these references, in which the order of
/// references can make a difference where scores are equal.
///
/// METEOR 1.5's program differs in three ways: its search for the alignment leaves out some stem matches of words that
/// have several; it keeps 40 partial alignments; in the COCO caption evaluation (`-norm`) it cuts words once more, at
/// hyphens and apostrophes.
/// @throws Error(usage) if there is no caption, or one without reference
CaptionMetric meteor_exact_stem(std::span<const TokenizedCaption> captions);

}  // namespace stein::lm
