// ROUGE-L: the longest sequence of words that a caption shares with a reference.
#pragma once

#include <stein/lm/captions/tokenized_caption.h>

#include <cstddef>
#include <span>

namespace stein::lm {

/// Length of the longest sequence of words that stands in both in the same order, with or without others between.
std::size_t longest_common_subsequence(const Words& first, const Words& second);

/// ROUGE-L (Lin 2004, eq. 2–4) as the COCO caption evaluation has it, with β = 1.2.
///
///   F = (1 + β²) P R / (R + β² P)
///
/// With ℓ the length of the longest common subsequence of caption and reference, P is the largest ℓ / words of the
/// caption, and R the largest ℓ / words of the reference, each over all references: they may be of two of them. 0 where
/// nothing is shared. The corpus value is the mean over images.
/// @throws Error(usage) if there is no caption, or one without reference
CaptionMetric rouge_l(std::span<const TokenizedCaption> captions);

}  // namespace stein::lm
