// What a network says of the next token, from the whole text at once.
#pragma once

#include <stein/inference/model.h>
#include <stein/inference/storage/matrix.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace stein::test {

/// The probability of every token behind `text`, which the network reads from its beginning in one piece.
inline std::vector<double> next_tokens(inference::Model<float>& model,
                                       const inference::ParticleRows<const float>& weights,
                                       const std::vector<std::int32_t>& text) {
  const std::int64_t count = std::ssize(text), words = model.output_count();
  inference::Inputs<float> inputs;
  inputs.tokens = {text.data(), 1, count};
  inference::Matrix<float> logits(count, words);
  model.predict(weights, inputs, logits.view());
  std::vector<double> probabilities;
  double sum = 0;
  for (const float logit : logits.row(count - 1)) sum += probabilities.emplace_back(std::exp(double{logit}));
  for (double& p : probabilities) p /= sum;
  return probabilities;
}

}  // namespace stein::test
