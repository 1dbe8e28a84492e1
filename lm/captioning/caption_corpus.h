// Captioned images as a trainer reads them: their words by number.
#pragma once

#include <stein/lm/captioning/caption_vocabulary.h>

#include <cstdint>
#include <vector>

namespace stein::lm {

/// A set of captioned images with its vocabulary, which the training part alone decides.
struct CaptionCorpus {
  CaptionData data;
  Vocabulary vocabulary;
  std::vector<CaptionSequence> train{}, validation{}, test{};
  std::int64_t unknown_train = 0, unknown_validation = 0, unknown_test = 0;  ///< words that are not in the vocabulary
};

/// Throws Error(data) where no word is frequent enough.
CaptionCorpus make_caption_corpus(CaptionData data, std::int64_t min_count);

}  // namespace stein::lm
