#include <stein/core/escaped_text.h>
#include <stein/lm/evaluation/sampled_probabilities.h>
#include <stein/lm/evaluation/text_scorer.h>
#include <stein/lm/evaluation/text_uncertainty.h>
#include <stein/lm/evaluation/weight_pruning.h>
#include <stein/lm/language/uncertainty_file.h>
#include <stein/runs/measured.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;
using runs::rounded;

/// Shares of weights that are pruned, one after the other.
constexpr std::array pruned_shares{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98};
/// Rows and columns of a pattern's grid.
constexpr std::int64_t pattern_cells = 40;
constexpr std::int64_t alternatives = 3;

/// The first draw, the last, and one between them; all, if there are at most three.
std::vector<std::size_t> three_of(std::size_t draws) {
  if (draws <= 1) return {0};
  if (draws == 2) return {0, 1};
  return {0, draws / 2, draws - 1};
}

/// `number(t)` for each scored token t, and null for the first token of each stretch.
template <class Number>
Json for_tokens(const Stretches& text, const Number& number) {
  Json list = Json::array();
  std::size_t t = 0;
  for (const auto& stretch : text)
    for (std::size_t i = 0; i < stretch.size(); ++i) list.push_back(i == 0 ? Json(nullptr) : Json(number(t++)));
  return list;
}

Json passage_json(inference::Model<float>& model, training::WeightDraws& draws, const Stretches& text,
                  const Vocabulary& vocabulary) {
  const TextUncertainty found = text_uncertainty(model, draws, text, {.likeliest = alternatives});
  const auto probability = [](float log_probability) { return rounded(std::exp(double{log_probability})); };
  Json tokens = Json::array(), samples = Json::array();
  for (const auto& stretch : text)
    for (const std::int32_t token : stretch) tokens.push_back(escaped(vocabulary.token(token)));
  for (const std::size_t k : three_of(found.single.size()))
    samples.push_back(for_tokens(text, [&](std::size_t t) { return probability(found.single[k][t]); }));
  const auto likeliest = [&](std::size_t t) {
    Json list = Json::array();
    for (const LikelyToken& each : found.likeliest[t])
      list.push_back({escaped(vocabulary.token(each.token)), rounded(each.probability)});
    return list;
  };
  return {{"tokens", tokens},
          {"entropy", for_tokens(text, [&](std::size_t t) { return rounded(found.entropy[t]); })},
          {"mutual_information",
           for_tokens(text, [&](std::size_t t) { return rounded(found.entropy[t] - found.mean_entropy[t]); })},
          {"probability", for_tokens(text, [&](std::size_t t) { return probability(found.log_probability[t]); })},
          {"samples", samples},
          {"likeliest", for_tokens(text, likeliest)}};
}

Json gap_json(inference::Model<float>& model, training::WeightDraws& draws, const Stretches& text) {
  const auto entropies = [&](const Stretches& read) {
    Json list = Json::array();
    for (const double entropy : text_uncertainty(model, draws, read).entropy_of_first) list.push_back(rounded(entropy));
    return list;
  };
  return {{"tokens", token_count(text)}, {"text", entropies(text)}, {"reversed", entropies(reversed(text))}};
}

Json pattern_json(const WeightPruning& pruning) {
  Json matrices = Json::array();
  for (const PrunedMatrix& matrix : pruning.patterns(pattern_share, pattern_cells)) {
    Json rows = Json::array();
    for (std::int64_t i = 0; i < matrix.down; ++i) {
      Json row = Json::array();
      for (std::int64_t j = 0; j < matrix.across; ++j)
        row.push_back(std::lround(100 * matrix.share[static_cast<std::size_t>(i * matrix.across + j)]));
      rows.push_back(std::move(row));
    }
    matrices.push_back(
        {{"name", matrix.name}, {"rows", matrix.rows}, {"columns", matrix.columns}, {"per_cent", std::move(rows)}});
  }
  return {{"share", pattern_share}, {"matrices", std::move(matrices)}};
}

Json pruning_json(training::NetworkWeights& weights, const Stretches& text) {
  const WeightPruning pruning(weights);
  TextScorer scorer(text, TextProtocol::stateful_1, 0, 0, "scored");
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  Json perplexities = Json::array();
  for (const double share : pruned_shares) {
    const inference::Matrix<float> left = pruning.pruned(share);
    scorer.score(weights.posterior().model(), {left.view(), 0}, std::nullopt, log_probability);
    perplexities.push_back(runs::number(rounded(std::exp(mean_loss(log_probability)))));
  }
  return {{"tokens", token_count(text)},
          {"by", pruning.by_noise() ? "signal to noise" : "magnitude"},
          {"share", pruned_shares},
          {"perplexity", std::move(perplexities)},
          {"pattern", pattern_json(pruning)}};
}

}  // namespace

Json uncertainty_json(training::NetworkWeights& weights, training::WeightDraws& draws, const Stretches& text,
                      const Vocabulary& vocabulary, std::int64_t passage) {
  inference::Model<float>& model = weights.posterior().model();
  const Stretches longer = beginning_of(text, curve_tokens);
  const bool particles = weights.kind() == training::MethodKind::ensemble;
  return {{"draws", draws.count()},
          {"protocol", protocol_name(TextProtocol::stateful_1, 1, 1)},
          {"passage", passage_json(model, draws, beginning_of(text, passage + 1), vocabulary)},
          {"gap", gap_json(model, draws, longer)},
          {"pruning", particles ? Json(nullptr) : pruning_json(weights, longer)}};
}

}  // namespace stein::lm
