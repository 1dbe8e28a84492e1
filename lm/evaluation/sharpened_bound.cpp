#include <stein/inference/storage/carried_state.h>
#include <stein/lm/evaluation/sharpened_bound.h>
#include <stein/lm/text/token_batches.h>

#include <optional>

namespace stein::lm {

double sharpened_bound(inference::SharpenedModel<float>& model, training::WeightDraws& draws, const Stretches& text,
                       const SharpenedText& options, std::uint64_t seed) {
  const TokenBatches batches(text, options.rows, options.unroll, "scored");
  std::optional<inference::CarriedState<float>> state;
  TokenBatch tokens;
  double sum = 0;
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    const training::WeightDraws::Draw draw = draws.get(k);
    for (std::int64_t c = 0; c < batches.count(); ++c) {
      batches.fill(c, tokens);
      inference::Batch<float> batch = tokens.batch(static_cast<double>(tokens.size()));
      if (!state) state.emplace(1, model.carried_size(batch.inputs));
      if (tokens.fresh) state->reset();
      batch.inputs.carried = state->rows();
      const NoiseKey noise{
          .seed = seed, .step = static_cast<std::uint64_t>(k * batches.count() + c), .stream = Stream::model};
      double value = 0;
      model.bound(draw.weights, batch, noise, {&value, 1});
      batch.inputs.carried.accept();
      sum -= value;
    }
  }
  return sum / static_cast<double>(draws.count() * batches.tokens());
}

}  // namespace stein::lm
