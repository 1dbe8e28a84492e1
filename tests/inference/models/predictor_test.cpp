// Predictions at weights that stay as they are.
#include <stein/inference/models/particle_recurrent.h>
#include <stein/inference/models/sharpened_model.h>
#include <stein/inference/models/watched_model.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "inference/models/recurrent_checks.h"

namespace stein::inference {
namespace {

using test::one_row;
using test::RecurrentCase;

/// Logits of the case's inputs, which start from its state, and the state behind them.
struct Predicted {
  std::vector<float> logits, after;
  bool operator==(const Predicted&) const = default;
};

template <class Predict>
Predicted predicted(const Model<float>& model, RecurrentCase& c, const std::optional<NoiseKey>& dropout,
                    const Predict& predict) {
  Predicted found;
  Inputs<float> inputs = c.batch().inputs;
  found.after.resize(static_cast<std::size_t>(c.carried_size()));
  if (c.carried_size() > 0)
    inputs.carried = {{c.before.data(), 1, c.carried_size()}, {found.after.data(), 1, c.carried_size()}};
  inputs.dropout = dropout;
  const std::int64_t rows = model.output_rows(inputs);
  found.logits.resize(static_cast<std::size_t>(rows * model.output_count()));
  predict(inputs, MatrixView<float>{found.logits.data(), rows, model.output_count()});
  return found;
}

TEST_CASE("a predictor gives the bits that its model gives, however often and whatever the model does in between",
          "[inference][recurrent]") {
  for (RecurrentCase& c : test::recurrent_cases()) {
    CAPTURE(test::describe(c));
    c.spec.dropout = 0.3;
    ParticleRecurrent model(c.spec);
    const ParticleRows<const float> weights = {one_row(c.float_weights).values, 3};
    const auto predictor = model.predictor(weights);
    for (const std::optional<NoiseKey>& dropout : {std::optional<NoiseKey>{}, std::optional(NoiseKey{.seed = 5})}) {
      const Predicted expected = predicted(model, c, dropout, [&](const auto& inputs, MatrixView<float> outputs) {
        model.predict(weights, inputs, outputs);
      });
      for (int repeat = 0; repeat < 2; ++repeat) {
        CHECK(predicted(model, c, dropout, [&](const auto& inputs, MatrixView<float> outputs) {
                predictor->predict(inputs, outputs);
              }) == expected);
        test::score(model, c);  // a pass back, which packs other matrices
      }
    }
  }
}

TEST_CASE("the predictor of a watched model is that of the model, of a sharpened one without the rates",
          "[inference][recurrent]") {
  RecurrentCase c = RecurrentCase::make({.vocabulary = 7, .embedding = 3, .hidden = 5, .layers = 1}, 2, 3);
  ParticleRecurrent plain(c.spec);
  SharpenedModel<float> model(std::make_unique<WatchedModel<float>>(std::make_unique<ParticleRecurrent>(c.spec)), {});
  std::vector<float> weights = c.float_weights;
  weights.resize(static_cast<std::size_t>(model.layout().size()), 0.5F);
  const auto predictor = model.predictor(one_row(weights)), of_plain = plain.predictor(one_row(c.float_weights));
  const auto ask = [](Predictor<float>& asked) {
    return [&](const Inputs<float>& inputs, MatrixView<float> outputs) { asked.predict(inputs, outputs); };
  };
  CHECK(predicted(model, c, {}, ask(*predictor)) == predicted(plain, c, {}, ask(*of_plain)));
}

TEST_CASE("a predictor refuses more rows of weights than one, and inputs and outputs that do not fit",
          "[inference][recurrent]") {
  RecurrentCase c = RecurrentCase::make({.vocabulary = 7, .embedding = 3, .hidden = 5, .layers = 1}, 2, 3);
  ParticleRecurrent model(c.spec);
  const std::vector<float> two_rows(static_cast<std::size_t>(2 * model.layout().size()));
  CHECK_ERROR(model.predictor({{two_rows.data(), 2, model.layout().size()}, 0}), usage, "one row of weights, got 2");
  const auto predictor = model.predictor(one_row(c.float_weights));
  std::vector<float> outputs(35);
  CHECK_ERROR(predictor->predict(c.batch().inputs, {outputs.data(), 5, 7}), usage, "expected outputs [6, 7]",
              "got [5, 7]");
}

}  // namespace
}  // namespace stein::inference
