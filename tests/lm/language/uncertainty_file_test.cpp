// uncertainty.json: what the report shows of a language model token by token, on models whose predictions are known.
#include <stein/inference/models/particle_recurrent.h>
#include <stein/lm/evaluation/text_uncertainty.h>
#include <stein/lm/evaluation/weight_pruning.h>
#include <stein/lm/language/uncertainty_file.h>
#include <stein/training/network_weights.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error_matcher.h"
#include "lm/language/trained_text.h"

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// A network of four words that predicts the same whatever it reads: all weights are zero but the output's biases.
/// Its 32 weights: recurrent layer 4 + 4 + 2 + 2, embedding 8, output 8 + 4.
const inference::RecurrentSpec four_words{.cell = inference::Cell::tanh, .vocabulary = 4, .hidden = 2, .layers = 1};
const Vocabulary vocabulary(TokenUnit::words, {"a", "b", "<eos>", "\xff"});

training::NetworkWeights sampler_of(const std::string& method, const test::Settings& settings = {}) {
  return {test::method_with(method, settings), std::make_unique<inference::ParticleRecurrent>(four_words), {}, 0};
}

/// Makes row i of the weights predict these probabilities.
void predict_always(training::NetworkWeights& weights, std::int64_t i, const std::vector<double>& probabilities) {
  const auto row = weights.particles().values().row(i);
  std::ranges::fill(row, 0.0F);
  const auto first = static_cast<std::size_t>(weights.posterior().weight_layout().at("output.bias").offset);
  for (std::size_t w = 0; w < 4; ++w) row[first + w] = static_cast<float>(std::log(probabilities[w]));
}

double entropy_of(const std::vector<double>& probabilities) {
  double sum = 0;
  for (const double p : probabilities) sum -= p * std::log(p);
  return sum;
}

TEST_CASE("two particles' entropies, probabilities and disagreement are those of the formula", "[lm][uncertainty]") {
  training::NetworkWeights weights = sampler_of("svgd", {{"particles", "2"}});
  const std::vector<double> p{0.5, 0.25, 0.125, 0.125}, q{0.125, 0.125, 0.25, 0.5};
  predict_always(weights, 0, p), predict_always(weights, 1, q);
  training::WeightDraws draws(weights, {}, "", 0);
  const Json found = uncertainty_json(weights, draws, {{3, 0, 1, 2, 3, 0}}, vocabulary, 4);
  CHECK(found["draws"] == 2);
  CHECK(found["pruning"].is_null());
  const Json& passage = found["passage"];
  CHECK(passage["tokens"] == Json({"\\xff", "a", "b", "<eos>", "\\xff"}));
  for (const char* list : {"entropy", "mutual_information", "probability", "likeliest"}) {
    CHECK(passage[list].size() == 5);
    CHECK(passage[list][0].is_null());
  }
  const std::vector<double> average{0.3125, 0.1875, 0.1875, 0.3125};
  const double entropy = entropy_of(average), disagreement = entropy - (entropy_of(p) + entropy_of(q)) / 2;
  for (std::size_t t = 1; t < 5; ++t) {
    const std::size_t token = t - 1;
    CHECK(passage["entropy"][t].get<double>() == Approx(entropy).epsilon(1e-5));
    CHECK(passage["mutual_information"][t].get<double>() == Approx(disagreement).epsilon(1e-4));
    CHECK(passage["probability"][t].get<double>() == Approx(average[token]).epsilon(1e-5));
    CHECK(passage["samples"][0][t].get<double>() == Approx(p[token]).epsilon(1e-5));
    CHECK(passage["samples"][1][t].get<double>() == Approx(q[token]).epsilon(1e-5));
    CHECK(passage["likeliest"][t].size() == 3);
    CHECK(passage["likeliest"][t][0][1].get<double>() == Approx(0.3125).epsilon(1e-5));
    CHECK(passage["likeliest"][t][2][1].get<double>() == Approx(0.1875).epsilon(1e-5));
  }
  // What the network reads does not matter to it: no gap, whatever is averaged.
  for (const char* text : {"text", "reversed"}) {
    CHECK(found["gap"][text].size() == 2);
    CHECK(found["gap"][text][0].get<double>() == Approx(entropy_of(p)).epsilon(1e-5));
    CHECK(found["gap"][text][1].get<double>() == Approx(entropy).epsilon(1e-5));
  }
}

