// Captions drawn word by word.
#pragma once

#include <stein/lm/captioning/beam_search.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::lm {

/// How captions are drawn.
struct SampledCaptionOptions {
  std::int64_t max_length = 30;  ///< the most words, behind which only the end may follow
  std::int64_t min_length = 0;   ///< the fewest words, before which no end follows unless nothing else is possible
  double sharpness = 1;          ///< probabilities are raised to this power: above 1 likely words become likelier
  std::uint64_t seed = 0;
};

/// A caption of each image, drawn from what the model gives; `<start>` and `<unk>` are never drawn. Its score is its
/// log p. Image i draws with row i of the seed, whatever other images there are.
/// @throws Error(usage) for a length below 1 and a sharpness that is not above 0; Error(numeric) if the model gives no
///         word a probability
std::vector<DecodedCaption> sampled_captions(NextWords& model, std::span<const std::int64_t> image_rows,
                                             const SampledCaptionOptions& options);

}  // namespace stein::lm
