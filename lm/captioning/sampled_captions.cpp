#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/lm/captioning/caption_vocabulary.h>
#include <stein/lm/captioning/sampled_captions.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace stein::lm {
namespace {

/// A caption that is being drawn.
struct Drawn {
  Draws draws;
  DecodedCaption caption{};
};

/// Draws the next token of `drawn` and counts its probability.
std::int32_t draw_token(std::span<const float> probabilities, bool must_end, const SampledCaptionOptions& options,
                        std::vector<double>& weights, Drawn& drawn) {
  std::int32_t token = end_token;
  if (!must_end) {
    weights.assign(probabilities.begin(), probabilities.end());
    weights[start_token] = weights[unknown_token] = 0;
    const double end = std::exchange(weights[end_token], 0);
    const bool has_word = std::ranges::max(weights) > 0;
    if (std::ssize(drawn.caption.words) >= options.min_length || !has_word) weights[end_token] = end;
    const double most = std::ranges::max(weights);
    if (!(most > 0)) fail(ErrorKind::numeric, "the model gives no word of {} a probability above 0", weights.size());
    for (double& weight : weights) weight = std::pow(weight / most, options.sharpness);
    token = static_cast<std::int32_t>(drawn.draws.categorical(weights));
  }
  drawn.caption.log_probability += std::log(static_cast<double>(probabilities[static_cast<std::size_t>(token)]));
  if (token != end_token) drawn.caption.words.push_back(token);
  return token;
}

}  // namespace

std::vector<DecodedCaption> sampled_captions(NextWords& model, std::span<const std::int64_t> image_rows,
                                             const SampledCaptionOptions& options) {
  STEIN_CHECK(options.max_length >= 1 && options.sharpness > 0,
              "expected max_length >= 1 and sharpness > 0, got {} and {}", options.max_length, options.sharpness);
  std::vector<Drawn> drawn;
  for (std::size_t i = 0; i < image_rows.size(); ++i)
    drawn.push_back(
        {Draws({.seed = options.seed, .step = 0, .stream = Stream::decision}, static_cast<std::uint32_t>(i))});
  const auto together = static_cast<std::size_t>(model.most_rows());
  std::vector<double> weights;
  for (std::size_t first = 0; first < drawn.size(); first += together) {
    std::vector<std::size_t> growing(std::min(together, drawn.size() - first));
    std::iota(growing.begin(), growing.end(), first);
    model.begin(image_rows.subspan(first, growing.size()));
    for (std::int64_t length = 0; !growing.empty(); ++length) {
      std::vector<std::int64_t> parents;
      std::vector<std::int32_t> tokens;
      std::vector<std::size_t> left;
      for (std::size_t row = 0; row < growing.size(); ++row) {
        const std::int32_t token = draw_token(model.probabilities().row(static_cast<std::int64_t>(row)),
                                              length == options.max_length, options, weights, drawn[growing[row]]);
        if (token == end_token) continue;
        parents.push_back(static_cast<std::int64_t>(row)), tokens.push_back(token), left.push_back(growing[row]);
      }
      growing = std::move(left);
      if (!growing.empty()) model.read(parents, tokens);
    }
  }
  std::vector<DecodedCaption> captions;
  for (Drawn& each : drawn) {
    each.caption.score = each.caption.log_probability;
    captions.push_back(std::move(each.caption));
  }
  return captions;
}

}  // namespace stein::lm
