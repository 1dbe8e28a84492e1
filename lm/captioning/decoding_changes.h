// How captions are made where it is otherwise than a run's options say, as options.
#pragma once

#include <stein/core/options.h>
#include <stein/lm/captioning/caption_options.h>

#include <cstdint>

namespace stein::lm {

/// What an action changes of a run's decoding.
struct DecodingChanges {
  /// How captions are made: as the run says, or otherwise.
  enum class Decoding { run, beam, sampled };

  Decoding decoding = Decoding::run;
  std::int64_t beam_width = 0, max_length = 0, min_length = -1;
  double length_power = -1, sharpness = 0;

  template <class V>
  void describe(V& v) {
    v("decoding", decoding, "how captions are made: as the run says, by beam search, or drawn word by word",
      {{"run", Decoding::run}, {"beam", Decoding::beam}, {"sampled", Decoding::sampled}});
    v("beam_width", beam_width, "hypotheses of an image; 0: as the run says", between(0, 1000));
    v("length_power", length_power, "captions are ordered by log p / length^power; -1: as the run says",
      between(-1, 10));
    v("max_length", max_length, "the most words of a caption; 0: as the run says", between(0, 1000), "words");
    v("min_length", min_length, "the fewest words of a caption; -1: as the run says", between(-1, 1000), "words");
    v("sharpness", sharpness, "of sampled captions: probabilities are raised to this power; 0: as the run says",
      non_negative);
  }
  /// The decoding of a run, with the changes.
  CaptionDecodingOptions of(CaptionDecodingOptions options) const {
    using Way = CaptionDecodingOptions::Decoding;
    if (decoding != Decoding::run) options.decoding = decoding == Decoding::beam ? Way::beam : Way::sampled;
    if (sharpness > 0) options.sharpness = sharpness;
    if (beam_width > 0) options.beam.beam_width = beam_width;
    if (max_length > 0) options.beam.max_length = max_length;
    if (min_length >= 0) options.beam.min_length = min_length;
    if (length_power >= 0) options.beam.length_power = length_power;
    return options;
  }
};

}  // namespace stein::lm