TEST_CASE("of many draws the first, the middle one and the last are shown", "[lm][uncertainty]") {
  training::NetworkWeights weights = sampler_of("svgd", {{"particles", "5"}});
  const std::vector<double> p{0.1, 0.2, 0.3, 0.4, 0.5};  // of the first word
  for (std::size_t i = 0; i < 5; ++i) {
    const double other = (1 - p[i]) / 3;
    predict_always(weights, static_cast<std::int64_t>(i), {p[i], other, other, other});
  }
  training::WeightDraws draws(weights, {}, "", 0);
  const Json found = uncertainty_json(weights, draws, {{3, 0, 0}}, vocabulary, 2);
  CHECK(found["draws"] == 5);
  const Json& samples = found["passage"]["samples"];
  REQUIRE(samples.size() == 3);
  for (std::size_t t = 1; t < 3; ++t) {
    CHECK(samples[0][t].get<double>() == Approx(p[0]).epsilon(1e-5));
    CHECK(samples[1][t].get<double>() == Approx(p[2]).epsilon(1e-5));
    CHECK(samples[2][t].get<double>() == Approx(p[4]).epsilon(1e-5));
  }
}

TEST_CASE("the entropy gap is that of the reversed text minus that of the text", "[lm][uncertainty]") {
  training::NetworkWeights weights = sampler_of("sgd");
  const auto row = weights.particles().values().row(0);
  std::ranges::fill(row, 0.0F);
  const auto set = [&](const std::string& name, std::int64_t place, float value) {
    row[static_cast<std::size_t>(weights.posterior().weight_layout().at(name).offset + place)] = value;
  };
  // Behind "a" the first state is tanh(1) and "a" has that logit; behind "b" both are negative: what follows has the
  // entropy of softmax(±4 tanh 1, 0, 0, 0).
  set("embedding.weight", 0, 1), set("embedding.weight", 2, -1);
  set("recurrent0.weight_ih", 0, 1);
  set("output.weight", 0, 4);
  const auto entropy_behind = [](double state) {
    const double e = std::exp(4 * state);
    return entropy_of({e / (e + 3), 1 / (e + 3), 1 / (e + 3), 1 / (e + 3)});
  };
  training::WeightDraws draws(weights, {}, "", 0);
  const Json found = uncertainty_json(weights, draws, {{0, 1}}, vocabulary, 4);
  CHECK(found["gap"]["text"][0].get<double>() == Approx(entropy_behind(std::tanh(1))).epsilon(1e-5));
  CHECK(found["gap"]["reversed"][0].get<double>() == Approx(entropy_behind(-std::tanh(1))).epsilon(1e-5));
  CHECK(found["gap"]["reversed"][0].get<double>() > found["gap"]["text"][0].get<double>() + 0.5);
}

TEST_CASE("the pruning curve is that of the weights which are left", "[lm][uncertainty]") {
  training::NetworkWeights weights = sampler_of("sgd");
  predict_always(weights, 0, {std::exp(-1.0), std::exp(-2.0), std::exp(-3.0), std::exp(-4.0)});  // as logits: −1 … −4
  training::WeightDraws draws(weights, {}, "", 0);
  const Json found = uncertainty_json(weights, draws, {{0, 0, 1, 2, 3}}, vocabulary, 4);
  CHECK(found["draws"] == 1);
  CHECK(found["passage"]["samples"].size() == 1);
  const Json& pruning = found["pruning"];
  CHECK(pruning["by"] == "magnitude");
  CHECK(pruning["tokens"] == 5);
  /// Each word once: −Σ log p/4, of logits b.
  const auto perplexity = [](const std::vector<double>& b) {
    double sum = 0, mean = 0;
    for (const double logit : b) sum += std::exp(logit), mean += logit / 4;
    return std::exp(std::log(sum) - mean);
  };
  // Of 32 weights floor(32 · share) are zero, those that are zero anyway first: 28 and 4 are left at 0.9, 2 biases at
  // 0.95, 1 at 0.98.
  for (std::size_t k = 0; k < pruning["share"].size(); ++k) {
    const double share = pruning["share"][k].get<double>();
    CAPTURE(share);
    const double expected = share < 0.92   ? perplexity({-1, -2, -3, -4})
                            : share < 0.96 ? perplexity({0, 0, -3, -4})
                                           : perplexity({0, 0, 0, -4});
    CHECK(pruning["perplexity"][k].get<double>() == Approx(expected).epsilon(1e-5));
  }
}

