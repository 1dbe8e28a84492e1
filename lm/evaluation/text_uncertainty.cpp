#include <stein/inference/fused/categorical_pass.h>
#include <stein/inference/prediction/predictive.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/lm/evaluation/text_uncertainty.h>
#include <stein/lm/text/token_batches.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stein::lm {

namespace {

using inference::CarriedState;
using inference::Predictive;

/// The `count` largest of some probabilities, the largest first; of equal ones that with the smaller number.
std::vector<LikelyToken> largest(std::span<const double> probabilities, std::int64_t count) {
  std::vector<std::int32_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min(count, std::ssize(order));
  std::partial_sort(order.begin(), end, order.end(), [&](std::int32_t a, std::int32_t b) {
    const double left = probabilities[static_cast<std::size_t>(a)], right = probabilities[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  });
  std::vector<LikelyToken> found;
  for (auto place = order.begin(); place != end; ++place)
    found.push_back({*place, probabilities[static_cast<std::size_t>(*place)]});
  return found;
}

}  // namespace

double mean_of_tokens(std::span<const float> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

TextUncertainty text_uncertainty(inference::Model<float>& model, training::WeightDraws& draws, const Stretches& text,
                                 const UncertaintyOptions& options) {
  constexpr std::int64_t probabilities = 1 << 23;
  const std::int64_t chunk =
      options.chunk > 0 ? options.chunk : std::clamp<std::int64_t>(probabilities / model.output_count(), 256, 4096);
  const TokenBatches batches(text, 1, chunk, "scored", TokenBatches::Remainder::kept);
  const std::int64_t words = model.output_count(), count = draws.count();
  const auto total = static_cast<std::size_t>(batches.tokens());
  TextUncertainty found{
      .log_probability = std::vector<float>(total),
      .entropy = std::vector<float>(total),
      .mean_entropy = std::vector<float>(total),
      .single = std::vector<std::vector<float>>(static_cast<std::size_t>(count), std::vector<float>(total)),
      .entropy_of_first = std::vector<double>(static_cast<std::size_t>(count)),
      .likeliest = std::vector<std::vector<LikelyToken>>(options.likeliest > 0 ? total : 0)};
  std::vector<CarriedState<float>> states;
  std::vector<float> logits(static_cast<std::size_t>(std::min(chunk, batches.tokens()) * words));
  TokenBatch batch;
  std::size_t done = 0;
  for (std::int64_t c = 0; c < batches.count(); ++c) {
    batches.fill(c, batch);
    const inference::MatrixView<float> outputs{logits.data(), batch.steps, words};
    Predictive predictive(inference::Likelihood::categorical, batch.steps, words);
    std::vector<double> entropy;
    for (std::int64_t k = 0; k < count; ++k) {
      const training::WeightDraws::Draw draw = draws.get(k);
      inference::Inputs<float> inputs = batch.inputs();
      if (std::ssize(states) == k) states.emplace_back(1, model.carried_size(inputs), model.device());
      CarriedState<float>& state = states[static_cast<std::size_t>(k)];
      if (batch.fresh) state.reset();
      inputs.carried = state.rows();
      inputs.dropout = training::piece_key(draw.dropout, c);
      model.predict(draw.weights, inputs, outputs);
      inputs.carried.accept();
      predictive.add<float>(outputs);
      inference::fused::log_probabilities(
          outputs, batch.targets,
          std::span(found.single[static_cast<std::size_t>(k)]).subspan(done, batch.targets.size()));
      entropy = predictive.entropy();
      found.entropy_of_first[static_cast<std::size_t>(k)] += std::accumulate(entropy.begin(), entropy.end(), 0.0);
    }
    const std::vector<double> disagreement = predictive.mutual_information();
    for (std::size_t t = 0; t < entropy.size(); ++t, ++done) {
      found.entropy[done] = static_cast<float>(entropy[t]);
      found.mean_entropy[done] = static_cast<float>(entropy[t] - disagreement[t]);
      const auto token = static_cast<std::int64_t>(batch.targets[t]);
      found.log_probability[done] =
          static_cast<float>(std::log(predictive.mean()(static_cast<std::int64_t>(t), token)));
      if (options.likeliest > 0)
        found.likeliest[done] = largest(predictive.mean().row(static_cast<std::int64_t>(t)), options.likeliest);
    }
  }
  for (double& sum : found.entropy_of_first) sum /= static_cast<double>(total);
  return found;
}

Stretches reversed(const Stretches& text) {
  Stretches backwards = text;
  for (auto& stretch : backwards) std::ranges::reverse(stretch);
  return backwards;
}

Stretches beginning_of(const Stretches& text, std::int64_t tokens) {
  Stretches beginning;
  for (const auto& stretch : text) {
    if (beginning.empty())
      beginning.emplace_back(stretch.begin(), stretch.begin() + std::min(tokens, std::ssize(stretch)));
    else if (std::ssize(stretch) <= tokens)
      beginning.push_back(stretch);
    else
      break;
    tokens -= std::ssize(stretch);
  }
  return beginning;
}

}  // namespace stein::lm
