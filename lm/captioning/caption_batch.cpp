#include <stein/lm/captioning/caption_batch.h>

#include <algorithm>

namespace stein::lm {

void CaptionBatch::fill(std::span<const CaptionSequence> captions, std::span<const std::int64_t> chosen,
                        inference::MatrixView<const float> all_features) {
  rows = std::ssize(chosen), steps = 0, size = 0;
  for (const std::int64_t i : chosen) {
    const std::int64_t length = std::ssize(captions[static_cast<std::size_t>(i)].tokens);
    steps = std::max(steps, length), size += length;
  }
  tokens.assign(static_cast<std::size_t>(rows * steps), -1);
  targets.assign(static_cast<std::size_t>(rows * steps), -1.0F);
  features.resize(static_cast<std::size_t>(rows * all_features.columns));
  for (std::int64_t b = 0; b < rows; ++b) {
    const CaptionSequence& caption = captions[static_cast<std::size_t>(chosen[static_cast<std::size_t>(b)])];
    const std::int64_t begin = b * steps;
    tokens[static_cast<std::size_t>(begin)] = start_token;
    std::copy(caption.tokens.begin(), caption.tokens.end() - 1, tokens.begin() + begin + 1);
    std::ranges::transform(caption.tokens, targets.begin() + begin,
                           [](std::int32_t token) { return static_cast<float>(token); });
    if (!all_features.empty())
      std::ranges::copy(all_features.row(caption.image_row), features.begin() + b * all_features.columns);
  }
}

inference::Inputs<float> CaptionBatch::inputs() const {
  inference::Inputs<float> made;
  made.tokens = {tokens.data(), rows, steps};
  if (!features.empty()) made.dense = {features.data(), rows, std::ssize(features) / rows};
  return made;
}

inference::Batch<float> CaptionBatch::batch(double captions) const {
  inference::Batch<float> made;
  made.inputs = inputs();
  made.targets = {targets.data(), rows, steps};
  made.rows = rows;
  made.size = rows;
  made.data_size = captions;
  made.unit = inference::DataUnit::sequences;
  return made;
}

}  // namespace stein::lm
