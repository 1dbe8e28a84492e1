// Entropies, dynamic evaluation and pruning of a trained language model.
#include <stein/lm/evaluation/dynamic_evaluation.h>
#include <stein/lm/evaluation/text_uncertainty.h>
#include <stein/lm/evaluation/weight_pruning.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "lm/evaluation/learning_loss.h"
#include "lm/language/trained_text.h"

namespace stein::lm {
namespace {

using test::TrainerCase;

const LanguageTrainingOptions short_training{
    .epochs = {.batch_size = 4, .epochs = 4, .burn_in = 0.25, .samples_per_epoch = 3, .stored_samples = 3},
    .unroll = 6};

double mean(const std::vector<float>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

TEST_CASE("entropies and log probabilities of an average are those of its definition", "[lm][uncertainty]") {
  const Corpus corpus = test::small_text(700);
  const auto trainer =
      TrainerCase{.method = "bbb", .settings = {{"step_size", "1e-2"}}, .training = short_training}.make(corpus);
  test::train(*trainer);
  inference::Model<float>& model = trainer->weights().posterior().model();
  training::WeightDraws draws(trainer->weights(), {.draws = 3, .seed = 5}, "", 0);
  REQUIRE(draws.count() == 3);
  const Stretches text{{corpus.test[0].begin(), corpus.test[0].begin() + 40}};
  const std::int64_t chunk = GENERATE(0, 7);  // state goes from chunk to chunk
  const TextUncertainty found = text_uncertainty(model, draws, text, {.chunk = chunk});
  // The same by hand: each draw reads the text in one piece.
  std::vector<std::vector<double>> average(39, std::vector<double>(12));
  std::vector<double> sharp(39);
  for (std::int64_t k = 0; k < 3; ++k) {
    const training::WeightDraws::Draw draw = draws.get(k);
    inference::Inputs<float> inputs;
    inputs.tokens = {text[0].data(), 1, 39};
    std::vector<float> logits(39 * 12);
    model.predict(draw.weights, inputs, {logits.data(), 39, 12});
    for (std::size_t t = 0; t < 39; ++t) {
      double sum = 0, entropy = 0;
      for (std::size_t w = 0; w < 12; ++w) sum += std::exp(double{logits[t * 12 + w]});
      for (std::size_t w = 0; w < 12; ++w) {
        const double p = std::exp(double{logits[t * 12 + w]}) / sum;
        average[t][w] += p / 3;
        entropy -= p * std::log(p);
      }
      sharp[t] += entropy / 3;
      const double own = double{logits[t * 12 + static_cast<std::size_t>(text[0][t + 1])]} - std::log(sum);
      CHECK(std::abs(found.single[static_cast<std::size_t>(k)][t] - own) < 1e-5);
    }
  }
  for (std::size_t t = 0; t < 39; ++t) {
    double entropy = 0;
    for (const double p : average[t]) entropy -= p * std::log(p);
    CHECK(std::abs(found.entropy[t] - entropy) < 1e-5);
    CHECK(std::abs(found.mean_entropy[t] - sharp[t]) < 1e-5);
    CHECK(std::abs(found.log_probability[t] - std::log(average[t][static_cast<std::size_t>(text[0][t + 1])])) < 1e-5);
    CHECK(found.mean_entropy[t] <= found.entropy[t] + 1e-6F);  // what is left is disagreement
  }
}

/// Two networks whose words depend on all that stands before them, and a text.
struct TwoNetworks {
  Corpus corpus = test::small_text(700);
  std::unique_ptr<LanguageTrainer> trainer = make(corpus);
  inference::Model<float>& model = trainer->weights().posterior().model();
  training::WeightDraws draws{trainer->weights(), {}, "", 0};

  static std::unique_ptr<LanguageTrainer> make(const Corpus& text) {
    TrainerCase each{.method = "svgd", .settings = {{"particles", "2"}}, .training = short_training};
    each.network.start = inference::RecurrentStart::fan_in;
    return each.make(text);
  }
  /// `count` tokens of the test.
  std::vector<std::int32_t> piece(std::ptrdiff_t first, std::ptrdiff_t count) const {
    return {corpus.test[0].begin() + first, corpus.test[0].begin() + first + count};
  }
};

TEST_CASE("of a text of two stretches as much is said as of each alone", "[lm][uncertainty]") {
  TwoNetworks networks;
  const std::int64_t chunk = GENERATE(0, 7);
  const UncertaintyOptions options{.likeliest = 3, .chunk = chunk};
  const auto uncertainty_of = [&](const Stretches& text) {
    return text_uncertainty(networks.model, networks.draws, text, options);
  };
  const Stretches stretches{networks.piece(0, 40), networks.piece(40, 40)};
  const TextUncertainty found = uncertainty_of(stretches);
  REQUIRE(found.entropy.size() == 78);
  REQUIRE(found.single.size() == 2);
  std::vector<double> entropy_of_first(2);
  for (std::size_t i = 0; i < 2; ++i) {
    CAPTURE(i);
    const TextUncertainty alone = uncertainty_of({stretches[i]});
    for (std::size_t t = 0; t < 39; ++t) {
      const std::size_t place = 39 * i + t;
      CHECK(std::abs(found.log_probability[place] - alone.log_probability[t]) < 1e-6);
      CHECK(std::abs(found.entropy[place] - alone.entropy[t]) < 1e-6);
      CHECK(std::abs(found.mean_entropy[place] - alone.mean_entropy[t]) < 1e-6);
      for (std::size_t k = 0; k < 2; ++k) CHECK(std::abs(found.single[k][place] - alone.single[k][t]) < 1e-6);
      for (std::size_t w = 0; w < 3; ++w) CHECK(found.likeliest[place][w].token == alone.likeliest[t][w].token);
    }
    for (std::size_t k = 0; k < 2; ++k) entropy_of_first[k] += alone.entropy_of_first[k] / 2;
  }
  for (std::size_t k = 0; k < 2; ++k) CHECK(found.entropy_of_first[k] == Approx(entropy_of_first[k]).epsilon(1e-6));
  // In one piece, what stands before the second stretch says something of its tokens.
  const TextUncertainty whole = uncertainty_of({networks.piece(0, 80)});
  double apart = 0;
  for (std::size_t t = 0; t < 39; ++t)
    for (std::size_t k = 0; k < 2; ++k)
      apart = std::max(apart, std::abs(double{found.single[k][39 + t]} - double{whole.single[k][40 + t]}));
  CHECK(apart > 1e-3);
}

TEST_CASE("every chunk has dropout of its own, the same as where the text is scored", "[lm][uncertainty]") {
  const Corpus corpus = test::small_text(3000);
  TrainerCase each{.method = "adam", .training = short_training};
  each.network.dropout = 0.5, each.network.start = inference::RecurrentStart::fan_in;
  const auto trainer = each.make(corpus);
  inference::Model<float>& model = trainer->weights().posterior().model();
  training::WeightDraws draws(trainer->weights(), {.draws = 2, .dropout = true}, "", 0);
  const TextUncertainty found = text_uncertainty(model, draws, corpus.test, {.chunk = 256});  // as the scorer has them
  TextScorer scorer(corpus.test, TextProtocol::stateful_1, 0, 0, "test");
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  REQUIRE(log_probability.size() > 512);
  for (std::size_t k = 0; k < 2; ++k) {
    CAPTURE(k);
    const training::WeightDraws::Draw draw = draws.get(static_cast<std::int64_t>(k));
    scorer.score(model, draw.weights, draw.dropout, log_probability);
    REQUIRE(found.single[k].size() == log_probability.size());
    float apart = 0;
    for (std::size_t t = 0; t < log_probability.size(); ++t)
      apart = std::max(apart, std::abs(found.single[k][t] - log_probability[t]));
    CHECK(apart < 1e-5F);
  }
  CHECK(found.single[0] != found.single[1]);
}

TEST_CASE("a trained model holds reversed text for less likely", "[lm][uncertainty]") {
  const Corpus corpus = test::small_text(30'000);
  LanguageTrainingOptions training = short_training;
  training.epochs.batch_size = 20, training.unroll = 20, training.epochs.epochs = 6;
  const auto trainer =
      TrainerCase{.method = "adam", .settings = {{"step_size", "1e-2"}}, .training = training}.make(corpus);
  test::train(*trainer);
  training::WeightDraws draws(trainer->weights(), {}, "", 0);
  inference::Model<float>& model = trainer->weights().posterior().model();
  const TextUncertainty forward = text_uncertainty(model, draws, corpus.test),
                        backward = text_uncertainty(model, draws, reversed(corpus.test));
  CHECK(reversed({{1, 2, 3}, {4, 5}}) == Stretches{{3, 2, 1}, {5, 4}});
  CHECK(mean(forward.log_probability) > mean(backward.log_probability) + 0.5);
}

TEST_CASE("draws are those of the method: stored samples, the Gaussian's draws and mean, particles, dropout",
          "[lm][uncertainty]") {
  const Corpus corpus = test::small_text(700);
  const test::TemporaryDirectory folder;
  const auto chain =
      TrainerCase{.method = "sgld", .settings = {{"step_size", "1e-4"}}, .training = short_training}.make(corpus);
  chain->store_samples_in(folder / "samples");
  test::train(*chain);
  CHECK(chain->stored_samples() == 3);
  training::WeightDraws samples(chain->weights(), {}, folder / "samples", 3);
  CHECK(samples.count() == 3);
  std::vector<std::vector<float>> stored;
  for (std::int64_t k = 0; k < 3; ++k) {
    const auto row = samples.get(k).weights.values.row(0);
    stored.emplace_back(row.begin(), row.end());
  }
  CHECK(stored[0] != stored[1]);
  CHECK(stored[1] != stored[2]);
  const auto again = samples.get(0).weights.values.row(0);
  CHECK(std::equal(again.begin(), again.end(), stored[0].begin()));
  CHECK_ERROR(training::WeightDraws(chain->weights(), {}, folder / "samples", 4), data, "holds 3 samples", "stored 4");
  CHECK(training::WeightDraws(chain->weights(), {.mean = true}, folder / "samples", 3).count() == 1);

  TrainerCase dropout{.method = "adam", .training = short_training};
  dropout.network.dropout = 0.5;
  const auto plain = dropout.make(corpus);
  CHECK(training::WeightDraws(plain->weights(), {.draws = 7}, "", 0).count() == 1);
  training::WeightDraws masks(plain->weights(), {.draws = 7, .dropout = true}, "", 0);
  CHECK(masks.count() == 7);
  CHECK(masks.get(0).dropout->step != masks.get(1).dropout->step);
  const auto particles =
      TrainerCase{.method = "svgd", .settings = {{"particles", "2"}}, .training = short_training}.make(corpus);
  CHECK(training::WeightDraws(particles->weights(), {}, "", 0).count() == 2);
}

TEST_CASE("dynamic evaluation scores each chunk before it learns it", "[lm][uncertainty]") {
  const Corpus corpus = test::small_text(700);
  const auto trainer = TrainerCase{.method = "adam", .training = short_training}.make(corpus);
  inference::Model<float>& model = trainer->weights().posterior().model();
  const auto weights = trainer->weights().particles().values().row(0);
  TextScorer scorer(corpus.test, TextProtocol::stateful_1, 0, 0, "test");
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  scorer.score(model, trainer->weights().particles().coordinates(), std::nullopt, log_probability);
  CHECK(dynamic_loss(model, weights, corpus.test, {.rate = 0, .unroll = 10}) ==
        Approx(-mean(log_probability)).epsilon(1e-5));
  CHECK(dynamic_loss(model, weights, corpus.test, {.rate = 1e9, .unroll = 200}) ==
        Approx(-mean(log_probability)).epsilon(1e-5));  // one chunk: nothing was learned before it
  CHECK(dynamic_loss(model, weights, corpus.test, {.rate = 0.02, .unroll = 10}) < -mean(log_probability));
}

TEST_CASE("dynamic evaluation takes a step along the gradient of every chunk, and starts each stretch from nothing",
          "[lm][uncertainty]") {
  TwoNetworks networks;
  const inference::Matrix<float> first = networks.trainer->weights().host_weights_now();
  const std::span<const float> weights = first.row(0);
  const Stretches text{networks.piece(0, 70), networks.piece(70, 70)};
  const auto by_hand = [&](double rate, std::int64_t unroll) {
    return test::learning_loss(networks.model, weights, text, rate, unroll);
  };
  // Chunks that fill a stretch of 69 scored tokens, leave a shorter one behind them, or would be longer than it.
  const std::vector<std::pair<double, std::int64_t>> cases{{0.1, 10}, {0.02, 10}, {0.02, 23}, {0.02, 69}, {0.02, 100}};
  for (const auto& [rate, unroll] : cases) {
    CAPTURE(rate, unroll);
    CHECK(dynamic_loss(networks.model, weights, text, {.rate = rate, .unroll = unroll}) ==
          Approx(by_hand(rate, unroll)).epsilon(1e-5));
  }
  CHECK(std::abs(by_hand(0.02, 10) - by_hand(0.02, 69)) > 1e-3);  // how long a chunk is makes a difference
}

TEST_CASE("pruning takes the weights with the least signal to noise", "[lm][uncertainty]") {
  const Corpus corpus = test::small_text(700);
  const auto trainer =
      TrainerCase{.method = "bbb", .settings = {{"step_size", "1e-2"}}, .training = short_training}.make(corpus);
  test::train(*trainer, 100);
  WeightPruning pruning(trainer->weights());
  const inference::Matrix<float> unpruned = pruning.pruned(0), half_pruned = pruning.pruned(0.5);
  const std::span<const float> all = unpruned.row(0), half = half_pruned.row(0);
  CHECK(pruning.count() == trainer->weights().weight_count());
  const auto row = trainer->weights().particles().values().row(0);
  const inference::Layout& layout = trainer->weights().particles().layout();
  const auto ratio = [&](std::size_t place) {
    for (const inference::LayoutEntry& entry : layout.entries())
      if (const auto k = static_cast<std::int64_t>(place) - entry.offset; k >= 0 && k < entry.size())
        return std::abs(row[place]) /
               std::log1p(std::exp(row[static_cast<std::size_t>(layout.at(entry.name + ".log_deviation").offset + k)]));
    return 0.0F;
  };
  float least_kept = 1e9F, most_gone = 0;
  std::size_t gone = 0;
  for (std::size_t q = 0; q < all.size(); ++q) {
    CHECK(all[q] == row[q]);
    if (half[q] == 0) {
      ++gone;
      most_gone = std::max(most_gone, ratio(q));
    } else {
      least_kept = std::min(least_kept, ratio(q));
    }
  }
  CHECK(gone == all.size() / 2);
  CHECK(most_gone <= least_kept * 1.0001F);
  std::size_t in_matrices = 0;
  for (const inference::LayoutEntry& entry : trainer->weights().posterior().weight_layout().entries())
    for (const std::uint8_t pruned : pruning.pattern(0.5, entry.name)) in_matrices += pruned;
  CHECK(in_matrices == gone);
  CHECK_ERROR(pruning.pruned(1), usage, "got 1");
}

TEST_CASE("of a sharpened network the weights are pruned, and rates stay as they are", "[lm][uncertainty]") {
  const Corpus corpus = test::small_text(600);
  const auto trainer = TrainerCase{.method = "sharpening",
                                   .settings = {{"initial_rate", "1e-6"}, {"rate_scale", "1"}},
                                   .training = short_training}
                           .make(corpus);
  const WeightPruning pruning(trainer->weights());
  const inference::Matrix<float> unpruned = pruning.pruned(0), half_pruned = pruning.pruned(0.5);
  const std::span<const float> all = unpruned.row(0), half = half_pruned.row(0);
  std::int64_t weights = 0, gone = 0, others = 0, others_kept = 0;
  for (const inference::LayoutEntry& entry : trainer->weights().posterior().weight_layout().entries())
    for (std::int64_t k = 0; k < entry.size(); ++k) {
      const auto place = static_cast<std::size_t>(entry.offset + k);
      if (entry.is_weight())
        ++weights, gone += half[place] == 0 ? 1 : 0;
      else
        ++others, others_kept += all[place] != 0 && half[place] == all[place] ? 1 : 0;
    }
  CHECK(others == weights);  // a rate each
  CHECK(others_kept == others);
  CHECK(pruning.count() == weights);
  CHECK(gone == weights / 2);
}

}  // namespace
}  // namespace stein::lm
