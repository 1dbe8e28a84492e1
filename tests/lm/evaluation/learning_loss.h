// Dynamic evaluation by hand: what a text costs a network that learns from it as it goes on.
#pragma once

#include <stein/inference/model.h>
#include <stein/lm/text/corpus.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace stein::test {

/// Mean −log p of the tokens of a text but the first of each stretch. Behind every `unroll` of them, or where a stretch
/// ends, the weights go `rate` along the gradient of what these tokens cost together. The state of the network goes on
/// within a stretch, and no gradient goes back behind the tokens of one step.
inline double learning_loss(inference::Model<float>& model, std::span<const float> start, const lm::Stretches& text,
                            double rate, std::int64_t unroll) {
  std::vector<float> weights(start.begin(), start.end()), gradient(weights.size());
  const auto size = std::ssize(weights);
  double loss = 0;
  std::int64_t tokens = 0;
  for (const std::vector<std::int32_t>& stretch : text) {
    std::vector<float> before, after, targets;
    for (std::int64_t first = 0; first + 1 < std::ssize(stretch); first += unroll) {
      const std::int64_t steps = std::min(unroll, std::ssize(stretch) - 1 - first);
      targets.clear();
      for (std::int64_t t = 1; t <= steps; ++t)
        targets.push_back(static_cast<float>(stretch[static_cast<std::size_t>(first + t)]));
      inference::Batch<float> batch;
      batch.inputs.tokens = {stretch.data() + first, 1, steps};
      batch.targets = {targets.data(), 1, steps};
      batch.rows = 1;
      batch.size = steps;
      batch.data_size = static_cast<double>(steps);  // the sum over these tokens, as it is
      batch.unit = inference::DataUnit::tokens;
      before.resize(static_cast<std::size_t>(model.carried_size(batch.inputs)));
      after.resize(before.size());
      batch.inputs.carried.before = {before.data(), 1, std::ssize(before)};
      batch.inputs.carried.after = {after.data(), 1, std::ssize(after)};
      double value = 0;
      model.log_likelihood({{weights.data(), 1, size}, 0}, batch, {},
                           {.gradient = {gradient.data(), 1, size}, .value = {&value, 1}});
      loss -= value, tokens += steps;
      for (std::size_t q = 0; q < weights.size(); ++q) weights[q] += static_cast<float>(rate) * gradient[q];
      before = after;
    }
  }
  return loss / static_cast<double>(tokens);
}

}  // namespace stein::test
