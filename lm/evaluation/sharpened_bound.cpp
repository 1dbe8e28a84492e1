#include <stein/lm/evaluation/sharpened_bound.h>
#include <stein/lm/evaluation/walk_text.h>

namespace stein::lm {

double sharpened_bound(inference::SharpenedModel<float>& model, training::WeightDraws& draws, const Stretches& text,
                       const SharpenedText& options, std::uint64_t seed) {
  const TokenBatches batches(text, options.rows, options.unroll, "scored");
  double sum = 0;
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    const training::WeightDraws::Draw draw = draws.get(k);
    walk_text(batches, model, Walk::carried, [&](std::int64_t c, const TokenBatch& tokens, const auto& carried) {
      inference::Batch<float> batch = tokens.batch(static_cast<double>(tokens.size()));
      batch.inputs.carried = carried;
      const NoiseKey noise{
          .seed = seed, .step = static_cast<std::uint64_t>(k * batches.count() + c), .stream = Stream::model};
      double value = 0;
      model.bound(draw.weights, batch, noise, {&value, 1});
      sum -= value;
    });
  }
  return sum / static_cast<double>(draws.count() * batches.tokens());
}

}  // namespace stein::lm
