#include <stein/core/parallel.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/lm/evaluation/text_uncertainty.h>
#include <stein/lm/text/token_batches.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stein::lm {
namespace {

constexpr std::int64_t chunk = 256;

/// Replaces logits by probabilities; returns their entropy.
double to_probabilities(std::span<float> row) {
  const float most = *std::ranges::max_element(row);
  double sum = 0, weighted = 0;
  for (float& number : row) {
    const double difference = double{number} - double{most}, e = std::exp(difference);
    sum += e, weighted += e * difference;
    number = static_cast<float>(e);
  }
  for (float& number : row) number = static_cast<float>(number / sum);
  return std::log(sum) - weighted / sum;
}

double entropy_of(std::span<const float> row) {
  double entropy = 0;
  for (const float p : row) entropy -= p > 0 ? double{p} * std::log(double{p}) : 0;
  return entropy;
}

}  // namespace

double TextUncertainty::mean_of(const std::vector<float>& numbers) const {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

TextUncertainty text_uncertainty(inference::Model<float>& model, training::WeightDraws& draws, const Stretches& text) {
  const TokenBatches batches(text, 1, chunk, "scored", TokenBatches::Remainder::kept);
  const std::int64_t words = model.output_count(), count = draws.count();
  const auto total = static_cast<std::size_t>(batches.tokens());
  TextUncertainty found{
      .log_probability = std::vector<float>(total),
      .entropy = std::vector<float>(total),
      .mean_entropy = std::vector<float>(total),
      .single = std::vector<std::vector<float>>(static_cast<std::size_t>(count), std::vector<float>(total))};
  std::vector<inference::CarriedState<float>> states;
  std::vector<float> own(static_cast<std::size_t>(chunk * words)), average(own.size());
  TokenBatch batch;
  std::size_t done = 0;
  for (std::int64_t c = 0; c < batches.count(); ++c) {
    batches.fill(c, batch);
    std::ranges::fill(average, 0.0F);
    for (std::int64_t k = 0; k < count; ++k) {
      const training::WeightDraws::Draw draw = draws.get(k);
      inference::Inputs<float> inputs;
      inputs.tokens = {batch.tokens.data(), 1, batch.steps};
      if (static_cast<std::int64_t>(states.size()) == k) states.emplace_back(1, model.carried_size(inputs));
      inference::CarriedState<float>& state = states[static_cast<std::size_t>(k)];
      if (batch.fresh) state.reset();
      inputs.carried = state.rows();
      if (draw.dropout)
        inputs.dropout = NoiseKey{draw.dropout->seed, (draw.dropout->step << 24) + static_cast<std::uint64_t>(c),
                                  draw.dropout->stream};
      model.predict(draw.weights, inputs, {own.data(), batch.steps, words});
      inputs.carried.accept();
      parallel_blocks(batch.steps, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t t = begin; t < end; ++t) {
          const auto place = done + static_cast<std::size_t>(t);
          const std::span row =
              std::span(own).subspan(static_cast<std::size_t>(t * words), static_cast<std::size_t>(words));
          const auto token = static_cast<std::size_t>(batch.targets[static_cast<std::size_t>(t)]);
          const double sharp = to_probabilities(row);
          found.mean_entropy[place] += static_cast<float>(sharp / static_cast<double>(count));
          found.single[static_cast<std::size_t>(k)][place] = std::log(row[token]);
          float* const sum = average.data() + t * words;
          for (std::int64_t w = 0; w < words; ++w)
            sum[w] += row[static_cast<std::size_t>(w)] / static_cast<float>(count);
        }
      });
    }
    parallel_blocks(batch.steps, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t) {
        const auto place = done + static_cast<std::size_t>(t);
        const std::span row =
            std::span(average).subspan(static_cast<std::size_t>(t * words), static_cast<std::size_t>(words));
        found.entropy[place] = static_cast<float>(entropy_of(row));
        found.log_probability[place] =
            std::log(row[static_cast<std::size_t>(batch.targets[static_cast<std::size_t>(t)])]);
      }
    });
    done += static_cast<std::size_t>(batch.steps);
  }
  return found;
}

Stretches reversed(const Stretches& text) {
  Stretches backwards = text;
  for (auto& stretch : backwards) std::ranges::reverse(stretch);
  return backwards;
}

}  // namespace stein::lm
