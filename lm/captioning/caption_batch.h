// Captions with their images as a minibatch.
#pragma once

#include <stein/inference/batch.h>
#include <stein/lm/captioning/caption_vocabulary.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::lm {

/// Some captions side by side, each with the features of its image. A row begins with `start_token`; behind the end of
/// a shorter caption stand negative numbers, which no network reads or is scored on.
struct CaptionBatch {
  std::int64_t rows = 0, steps = 0;
  std::int64_t size = 0;               ///< tokens that are predicted
  std::vector<std::int32_t> tokens{};  ///< [rows, steps] what is read
  std::vector<float> targets{};        ///< [rows, steps] what follows, as numbers
  std::vector<float> features{};       ///< [rows, F]; empty without images

  /// Takes the captions that `chosen` names. @param all_features  [images, F]; empty: captions alone
  void fill(std::span<const CaptionSequence> captions, std::span<const std::int64_t> chosen,
            inference::MatrixView<const float> all_features);

  /// Views of what is here.
  inference::Inputs<float> inputs() const;
  /// The same with targets; one datum is a caption. @param captions  N, all that there are
  inference::Batch<float> batch(double captions) const;
};

}  // namespace stein::lm
