#include <stein/lm/evaluation/dynamic_evaluation.h>
#include <stein/lm/evaluation/walk_text.h>

#include <vector>

namespace stein::lm {

double dynamic_loss(inference::Model<float>& model, std::span<const float> weights, const Stretches& text,
                    const DynamicEvaluation& options) {
  const TokenBatches batches(text, 1, options.unroll, "scored", TokenBatches::Remainder::kept);
  std::vector<float> moved(weights.begin(), weights.end()), gradient(weights.size());
  const auto size = std::ssize(moved);
  double sum = 0;
  walk_text(batches, model, Walk::carried, [&](std::int64_t, const TokenBatch& tokens, const auto& carried) {
    inference::Batch<float> batch = tokens.batch(static_cast<double>(tokens.steps));
    batch.inputs.carried = carried;
    double value = 0;
    model.log_likelihood({{moved.data(), 1, size}, 0}, batch, {},
                         {.gradient = {gradient.data(), 1, size}, .value = {&value, 1}});
    sum -= value;
    for (std::size_t q = 0; q < moved.size(); ++q) moved[q] += static_cast<float>(options.rate) * gradient[q];
  });
  return sum / static_cast<double>(batches.tokens());
}

}  // namespace stein::lm
