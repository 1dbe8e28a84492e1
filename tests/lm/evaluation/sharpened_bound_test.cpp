#include <stein/lm/evaluation/sharpened_bound.h>
#include <stein/lm/evaluation/text_scorer.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/error_matcher.h"
#include "lm/language/trained_text.h"

namespace stein::lm {
namespace {

using inference::SharpenedModel;

/// A sharpened network with rates of `rate` before its first step and σ₀ = `deviation`, and a text.
struct Sharpened {
  Corpus corpus = test::small_text(600);
  std::unique_ptr<LanguageTrainer> trainer;
  SharpenedModel<float>* model;
  training::WeightDraws draws;

  explicit Sharpened(const std::string& rate, const training::WeightDraws::Options& which = {.mean = true},
                     const std::string& deviation = "1e-6")
      : trainer(test::TrainerCase{
            .method = "sharpening",
            .settings = {{"initial_rate", rate}, {"sharpening_deviation", deviation}, {"rate_scale", "1"}},
            .training = {.epochs = {.batch_size = 3}, .unroll = 5}}
                    .make(corpus)),
        model(dynamic_cast<SharpenedModel<float>*>(&trainer->weights().posterior().model())),
        draws(trainer->weights(), which, {}, 0) {}

  double bound(const Stretches& text) { return sharpened_bound(*model, draws, text, {.rows = 3, .unroll = 5}, 1); }
};

TEST_CASE("weights that are not moved cost what the text costs them, from minibatch to minibatch", "[lm][bound]") {
  Sharpened sharpened("0");
  TextScorer scorer(sharpened.corpus.test, TextProtocol::stateful, 3, 5, "test");
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  scorer.score(*sharpened.model, sharpened.draws.get(0).weights, std::nullopt, log_probability);
  CHECK(sharpened.bound(sharpened.corpus.test) == Approx(mean_loss(log_probability)).epsilon(1e-5));
}

TEST_CASE("a bound of several draws is their mean", "[lm][bound]") {
  Sharpened sharpened("0", {.draws = 3});
  TextScorer scorer(sharpened.corpus.test, TextProtocol::stateful, 3, 5, "test");
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  std::vector<double> losses;
  for (std::int64_t k = 0; k < 3; ++k) {
    scorer.score(*sharpened.model, sharpened.draws.get(k).weights, std::nullopt, log_probability);
    losses.push_back(mean_loss(log_probability));
  }
  CHECK(losses[0] != losses[1]);
  CHECK(sharpened.bound(sharpened.corpus.test) == Approx((losses[0] + losses[1] + losses[2]) / 3).epsilon(1e-5));
}

TEST_CASE("the noise of every draw of a bound is its own", "[lm][bound]") {
  // Draws of dropout, which the network does not have: twice the same weights.
  Sharpened once("0", {.mean = true}, "1"), twice("0", {.draws = 2, .mean = true, .dropout = true}, "1");
  REQUIRE(once.draws.count() == 1);
  REQUIRE(twice.draws.count() == 2);
  const double one = once.bound(once.corpus.test), both = twice.bound(twice.corpus.test);
  CHECK(once.bound(once.corpus.test) == one);
  CHECK(std::abs(both - one) > 1e-4);
}

TEST_CASE("what moving the weights costs is in the bound", "[lm][bound]") {
  // ‖η g‖²/(2σ₀²) with η = 1e-6 = σ₀ is half the squared gradient of a minibatch, over its 15 tokens.
  Sharpened still("0"), moved("1e-6");
  const Stretches text{{still.corpus.test[0].begin(), still.corpus.test[0].begin() + 18}};  // one minibatch
  TokenBatch tokens;
  TokenBatches(text, 3, 5, "test").fill(0, tokens);
  const auto weights = moved.draws.get(0).weights;
  std::vector<float> gradient(static_cast<std::size_t>(weights.values.columns));
  inference::ParticleRecurrent network({.vocabulary = 12, .hidden = 16, .layers = 1});
  gradient.resize(static_cast<std::size_t>(network.layout().size()));
  std::vector<float> own;
  for (const inference::LayoutEntry& entry : network.layout().entries()) {
    const auto place = moved.model->layout().at(entry.name).offset;
    own.resize(static_cast<std::size_t>(entry.offset + entry.size()));
    for (std::int64_t i = 0; i < entry.size(); ++i)
      own[static_cast<std::size_t>(entry.offset + i)] = weights.values(0, place + i);
  }
  own.resize(gradient.size());
  const auto size = std::ssize(own);
  network.log_likelihood({{own.data(), 1, size}, 0}, tokens.batch(15), {}, {.gradient = {gradient.data(), 1, size}});
  double square = 0;
  for (const float g : gradient) square += double{g} * g;
  CHECK(moved.bound(text) - still.bound(text) == Approx(square / 2 / 15).epsilon(1e-3));
}

}  // namespace
}  // namespace stein::lm
