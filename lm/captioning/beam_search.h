// The likeliest captions of images: beam search, many images and hypotheses side by side.
#pragma once

#include <stein/core/options.h>
#include <stein/lm/captioning/next_words.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::lm {

/// A caption that was decoded.
struct DecodedCaption {
  std::vector<std::int32_t> words{};  ///< without its end
  double log_probability = 0;         ///< of its words and its end
  double score = 0;                   ///< by which it was chosen
};

/// How far a search looks.
struct BeamOptions {
  std::int64_t beam_width = 5;
  double length_power = 0;
  std::int64_t max_length = 30, min_length = 0;

  template <class V>
  void describe(V& v) {
    v("beam_width", beam_width,
      "W: hypotheses of an image that are kept; 1: the likeliest word each time, if length_power is 0",
      between(1, 1000));
    v("length_power", length_power,
      "captions are ordered by log p / length^power, their length counted in words and an end; 0: by log p",
      between(0, 10));
    v("max_length", max_length, "the most words of a caption, behind which only its end may follow", between(1, 1000),
      "words");
    v("min_length", min_length, "the fewest words of a caption, before which no end may follow", between(0, 1000),
      "words")
        .in_older_runs("0");
  }
};

/// Up to W captions of each image, the best first.
///
/// Word by word, all continuations of an image's hypotheses are ordered by log p, a caption's end among them. What ends
/// among the W best is finished; the W best that do not end are the next hypotheses (Vinyals et al. 2015). The search
/// of an image ends when no hypothesis can reach the W best finished captions. With W of all captions there are it
/// finds the best one. `<start>` and `<unk>` are in no caption. Of equal probabilities the lower number of a word comes
/// first. Where nothing but an end is possible a caption is shorter than `min_length`.
/// @throws Error(usage) unless `model` takes W rows; Error(numeric) if it gives no word a probability
std::vector<std::vector<DecodedCaption>> beam_search(NextWords& model, std::span<const std::int64_t> image_rows,
                                                     const BeamOptions& options);

}  // namespace stein::lm
