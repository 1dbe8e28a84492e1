// All caption metrics at once.
#pragma once

#include <stein/lm/captions/caption_file.h>
#include <stein/lm/captions/tokenized_caption.h>

#include <span>
#include <string_view>
#include <vector>

namespace stein::lm {

/// A metric by its name in tables.
struct NamedMetric {
  std::string_view name;
  CaptionMetric metric;
};

/// Captions and references as the words that `coco_words` finds in them.
/// @throws Error(data) for a text that is no UTF-8
std::vector<TokenizedCaption> tokenize_captions(std::span<const CandidateCaption> images);

/// BLEU-1, BLEU-2, BLEU-3, BLEU-4, ROUGE-L, CIDEr-D and METEOR-exact-stem in this order, each over all images and for
/// each image; see `bleu`, `rouge_l`, `cider_d` and `meteor_exact_stem`. Corpus values of BLEU and METEOR are not the
/// means of their images.
/// @throws Error(usage) if there is no image, or one without references; Error(data) for a text that is no UTF-8
std::vector<NamedMetric> score_captions(std::span<const CandidateCaption> images);

}  // namespace stein::lm
