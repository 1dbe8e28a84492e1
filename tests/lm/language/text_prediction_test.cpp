// Texts that are read token by token, against networks that read them in one piece.
#include <stein/inference/models/particle_recurrent.h>
#include <stein/lm/language/text_prediction.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lm/language/next_tokens.h"
#include "training/method_with.h"

namespace stein::lm {
namespace {

using training::WeightDraws;

constexpr std::size_t words = 9;
const std::vector<std::int32_t> text{4, 1, 7, 7, 0, 2, 8};

/// Two networks of which every token depends on all before it.
struct TwoNetworks {
  training::NetworkWeights weights;
  WeightDraws draws;

  explicit TwoNetworks(const WeightDraws::Options& options = {}, double dropout = 0)
      : weights(test::method_with("svgd", {{"particles", "2"}}),
                std::make_unique<inference::ParticleRecurrent>(
                    inference::RecurrentSpec{.vocabulary = words, .hidden = 6, .layers = 2, .dropout = dropout}),
                {}, 0),
        draws(weights, options, {}, 0) {
    for (std::int64_t i = 0; i < 2; ++i) {
      const std::span<float> row = weights.particles().values().row(i);
      fill_normal(row, {.seed = 9}, static_cast<std::uint32_t>(i));
      for (float& weight : row) weight *= 0.6F;
    }
  }
  inference::Model<float>& model() { return weights.posterior().model(); }
  /// What each network says of the token behind a text.
  std::vector<std::vector<double>> behind(const std::vector<std::int32_t>& tokens) {
    std::vector<std::vector<double>> each;
    for (std::int64_t k = 0; k < 2; ++k) each.push_back(test::next_tokens(model(), draws.get(k).weights, tokens));
    return each;
  }
};

TEST_CASE("behind every token the next one is as likely as the whole text makes it", "[lm][text-prediction]") {
  TwoNetworks networks;
  TextPrediction prediction(networks.model(), networks.draws);
  REQUIRE(prediction.draws() == 2);
  const std::vector<std::int32_t> other{5, 7};
  for (const auto& tokens : {text, other}) {
    prediction.reset();  // the second text begins from nothing
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      CAPTURE(t);
      prediction.read(tokens[t]);
      const std::vector<std::int32_t> so_far(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t) + 1);
      const auto expected = networks.behind(so_far);
      for (std::size_t w = 0; w < words; ++w) {
        for (std::size_t k = 0; k < 2; ++k)
          CHECK(std::abs(prediction.probabilities(static_cast<std::int64_t>(k))[w] - expected[k][w]) < 2e-5);
        CHECK(std::abs(prediction.average()[w] - (expected[0][w] + expected[1][w]) / 2) < 2e-5);
      }
    }
  }
  // The last token alone says something else.
  const auto last = networks.behind({7}), both = networks.behind(other);
  for (std::size_t k = 0; k < 2; ++k) {
    double apart = 0;
    for (std::size_t w = 0; w < words; ++w) apart = std::max(apart, std::abs(last[k][w] - both[k][w]));
    CHECK(apart > 1e-3);
  }
}

TEST_CASE("a text that is read again under dropout has the same masks", "[lm][text-prediction]") {
  TwoNetworks networks({.draws = 4, .dropout = true, .seed = 3}, 0.5), plain({}, 0.5);
  TextPrediction prediction(networks.model(), networks.draws), without(plain.model(), plain.draws);
  REQUIRE(prediction.draws() == 4);
  std::vector<std::vector<double>> first, second;
  for (auto* found : {&first, &second}) {
    prediction.reset();
    for (const std::int32_t token : text) {
      prediction.read(token);
      found->emplace_back(prediction.average().begin(), prediction.average().end());
    }
  }
  CHECK(first == second);
  without.read(text[0]);
  CHECK_FALSE(std::ranges::equal(first[0], without.average()));
  const auto one = prediction.probabilities(0), next = prediction.probabilities(2);  // of the same particle
  CHECK_FALSE(std::ranges::equal(one, next));
}

}  // namespace
}  // namespace stein::lm
