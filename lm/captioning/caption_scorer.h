// The probability of every word of some captions under a network.
#pragma once

#include <stein/inference/model.h>
#include <stein/lm/captioning/caption_batch.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::lm {

/// Scores captions, each from its image and the words before, with any weights. Captions of like length are scored
/// together; memory is that of the logits of 32 captions.
class CaptionScorer {
 public:
  /// @param features  [images, F]; empty: captions alone. It outlives the scorer.
  /// @throws Error(usage) if there is no caption
  CaptionScorer(std::vector<CaptionSequence> captions, inference::MatrixView<const float> features);

  /// Tokens that are scored: words, and an end of each caption.
  std::int64_t tokens() const { return begins_.back(); }
  std::int64_t captions() const { return std::ssize(captions_); }
  /// Where the tokens of caption i begin among all.
  std::int64_t begin_of(std::int64_t i) const { return begins_[static_cast<std::size_t>(i)]; }

  /// Writes log p of every token, caption by caption in their order.
  /// @param weights          one row [1, P]
  /// @param log_probability  [tokens()]
  void score(inference::Model<float>& model, const inference::ParticleRows<const float>& weights,
             std::span<float> log_probability);

 private:
  std::vector<CaptionSequence> captions_;
  inference::MatrixView<const float> features_;
  std::vector<std::int64_t> begins_;  ///< [captions + 1]
  std::vector<std::int64_t> order_;   ///< captions by length
  CaptionBatch batch_;
  std::vector<float> logits_, scored_;
};

}  // namespace stein::lm
