// BLEU: how many n-grams of a caption stand in one of its references.
#pragma once

#include <stein/lm/captions/ngram_counts.h>
#include <stein/lm/captions/tokenized_caption.h>

#include <array>
#include <span>
#include <vector>

namespace stein::lm {

/// BLEU-1, BLEU-2, BLEU-3 and BLEU-4, each from 0 to 1.
using Bleu = std::array<double, longest_ngram>;

/// BLEU of captions together, and of each.
struct BleuScores {
  Bleu corpus{};             ///< of the counts of all captions together; not the mean of the images'
  std::vector<Bleu> images;  ///< of each caption alone
};

/// BLEU (Papineni et al. 2002) as the COCO caption evaluation has it.
///
///   BLEU-N = b (p₁ p₂ … p_N)^(1/N),  b = exp(1 − r/c) if c < r, else 1
///
/// p_n = matched n-grams / n-grams of the captions. An n-gram is matched at most as often as the reference that has it
/// most often has it (clipping). c is the number of words of the captions, r the sum over captions of the length of
/// the reference whose length is closest, of two equally close the shorter. There is no smoothing: BLEU-N is 0 where no
/// n-gram is matched for some n ≤ N (pycocoevalcap adds 1e-15 to each count of matches there).
/// @throws Error(usage) if there is no caption, or one without reference
BleuScores bleu(std::span<const TokenizedCaption> captions);

}  // namespace stein::lm
