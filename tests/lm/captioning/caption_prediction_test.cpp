// What networks say of captions: scored as wholes, and word by word while they grow.
#include <stein/inference/fused/categorical_pass.h>
#include <stein/lm/captioning/beam_search.h>
#include <stein/lm/captioning/caption_prediction.h>
#include <stein/lm/captioning/caption_scorer.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>

#include "core/error_matcher.h"
#include "lm/captioning/captioned_images.h"

namespace stein::lm {
namespace {

using inference::FeatureUse;
using inference::Matrix;
using inference::ParticleRecurrent;

/// log p of captions under the average of several rows of weights.
std::vector<double> averaged_scores(ParticleRecurrent& model, const Matrix<float>& weights,
                                    const std::vector<CaptionSequence>& captions, const Matrix<float>& features) {
  CaptionScorer scorer(captions, features.view());
  std::vector<double> mean(static_cast<std::size_t>(scorer.tokens()));
  std::vector<float> own(mean.size());
  for (std::int64_t k = 0; k < weights.rows(); ++k) {
    scorer.score(model, {weights.view().block(k, 1), k}, own);
    for (std::size_t i = 0; i < own.size(); ++i)
      mean[i] += std::exp(static_cast<double>(own[i])) / static_cast<double>(weights.rows());
  }
  std::vector<double> sums(captions.size());
  for (std::size_t i = 0; i < captions.size(); ++i)
    for (std::int64_t t = scorer.begin_of(static_cast<std::int64_t>(i));
         t < scorer.begin_of(static_cast<std::int64_t>(i) + 1); ++t)
      sums[i] += std::log(mean[static_cast<std::size_t>(t)]);
  return sums;
}

TEST_CASE("captions have the probabilities that their words have one by one", "[lm][caption]") {
  const CaptionData data = test::small_images(20);
  const Vocabulary vocabulary = caption_vocabulary(data.train, 1);
  std::int64_t unknown = 0;
  const auto captions = caption_sequences(data.test, vocabulary, unknown);
  ParticleRecurrent model(test::small_network(vocabulary.size(), FeatureUse::first_input));
  const Matrix<float> weights = test::random_weights(model, 1);
  CaptionScorer scorer(captions, data.features.view());
  CHECK(scorer.captions() == 40);
  CHECK(scorer.tokens() == 20 * (4 + 7));
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  scorer.score(model, {weights.view(), 0}, log_probability);
  for (std::size_t i = 0; i < captions.size(); ++i) {
    std::vector<std::int32_t> tokens{start_token};
    tokens.insert(tokens.end(), captions[i].tokens.begin(), captions[i].tokens.end() - 1);
    inference::Inputs<float> inputs;
    inputs.tokens = {tokens.data(), 1, std::ssize(tokens)};
    inputs.dense = {data.features.row(captions[i].image_row).data(), 1, 2};
    Matrix<float> logits(std::ssize(tokens), vocabulary.size());
    model.predict({weights.view(), 0}, inputs, logits.view());
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      double sum = 0;
      for (const float logit : logits.row(static_cast<std::int64_t>(t))) sum += std::exp(static_cast<double>(logit));
      const auto own = static_cast<double>(
          logits.row(static_cast<std::int64_t>(t))[static_cast<std::size_t>(captions[i].tokens[t])]);
      const auto place = static_cast<std::size_t>(scorer.begin_of(static_cast<std::int64_t>(i))) + t;
      CHECK(static_cast<double>(log_probability[place]) == Approx(own - std::log(sum)).epsilon(1e-5));
    }
  }
}

TEST_CASE("a beam of all captions finds the likeliest under the average of several networks", "[lm][caption][beam]") {
  const FeatureUse use = GENERATE(FeatureUse::first_input, FeatureUse::initial_state);
  constexpr std::int64_t longest = 4;
  Matrix<float> features(3, 2);
  for (const std::int64_t i : {0, 1, 2}) features.row(i)[0] = static_cast<float>(i), features.row(i)[1] = 1.0F;
  const inference::RecurrentSpec spec = test::small_network(3 + 2, use);  // two words
  ParticleRecurrent model(spec);
  const Matrix<float> weights = test::random_weights(model, 3);
  CaptionPrediction prediction(model, spec, weights.view(), features.view(), 64);
  const std::vector<std::int64_t> images{2, 0, 1};
  const auto found = beam_search(prediction, images, {.beam_width = 16, .max_length = longest});
  std::vector<CaptionSequence> all;  // of one image after the other: 1 + 2 + 4 + 8 + 16 captions
  const std::function<void(CaptionSequence)> grow = [&](CaptionSequence caption) {
    CaptionSequence whole = caption;
    whole.tokens.push_back(end_token);
    all.push_back(whole);
    if (std::ssize(caption.tokens) == longest) return;
    for (const std::int32_t word : {3, 4}) {
      CaptionSequence longer = caption;
      longer.tokens.push_back(word);
      grow(longer);
    }
  };
  for (const std::int64_t image : images) grow({.image_row = image});
  REQUIRE(all.size() == 3 * 31);
  const std::vector<double> scores = averaged_scores(model, weights, all, features);
  for (std::size_t i = 0; i < images.size(); ++i) {
    std::map<double, std::vector<std::int32_t>> best;  // by log p
    for (std::size_t k = 31 * i; k < 31 * (i + 1); ++k) best[scores[k]] = all[k].tokens;
    std::vector<std::int32_t> words = found[i].front().words;
    words.push_back(end_token);
    CHECK(words == best.rbegin()->second);
    CHECK(found[i].front().log_probability == Approx(best.rbegin()->first).epsilon(1e-4));
    CHECK(found[i][1].log_probability == Approx(std::next(best.rbegin())->first).epsilon(1e-4));
  }
}

TEST_CASE("captions begin as if none had been read before", "[lm][caption]") {
  const FeatureUse use = GENERATE(FeatureUse::first_input, FeatureUse::initial_state);
  const CaptionData data = test::small_images(4);
  const inference::RecurrentSpec spec = test::small_network(8, use);
  ParticleRecurrent model(spec);
  const Matrix<float> weights = test::random_weights(model, 3);
  CaptionPrediction used(model, spec, weights.view(), data.features.view(), 4),
      fresh(model, spec, weights.view(), data.features.view(), 4);
  used.begin(std::vector<std::int64_t>{0, 1, 2});
  used.read(std::vector<std::int64_t>{2, 0, 0, 1}, std::vector<std::int32_t>{3, 4, 3, 5});
  for (CaptionPrediction* prediction : {&used, &fresh}) prediction->begin(std::vector<std::int64_t>{1, 3});
  const inference::MatrixView<const float> found = used.probabilities(), expected = fresh.probabilities();
  REQUIRE(found.rows == 2);
  for (std::int64_t i = 0; i < 2; ++i) CHECK(std::ranges::equal(found.row(i), expected.row(i)));
}

TEST_CASE("the probabilities of one network are the softmax of its logits", "[lm][caption]") {
  Matrix<float> logits(3, 37), sums(3, 37);
  for (std::int64_t i = 0; i < 3; ++i) {
    fill_normal(logits.row(i), {.seed = 3}, static_cast<std::uint32_t>(i));
    for (float& logit : logits.row(i)) logit *= 8;
  }
  const Matrix<float> before = logits;
  inference::fused::to_probabilities(logits.view(), 0.25F);
  sums.fill(1);
  Matrix<float> again = before;
  inference::fused::add_probabilities(again.view(), 0.25F, sums.view());
  for (std::int64_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (const float logit : before.row(i)) sum += std::exp(static_cast<double>(logit));
    for (std::size_t k = 0; k < 37; ++k) {
      const double expected = 0.25 * std::exp(static_cast<double>(before.row(i)[k])) / sum;
      CHECK(std::abs(static_cast<double>(logits.row(i)[k]) - expected) < 4e-7);
      CHECK(std::abs(static_cast<double>(sums.row(i)[k]) - 1 - expected) < 5e-7);
    }
  }
}

TEST_CASE("features of another width and too many captions are refused", "[lm][caption]") {
  const CaptionData data = test::small_images(4);
  const inference::RecurrentSpec spec = test::small_network(8, FeatureUse::first_input);
  ParticleRecurrent model(spec);
  const Matrix<float> weights = test::random_weights(model, 1), wide(2, 5);
  CHECK_ERROR(CaptionPrediction(model, spec, weights.view(), wide.view(), 4), usage, "reads 2 features", "got 5");
  CaptionPrediction prediction(model, spec, weights.view(), data.features.view(), 2);
  CHECK_ERROR(prediction.begin(std::vector<std::int64_t>{0, 1, 2}), usage, "1 to 2 captions, got 3");
  CHECK_ERROR(CaptionScorer({}, data.features.view()), usage, "no caption");
}

}  // namespace
}  // namespace stein::lm
