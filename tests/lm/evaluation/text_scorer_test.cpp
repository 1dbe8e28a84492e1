#include <stein/inference/models/particle_recurrent.h>
#include <stein/lm/evaluation/text_scorer.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

using inference::ParticleRecurrent;

constexpr std::int32_t words = 9;

Stretches random_text(std::size_t count) {
  Draws draws({.seed = 3}, 0);
  std::vector<std::int32_t> text(count);
  for (std::int32_t& token : text) token = static_cast<std::int32_t>(draws.integer(words));
  return {text};
}

/// A network of which every token depends on all before it.
struct Network {
  ParticleRecurrent model{{.vocabulary = words, .hidden = 6, .layers = 2, .dropout = 0.3}};
  std::vector<float> weights = std::vector<float>(static_cast<std::size_t>(model.layout().size()));

  Network() {
    fill_normal(std::span(weights), {.seed = 9}, 0);
    for (float& weight : weights) weight *= 0.6F;
  }
  inference::ParticleRows<const float> rows() const { return {{weights.data(), 1, std::ssize(weights)}, 0}; }
  std::vector<float> score(TextScorer& scorer, std::optional<NoiseKey> dropout = {}) {
    std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
    scorer.score(model, rows(), dropout, log_probability);
    return log_probability;
  }
  /// log p of every token of a text but the first, in one piece.
  std::vector<double> directly(const std::vector<std::int32_t>& text) {
    inference::Inputs<float> inputs;
    const std::int64_t count = std::ssize(text) - 1;
    inputs.tokens = {text.data(), 1, count};
    std::vector<float> logits(static_cast<std::size_t>(count * words));
    model.predict(rows(), inputs, {logits.data(), count, words});
    std::vector<double> result;
    for (std::int64_t t = 0; t < count; ++t) {
      double sum = 0;
      for (std::int64_t k = 0; k < words; ++k) sum += std::exp(double{logits[t * words + k]});
      result.push_back(logits[t * words + text[t + 1]] - std::log(sum));
    }
    return result;
  }
};

TEST_CASE("with all of the text before it a token has the probability that the whole text gives it", "[lm][scorer]") {
  const Stretches text = random_text(600);  // more than one piece of the scorer
  Network network;
  TextScorer scorer(text, TextProtocol::stateful_1, 0, 0, "test");
  CHECK(scorer.tokens() == 599);
  CHECK(scorer.protocol() == "stateful-1");
  const std::vector<float> scored = network.score(scorer);
  const std::vector<double> directly = network.directly(text[0]);
  for (std::size_t t = 0; t < scored.size(); ++t) CHECK(std::abs(scored[t] - directly[t]) < 2e-5);
}

TEST_CASE("rows of a batch are texts of their own, and chunks begin from nothing", "[lm][scorer]") {
  const Stretches text = random_text(42);  // rows of 21: four chunks of five tokens each
  Network network;
  TextScorer stateful(text, TextProtocol::stateful, 2, 5, "test"), zero(text, TextProtocol::zero_state, 2, 5, "test");
  CHECK(stateful.protocol() == "stateful-2x5");
  CHECK(zero.protocol() == "zero-state-2x5");
  const std::vector<float> carried = network.score(stateful), fresh = network.score(zero);
  for (std::int64_t row = 0; row < 2; ++row) {
    const auto begin = text[0].begin() + row * 21;
    const std::vector<double> whole = network.directly({begin, begin + 21});
    for (std::int64_t chunk = 0; chunk < 4; ++chunk) {
      const std::vector<double> alone = network.directly({begin + 5 * chunk, begin + 5 * chunk + 6});
      for (std::int64_t t = 0; t < 5; ++t) {
        const auto place = static_cast<std::size_t>(chunk * 10 + row * 5 + t);  // batch by batch, row by row
        CHECK(std::abs(carried[place] - whole[static_cast<std::size_t>(5 * chunk + t)]) < 2e-5);
        CHECK(std::abs(fresh[place] - alone[static_cast<std::size_t>(t)]) < 2e-5);
      }
    }
  }
}

/// `count` stretches of `length` tokens, cut from a text one behind the other.
Stretches cut(const std::vector<std::int32_t>& text, std::int64_t count, std::int64_t length) {
  Stretches stretches;
  for (std::int64_t i = 0; i < count; ++i)
    stretches.emplace_back(text.begin() + i * length, text.begin() + (i + 1) * length);
  return stretches;
}

