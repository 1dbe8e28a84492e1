// A text scored by the average over draws of the weights, against forward passes alone.
#include <stein/bench/benchmark.h>
#include <stein/inference/fused/categorical_pass.h>
#include <stein/inference/models/particle_recurrent.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/lm/evaluation/sampled_probabilities.h>
#include <stein/lm/evaluation/text_scorer.h>
#include <stein/training/weight_draws.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::bench {
namespace {

using namespace stein::inference;

constexpr std::int64_t text_rows = 20, text_unroll = 35, text_vocabulary = 10'000;

struct AveragingOptions {
  std::vector<std::int64_t> hidden{200, 650};
  std::int64_t samples = 10;
  std::int64_t tokens = 7000;

  template <class V>
  void describe(V& v) {
    v("hidden", hidden, "units of both layers", between(1, 10'000));
    v("samples", samples, "S: draws of the weights", between(1, 1000));
    v("tokens", tokens, "of the text", between(text_rows * text_unroll, 1e7));
  }
};

/// A text of one stretch: B rows of T · batches tokens, and one more that ends each row.
lm::Stretches random_text(std::int64_t tokens) {
  Draws draws({.seed = 1}, 0);
  std::vector<std::int32_t> text;
  while (std::ssize(text) < tokens + text_rows)
    text.push_back(static_cast<std::int32_t>(draws.integer(text_vocabulary)));
  return {std::move(text)};
}

/// As a run of Bayes by Backprop is evaluated.
class Averaging {
 public:
  Averaging(std::int64_t hidden, const AveragingOptions& options, const lm::Stretches& text)
      : weights_(training::weight_methods().at("bbb").defaults,
                 std::make_unique<ParticleRecurrent>(RecurrentSpec{.vocabulary = text_vocabulary, .hidden = hidden}),
                 {}, 1),
        samples_(options.samples),
        scorer_(text, lm::TextProtocol::stateful, text_rows, text_unroll, "scored"),
        log_probability_(static_cast<std::size_t>(scorer_.tokens())) {}

  double loss() {
    training::WeightDraws draws(weights_, {.draws = samples_, .seed = 1}, {}, 0);
    lm::SampledProbabilities samples(scorer_.tokens());
    for (std::int64_t k = 0; k < draws.count(); ++k) {
      const training::WeightDraws::Draw draw = draws.get(k);
      scorer_.score(weights_.posterior().model(), draw.weights, draw.dropout, log_probability_);
      samples.add(log_probability_);
    }
    return samples.averaged_loss();
  }
  training::NetworkWeights& weights() { return weights_; }
  std::int64_t tokens() const { return scorer_.tokens(); }

 private:
  training::NetworkWeights weights_;
  std::int64_t samples_;
  lm::TextScorer scorer_;
  std::vector<float> log_probability_;
};

/// log p of the same tokens under one row of weights, minibatch by minibatch, and no more.
class ForwardPass {
 public:
  ForwardPass(training::NetworkWeights& weights, const lm::Stretches& text)
      : model_(weights.posterior().model()),
        weights_(weights.mean_weights(memory_)),
        batches_(text, text_rows, text_unroll, "scored"),
        logits_(text_rows * text_unroll, text_vocabulary),
        log_probability_(static_cast<std::size_t>(text_rows * text_unroll)) {}

  void run() {
    const auto network = model_.predictor({weights_});
    std::optional<CarriedState<float>> state;
    for (std::int64_t c = 0; c < batches_.count(); ++c) {
      batches_.fill(c, batch_);
      Inputs<float> inputs = batch_.inputs();
      if (!state) state.emplace(1, model_.carried_size(inputs));
      inputs.carried = state->rows();
      network->predict(inputs, logits_.view());
      inputs.carried.accept();
      fused::log_probabilities(logits_.view(), batch_.targets, log_probability_);
    }
  }

 private:
  Model<float>& model_;
  Matrix<float> memory_;
  MatrixView<const float> weights_;
  lm::TokenBatches batches_;
  lm::TokenBatch batch_;
  Matrix<float> logits_;
  std::vector<float> log_probability_;
};

std::vector<Row> measure_lm_averaging(const AveragingOptions& options) {
  const lm::Stretches text = random_text(options.tokens);
  std::vector<Row> measured;
  for (const std::int64_t hidden : options.hidden) {
    Averaging averaging(hidden, options, text);
    ForwardPass pass(averaging.weights(), text);
    const Pair seconds = measure_pair([&] { keep(averaging.loss()); }, [&] { pass.run(); },
                                      {.round_seconds = 0.5, .warm_up_seconds = 0.2});
    const auto samples = static_cast<double>(options.samples), tokens = static_cast<double>(averaging.tokens());
    measured.push_back(
        {.name = fmt::format("bbb-2x{}", hidden),
         .ours = 1e3 * seconds.ours,
         .reference = 1e3 * samples * seconds.reference,
         .unit = "ms",
         .extra = {{"samples", samples},
                   {"tokens", tokens},
                   {"tokens_per_second", tokens / seconds.ours},
                   {"reference_is", fmt::format("{} forward passes under one row of weights", options.samples)}}});
  }
  return measured;
}

[[maybe_unused]] const bool registered = register_benchmark(
    "lm-averaging", "a text scored by the average over draws of the weights, against as many forward passes",
    measure_lm_averaging, Cores::all);

}  // namespace
}  // namespace stein::bench
