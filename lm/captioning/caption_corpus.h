// Captioned images as a trainer reads them: their words by number.
#pragma once

#include <stein/lm/captioning/caption_vocabulary.h>
#include <stein/lm/scenes/scene.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stein::lm {

/// A set of captioned images with its vocabulary, which the training part alone decides.
struct CaptionCorpus {
  CaptionData data;
  Vocabulary vocabulary;
  std::vector<CaptionSequence> train{}, validation{}, test{};
  std::int64_t unknown_train = 0, unknown_validation = 0, unknown_test = 0;  ///< words that are not in the vocabulary
  std::map<std::string, Scene> scenes{};  ///< what the images show, by their ids; empty unless they are made up
};

/// Throws Error(data) where no word is frequent enough.
CaptionCorpus make_caption_corpus(CaptionData data, std::int64_t min_count);

/// Features of images by rows: the rows of some images.
std::vector<std::int64_t> rows_of(std::span<const CaptionedImage> images);

}  // namespace stein::lm
