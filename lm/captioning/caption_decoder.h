// Captions of images as text, with how sure the samples of the weights are of each word.
#pragma once

#include <stein/inference/model.h>
#include <stein/lm/captioning/caption_options.h>
#include <stein/lm/captioning/caption_vocabulary.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stein::lm {

/// The first caption of each image.
std::vector<DecodedCaption> best_captions(const std::vector<std::vector<DecodedCaption>>& captions);

/// What decodes: a network with some features of images and a vocabulary, all of which outlive the decoder.
class CaptionDecoder {
 public:
  /// Throws Error(usage) where the features are not of the network's width.
  CaptionDecoder(inference::Model<float>& model, const inference::RecurrentSpec& spec, const Vocabulary& vocabulary,
                 inference::MatrixView<const float> features, const CaptionDecodingOptions& options);

  /// Captions of each image, the best first: up to beam_width, or one that is drawn. Probabilities are averaged over
  /// the rows of weights [S, P]. @param seed  of captions that are drawn
  std::vector<std::vector<DecodedCaption>> decode(inference::MatrixView<const float> weights,
                                                  std::span<const std::int64_t> image_rows, std::uint64_t seed) const;
  /// The first caption of each image as text.
  std::vector<std::string> texts(const std::vector<std::vector<DecodedCaption>>& captions) const;

  /// A word of a caption, or its end.
  struct SureWord {
    std::int32_t token = 0;
    double probability = 0;  ///< averaged over the rows of weights
    double deviation = 0;    ///< sd over the rows of weights, with 1/S
  };
  /// Of each caption, word by word: how far the rows of weights disagree.
  std::vector<std::vector<SureWord>> certainty(inference::MatrixView<const float> weights,
                                               std::span<const std::int64_t> image_rows,
                                               std::span<const DecodedCaption> captions) const;

 private:
  inference::Model<float>& model_;
  inference::RecurrentSpec spec_;
  const Vocabulary& vocabulary_;
  inference::MatrixView<const float> features_;
  CaptionDecodingOptions options_;
};

}  // namespace stein::lm
