// What the captions of a trained model are worth.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/lm/captioning/beam_search.h>
#include <stein/lm/captioning/caption_quality.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace stein::lm {

/// Of each image, the best first.
using Captions = std::vector<std::vector<DecodedCaption>>;

/// Captions of the images of a part, and their quality under several weights.
struct CaptionWorth {
  std::int64_t samples = 1;                ///< of the weights, that `averaged` are averaged over
  Captions decoded{};                      ///< under the average
  CaptionQuality single{};                 ///< of one sample alone, averaged over the samples
  CaptionQuality averaged{};               ///< all samples together
  CaptionQuality final_weights{};          ///< the weights where training ended; of a variational method the mean
  std::optional<CaptionQuality> chosen{};  ///< the weights with the best validation score

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
};

}  // namespace stein::lm
