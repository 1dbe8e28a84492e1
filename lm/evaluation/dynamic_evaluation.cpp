#include <stein/inference/storage/carried_state.h>
#include <stein/lm/evaluation/dynamic_evaluation.h>
#include <stein/lm/text/token_batches.h>

#include <optional>
#include <vector>

namespace stein::lm {

double dynamic_loss(inference::Model<float>& model, std::span<const float> weights, const Stretches& text,
                    const DynamicEvaluation& options) {
  const TokenBatches batches(text, 1, options.unroll, "scored", TokenBatches::Remainder::kept);
  std::vector<float> moved(weights.begin(), weights.end()), gradient(weights.size());
  const auto size = std::ssize(moved);
  std::optional<inference::CarriedState<float>> state;
  TokenBatch tokens;
  double sum = 0;
  for (std::int64_t c = 0; c < batches.count(); ++c) {
    batches.fill(c, tokens);
    inference::Batch<float> batch = tokens.batch(static_cast<double>(tokens.steps));
    if (!state) state.emplace(1, model.carried_size(batch.inputs));
    if (tokens.fresh) state->reset();
    batch.inputs.carried = state->rows();
    double value = 0;
    model.log_likelihood({{moved.data(), 1, size}, 0}, batch, {},
                         {.gradient = {gradient.data(), 1, size}, .value = {&value, 1}});
    batch.inputs.carried.accept();
    sum -= value;
    for (std::size_t q = 0; q < moved.size(); ++q) moved[q] += static_cast<float>(options.rate) * gradient[q];
  }
  return sum / static_cast<double>(batches.tokens());
}

}  // namespace stein::lm
