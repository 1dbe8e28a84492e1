#include <stein/lm/evaluation/text_scorer.h>
#include <stein/lm/evaluation/walk_text.h>
#include <stein/training/weight_draws.h>

namespace stein::lm {
namespace {

using inference::Inputs;

/// Tokens that are scored at once under `stateful_1`: enough that the output layer is a matrix product.
constexpr std::int64_t long_row = 256;

TokenBatches batches_of(const Stretches& text, TextProtocol protocol, std::int64_t rows, std::int64_t steps,
                        std::string_view what) {
  if (protocol == TextProtocol::stateful_1) return {text, 1, long_row, what, TokenBatches::Remainder::kept};
  return {text, rows, steps, what};
}

}  // namespace

TextScorer::TextScorer(const Stretches& text, TextProtocol protocol, std::int64_t rows, std::int64_t steps,
                       const std::string& what)
    : protocol_(protocol),
      name_(protocol_name(protocol, rows, steps)),
      batches_(batches_of(text, protocol, rows, steps, what)) {}

void TextScorer::score(inference::Model<float>& model, const inference::ParticleRows<const float>& weights,
                       const std::optional<NoiseKey>& dropout, std::span<float> log_probability) {
  STEIN_CHECK(std::ssize(log_probability) == tokens(), "expected room for {} tokens, got {}", tokens(),
              log_probability.size());
  const auto network = model.predictor(weights);
  const Walk how = protocol_ == TextProtocol::zero_state ? Walk::each_from_zero : Walk::carried;
  std::size_t done = 0;
  walk_text(batches_, model, how, [&](std::int64_t c, const TokenBatch& batch, const auto& carried) {
    Inputs<float> inputs = batch.inputs();
    inputs.dropout = training::piece_key(dropout, c);
    inputs.carried = carried;
    logits_.resize(static_cast<std::size_t>(batch.size() * model.output_count()));
    const inference::MatrixView<float> logits{logits_.data(), batch.size(), model.output_count()};
    const auto size = static_cast<std::size_t>(batch.size());
    network->log_probabilities(inputs, batch.targets, logits, log_probability.subspan(done, size));
    done += size;
  });
}

void TextScorer::for_each(const std::function<void(std::int32_t before, std::int32_t token)>& visit) const {
  TokenBatch batch;
  for (std::int64_t c = 0; c < batches_.count(); ++c) {
    batches_.fill(c, batch);
    for (std::size_t i = 0; i < batch.tokens.size(); ++i)
      visit(batch.tokens[i], static_cast<std::int32_t>(batch.targets[i]));
  }
}

}  // namespace stein::lm
