// What caption metrics take and give.
#pragma once

#include <stein/lm/captions/coco_tokenizer.h>

#include <span>
#include <string_view>
#include <vector>

namespace stein::lm {

/// The caption of one image, and the captions that people wrote for the same image.
struct TokenizedCaption {
  Words caption;
  std::vector<Words> references;
};

/// A metric over all captions, and for each.
struct CaptionMetric {
  double corpus = 0;
  std::vector<double> images;  ///< in the order of the captions
};

/// Throws Error(usage) unless there is a caption and each has a reference; `metric` is named in the error.
void check_captions(std::span<const TokenizedCaption> captions, std::string_view metric);

}  // namespace stein::lm
