// The network of a captioning model, its training and its decoding, as options.
#pragma once

#include <stein/lm/captioning/beam_search.h>
#include <stein/lm/network/recurrent_options.h>
#include <stein/training/epoch_options.h>

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace stein::lm {

/// The recurrent network, and how the image enters. As they stand they are for the small captions of `scenes`.
struct CaptionNetworkOptions {
  RecurrentOptions recurrent{.spec = {.hidden = 64, .layers = 1, .start_range = 0.1, .forget_bias = 1}};

  template <class V>
  void describe(V& v) {
    using inference::FeatureUse;
    recurrent.describe(v);
    v("feature_use", recurrent.spec.feature_use,
      "how the image's features enter, after a linear map: first_input, added to the first token's embedding (Gan et "
      "al. 2017); initial_state, as an input of their own before the first token, so that they make the state that it "
      "starts from (Vinyals et al. 2015, Fortunato et al. 2017)",
      {{"first_input", FeatureUse::first_input}, {"initial_state", FeatureUse::initial_state}});
  }
};

/// How captions are made.
struct CaptionDecodingOptions {
  /// How the next word is chosen.
  enum class Decoding { beam, sampled };

  Decoding decoding = Decoding::beam;
  BeamOptions beam{.min_length = 1};
  double sharpness = 1;

  template <class V>
  void describe(V& v) {
    v("decoding", decoding, "beam: the likeliest captions that a beam search finds; sampled: drawn word by word",
      {{"beam", Decoding::beam}, {"sampled", Decoding::sampled}});
    beam.describe(v);
    v("sharpness", sharpness,
      "of sampled captions: probabilities are raised to this power; above 1 likely words become likelier", positive);
  }
};

/// "beam 5", "sampled".
inline std::string decoding_name(const CaptionDecodingOptions& options) {
  const bool drawn = options.decoding == CaptionDecodingOptions::Decoding::sampled;
  return drawn ? "sampled" : fmt::format("beam {}", options.beam.beam_width);
}

/// Epochs, samples, words and decoding.
struct CaptionTrainingOptions {
  training::EpochOptions epochs{.batch_size = 64, .epochs = 20, .burn_in = 0.25, .samples_per_epoch = 1};
  std::int64_t min_count = 1;
  CaptionDecodingOptions decoding{};

  template <class V>
  void describe(V& v) {
    epochs.describe(v);
    v("min_count", min_count, "words that the training captions have less often stand as `<unk>`", between(1, 1e9));
    decoding.describe(v);
  }
};

}  // namespace stein::lm
