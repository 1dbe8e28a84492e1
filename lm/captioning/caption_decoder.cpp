#include <stein/core/error.h>
#include <stein/lm/captioning/caption_decoder.h>
#include <stein/lm/captioning/caption_prediction.h>
#include <stein/lm/captioning/caption_scorer.h>
#include <stein/lm/captioning/sampled_captions.h>

#include <algorithm>
#include <cmath>

namespace stein::lm {
namespace {

/// Images that are decoded side by side: enough that the weights are read once for many of them.
constexpr std::int64_t images_together = 128;

}  // namespace

std::vector<DecodedCaption> best_captions(const std::vector<std::vector<DecodedCaption>>& captions) {
  std::vector<DecodedCaption> best;
  best.reserve(captions.size());
  for (const auto& of_image : captions) best.push_back(of_image.front());
  return best;
}

CaptionDecoder::CaptionDecoder(inference::Model<float>& model, const inference::RecurrentSpec& spec,
                               const Vocabulary& vocabulary, inference::MatrixView<const float> features,
                               const CaptionDecodingOptions& options)
    : model_(model), spec_(spec), vocabulary_(vocabulary), features_(features), options_(options) {
  STEIN_CHECK(features.columns == spec.features, "the network reads {} features of an image, got {}", spec.features,
              features.columns);
}

std::vector<std::vector<DecodedCaption>> CaptionDecoder::decode(inference::MatrixView<const float> weights,
                                                                std::span<const std::int64_t> image_rows,
                                                                std::uint64_t seed) const {
  const bool drawn = options_.decoding == CaptionDecodingOptions::Decoding::sampled;
  const std::int64_t images = std::min<std::int64_t>(images_together, std::ssize(image_rows));
  CaptionPrediction prediction(model_, spec_, weights, features_, images * (drawn ? 1 : options_.beam.beam_width));
  if (!drawn) return beam_search(prediction, image_rows, options_.beam);
  std::vector<std::vector<DecodedCaption>> captions;
  for (DecodedCaption& each : sampled_captions(prediction, image_rows,
                                               {.max_length = options_.beam.max_length,
                                               .min_length = options_.beam.min_length,
                                               .sharpness = options_.sharpness,
                                               .seed = seed}))
    captions.push_back({std::move(each)});
  return captions;
}

std::vector<std::string> CaptionDecoder::texts(const std::vector<std::vector<DecodedCaption>>& captions) const {
  std::vector<std::string> found;
  found.reserve(captions.size());
  for (const auto& of_image : captions) found.push_back(caption_of(of_image.front().words, vocabulary_));
  return found;
}

std::vector<std::vector<CaptionDecoder::SureWord>> CaptionDecoder::certainty(
    inference::MatrixView<const float> weights, std::span<const std::int64_t> image_rows,
    std::span<const DecodedCaption> captions) const {
  STEIN_CHECK(image_rows.size() == captions.size(), "expected an image of each caption, got {} and {}",
              image_rows.size(), captions.size());
  std::vector<CaptionSequence> sequences;
  for (std::size_t i = 0; i < captions.size(); ++i) {
    CaptionSequence& sequence = sequences.emplace_back(CaptionSequence{image_rows[i], captions[i].words});
    sequence.tokens.push_back(end_token);
  }
  std::vector<std::vector<SureWord>> found;
  for (const CaptionSequence& sequence : sequences)
    for (found.emplace_back(); const std::int32_t token : sequence.tokens) found.back().push_back({.token = token});
  CaptionScorer scorer(std::move(sequences), features_);
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  for (std::int64_t k = 0; k < weights.rows; ++k) {  // Welford's recurrence, as in inference::Predictive
    scorer.score(model_, {weights.block(k, 1), k}, log_probability);
    std::size_t place = 0;
    for (auto& caption : found)
      for (SureWord& word : caption) {
        const double own = std::exp(static_cast<double>(log_probability[place++])), before = own - word.probability;
        word.probability += before / static_cast<double>(k + 1);
        word.deviation += before * (own - word.probability);
      }
  }
  for (auto& caption : found)
    for (SureWord& word : caption) word.deviation = std::sqrt(word.deviation / static_cast<double>(weights.rows));
  return found;
}

}  // namespace stein::lm
