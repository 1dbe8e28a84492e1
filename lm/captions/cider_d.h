// CIDEr-D: agreement with the references on n-grams that are rare among images.
#pragma once

#include <stein/lm/captions/tokenized_caption.h>

#include <span>

namespace stein::lm {

/// CIDEr-D (Vedantam et al. 2015, eq. 3 and 4) as the COCO caption evaluation has it, from 0 to 10.
///
/// An n-gram ω that stands h times in a caption has there the weight g(ω) = h · idf(ω), idf(ω) = ln I − ln max(1,
/// df(ω)). I is the number of images, df(ω) the number of images of which at least one reference has ω. For n = 1 … 4
///
///   CIDEr-D_n = 10 / m Σ_j exp(−(l − l_j)² / (2 σ²)) Σ_ω min(g(ω), g_j(ω)) g_j(ω) / (‖g‖ ‖g_j‖),  σ = 6
///
/// over the m references j of the image, l and l_j being the lengths of caption and reference in words; a quotient
/// whose denominator is 0 counts 0. The score of an image is the mean over n, the corpus value the mean over images. It
/// is 0 for a single image, whose n-grams are all in every image.
/// @throws Error(usage) if there is no caption, or one without reference
CaptionMetric cider_d(std::span<const TokenizedCaption> captions);

}  // namespace stein::lm