TEST_CASE("nothing is known of a stretch of text when the next one begins", "[lm][scorer]") {
  const std::vector<std::int32_t> text = random_text(600)[0];
  const Stretches stretches = cut(text, 2, 300);  // each more than one piece of the scorer
  Network network;
  TextScorer scorer(stretches, TextProtocol::stateful_1, 0, 0, "test");
  CHECK(scorer.tokens() == 2 * 299);
  const std::vector<float> scored = network.score(scorer);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<double> alone = network.directly(stretches[i]);
    for (std::size_t t = 0; t < 299; ++t) CHECK(std::abs(scored[299 * i + t] - alone[t]) < 2e-5);
  }
  // In one piece, what stands before the second stretch says something of its tokens.
  const std::vector<double> whole = network.directly(text);
  double apart = 0;
  for (std::size_t t = 0; t < 10; ++t) apart = std::max(apart, std::abs(scored[299 + t] - whole[300 + t]));
  CHECK(apart > 1e-2);
}

TEST_CASE("rows of stretches begin from nothing together", "[lm][scorer]") {
  const Stretches stretches = cut(random_text(84)[0], 4, 21);  // two at a time, in four chunks of five tokens each
  Network network;
  TextScorer scorer(stretches, TextProtocol::stateful, 2, 5, "test");
  CHECK(scorer.tokens() == 80);
  const std::vector<float> scored = network.score(scorer);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::vector<double> alone = network.directly(stretches[i]);
    for (std::size_t t = 0; t < 20; ++t) {
      const std::size_t place = i / 2 * 40 + t / 5 * 10 + i % 2 * 5 + t % 5;  // batch by batch, row by row
      CHECK(std::abs(scored[place] - alone[t]) < 2e-5);
    }
  }
}

TEST_CASE("tokens are visited in the order in which they are scored", "[lm][scorer]") {
  const Stretches text{{0, 1, 2, 3, 4, 5, 6, 7, 8, 0}};
  TextScorer scorer(text, TextProtocol::stateful, 2, 2, "test");
  std::vector<std::pair<std::int32_t, std::int32_t>> seen;
  scorer.for_each([&](std::int32_t before, std::int32_t token) { seen.emplace_back(before, token); });
  using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;
  CHECK(seen == Pairs{{0, 1}, {1, 2}, {5, 6}, {6, 7}, {2, 3}, {3, 4}, {7, 8}, {8, 0}});
}

TEST_CASE("a text is scored under dropout where a key is given, the same each time", "[lm][scorer]") {
  const Stretches text = random_text(300);
  Network network;
  TextScorer scorer(text, TextProtocol::stateful_1, 0, 0, "test");
  const std::vector<float> plain = network.score(scorer), one = network.score(scorer, NoiseKey{.seed = 1, .step = 1}),
                           two = network.score(scorer, NoiseKey{.seed = 1, .step = 2});
  CHECK(one == network.score(scorer, NoiseKey{.seed = 1, .step = 1}));
  CHECK(one != two);
  CHECK(one != plain);
}

TEST_CASE("pieces of a text that are alike have dropout of their own", "[lm][scorer]") {
  const std::vector<std::int32_t> piece = random_text(10)[0];
  std::vector<std::int32_t> text;
  for (int i = 0; i < 3; ++i) text.insert(text.end(), piece.begin(), piece.end());
  text.push_back(piece.front());
  Network network;
  const Stretches stretches{text};
  TextScorer scorer(stretches, TextProtocol::zero_state, 1, 10, "test");
  REQUIRE(scorer.tokens() == 30);
  const auto is_repeated = [](const std::vector<float>& scored) {
    return std::equal(scored.begin(), scored.begin() + 10, scored.begin() + 10) ||
           std::equal(scored.begin(), scored.begin() + 10, scored.begin() + 20);
  };
  CHECK(is_repeated(network.score(scorer)));
  CHECK_FALSE(is_repeated(network.score(scorer, NoiseKey{.seed = 1, .step = 1})));
}

TEST_CASE("a text too short for its protocol is refused by its name", "[lm][scorer]") {
  const Stretches text = random_text(9);
  CHECK_ERROR(TextScorer(text, TextProtocol::stateful, 3, 5, "validation"), data, "validation part has 9 tokens");
  const Stretches one{{4}};
  CHECK_ERROR(TextScorer(one, TextProtocol::stateful_1, 0, 0, "test"), data, "test part has 1 token, too few");
}

}  // namespace
}  // namespace stein::lm
