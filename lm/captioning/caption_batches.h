// Captions with their images as minibatches.
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

/// The captions of a training in minibatches, in another order every epoch. The order is a function of seed and epoch
/// alone. The last minibatch of an epoch takes what is left.
class CaptionBatches {
 public:
  /// @param captions  outlive the batches
  /// @throws Error(usage) unless there is a caption and `rows` ≥ 1
  CaptionBatches(std::span<const CaptionSequence> captions, std::int64_t rows, std::uint64_t seed);

  /// Minibatches of an epoch.
  std::int64_t count() const { return (std::ssize(captions_) + rows_ - 1) / rows_; }
  /// Captions of minibatch 0 ≤ c < count() of an epoch, by their places; valid until the next call.
  std::span<const std::int64_t> chosen(std::int64_t epoch, std::int64_t c);

 private:
  std::span<const CaptionSequence> captions_;
  std::int64_t rows_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;            ///< of `order_`
  std::vector<std::int64_t> order_{};  ///< a permutation of all captions
};

}  // namespace stein::lm
