// What a decoder asks of a captioning model: which word may come next, for many captions at once.
#pragma once

#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <span>

namespace stein::lm {

/// Captions that grow word by word, side by side in rows. Rows may end, be taken several times and change their order
/// from word to word.
class NextWords {
 public:
  virtual ~NextWords() = default;

  /// V: numbers of tokens, `start_token`, `end_token` and `unknown_token` among them.
  virtual std::int64_t vocabulary() const = 0;
  /// Captions that may grow side by side.
  virtual std::int64_t most_rows() const = 0;
  /// Begins a caption of each of these images, by their rows of features; what there was is forgotten.
  virtual void begin(std::span<const std::int64_t> image_rows) = 0;
  /// Row i becomes what row parents[i] was, and tokens[i] behind it.
  virtual void read(std::span<const std::int64_t> parents, std::span<const std::int32_t> tokens) = 0;
  /// [rows, V] the probability of each token as the next one of each row; valid until the next call.
  virtual inference::MatrixView<const float> probabilities() const = 0;
};

}  // namespace stein::lm