TEST_CASE("the pattern says which matrices weights with little signal to noise are in", "[lm][uncertainty]") {
  training::NetworkWeights weights = sampler_of("bbb");
  // μ = 1 and σ = softplus(ρ): 0.01 everywhere but in the 24 weights of two matrices and of the upper half of a third,
  // where it is 1; 80 % of 32 are 25.
  const inference::Layout& layout = weights.particles().layout();
  const auto row = weights.particles().values().row(0);
  const auto set = [&](const std::string& name, float mean, double deviation, std::int64_t from, std::int64_t to) {
    const auto rho = static_cast<float>(std::log(std::expm1(deviation)));
    for (std::int64_t k = from; k < to; ++k) {
      row[static_cast<std::size_t>(layout.at(name).offset + k)] = mean;
      row[static_cast<std::size_t>(layout.at(name + ".log_deviation").offset + k)] = rho;
    }
  };
  for (const inference::LayoutEntry& entry : weights.posterior().weight_layout().entries())
    set(entry.name, 1, 0.01, 0, entry.size());
  set("embedding.weight", -1, 1, 0, 8);
  set("output.weight", 1, 1, 0, 8);
  set("recurrent0.bias_ih", 1, 1, 0, 2), set("recurrent0.bias_hh", 1, 1, 0, 2), set("output.bias", 1, 1, 0, 3);
  set("recurrent0.weight_hh", 1, 1, 0, 2);  // its first row of two: 8 + 8 + 2 + 2 + 3 + 2 = 25
  training::WeightDraws draws(weights, {.draws = 4}, "", 0);
  const Json found = uncertainty_json(weights, draws, {{0, 1, 2, 3}}, vocabulary, 100);
  CHECK(found["draws"] == 4);
  CHECK(found["passage"]["samples"].size() == 3);
  CHECK(found["passage"]["tokens"].size() == 4);
  CHECK(found["pruning"]["by"] == "signal to noise");
  const Json& pattern = found["pruning"]["pattern"];
  CHECK(pattern["share"] == 0.8);
  CHECK(pattern["matrices"].size() == 4);
  const std::map<std::string, Json> expected{{"recurrent0.weight_ih", Json{{0, 0}, {0, 0}}},
                                             {"recurrent0.weight_hh", Json{{100, 100}, {0, 0}}},
                                             {"embedding.weight", Json(4, Json{100, 100})},
                                             {"output.weight", Json(4, Json{100, 100})}};
  for (const Json& matrix : pattern["matrices"]) {
    CAPTURE(matrix["name"]);
    CHECK(matrix["per_cent"] == expected.at(matrix["name"].get<std::string>()));
  }
}

TEST_CASE("cells of a pattern count the weights of a matrix that does not divide evenly", "[lm][uncertainty]") {
  training::NetworkWeights weights = sampler_of("sgd");
  const auto row = weights.particles().values().row(0);
  std::ranges::fill(row, 1.0F);
  const auto first = static_cast<std::size_t>(weights.posterior().weight_layout().at("embedding.weight").offset);
  for (std::size_t k = 0; k < 5; ++k) row[first + k] = 0;  // rows 0 and 1 of four, and the left half of row 2
  // Three cells down for four rows: row i is in cell ⌊3i/4⌋, so cell 0 has rows 0 and 1, cell 1 row 2, cell 2 row 3.
  for (const PrunedMatrix& matrix : WeightPruning(weights).patterns(5.5 / 32, 3)) {
    CAPTURE(matrix.name);
    if (matrix.name != "embedding.weight") {
      CHECK(std::ranges::all_of(matrix.share, [](double share) { return share == 0; }));
      continue;
    }
    CHECK(matrix.down == 3);
    CHECK(matrix.across == 2);
    CHECK(matrix.share == std::vector<double>{1, 1, 1, 0, 0, 0});
  }
  for (const PrunedMatrix& matrix : WeightPruning(weights).patterns(5.5 / 32, 1))
    CHECK(matrix.share == std::vector<double>{matrix.name == "embedding.weight" ? 5.0 / 8 : 0});
  CHECK_ERROR(WeightPruning(weights).patterns(0.5, 0), usage, "at least 1 cell");
}

TEST_CASE("the beginning of a text is whole stretches, or a piece of the first", "[lm][uncertainty]") {
  const Stretches text{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  CHECK(beginning_of(text, 2) == Stretches{{1, 2}});
  CHECK(beginning_of(text, 5) == Stretches{{1, 2, 3}});
  CHECK(beginning_of(text, 6) == Stretches{{1, 2, 3}, {4, 5, 6}});
  CHECK(beginning_of(text, 100) == text);
}

}  // namespace
}  // namespace stein::lm
