// What every form of a recurrent network is held to: the plain loops, and text in chunks as text in one piece.
#pragma once

#include <stein/inference/model.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "inference/models/plain_recurrent.h"

namespace stein::test {

inline ParticleRows<const float> one_row(const std::vector<float>& weights) {
  return {{weights.data(), 1, std::ssize(weights)}, 0};
}

/// What a model says of a case: log likelihood, its gradient, and the carried state behind the batch.
struct Scored {
  double value = 0;
  std::vector<float> gradient, after;
};

inline Scored score(Model<float>& model, RecurrentCase& c, const NoiseKey& key = {}) {
  Scored scored;
  scored.gradient.assign(c.weights.size(), 99);
  scored.after.resize(c.before.size());
  Batch<float> batch = c.batch();
  if (c.carried_size() > 0)
    batch.inputs.carried = {{c.before.data(), 1, c.carried_size()}, {scored.after.data(), 1, c.carried_size()}};
  std::vector<double> value(1);
  model.log_likelihood(one_row(c.float_weights), batch, key,
                       {.gradient = {scored.gradient.data(), 1, std::ssize(scored.gradient)}, .value = value});
  scored.value = value[0];
  return scored;
}

/// The log likelihood of a pass without gradient.
inline double value_alone(Model<float>& model, RecurrentCase& c, const NoiseKey& key = {}) {
  std::vector<double> value(1);
  Batch<float> batch = c.batch();
  if (c.carried_size() > 0) batch.inputs.carried.before = {c.before.data(), 1, c.carried_size()};
  model.log_likelihood(one_row(c.float_weights), batch, key, {.value = value});
  return value[0];
}

/// Logits, row by row.
inline std::vector<float> predict(Model<float>& model, RecurrentCase& c, std::optional<NoiseKey> dropout = {}) {
  Inputs<float> inputs = c.batch().inputs;
  if (c.carried_size() > 0) inputs.carried.before = {c.before.data(), 1, c.carried_size()};
  inputs.dropout = dropout;
  const std::int64_t rows = model.output_rows(inputs);
  std::vector<float> outputs(static_cast<std::size_t>(rows * model.output_count()));
  model.predict(one_row(c.float_weights), inputs, {outputs.data(), rows, model.output_count()});
  return outputs;
}

/// Value, gradient, carried state and logits of the case are those of the plain loops in double.
inline void check_plain(Model<float>& model, RecurrentCase& c) {
  CAPTURE(describe(c));
  const PlainResult plain = run_plain(c);
  const Scored scored = score(model, c);
  CHECK(scored.value == Approx(plain.log_likelihood).epsilon(2e-6));
  CHECK(value_alone(model, c) == Approx(plain.log_likelihood).epsilon(2e-6));
  const std::vector<double> gradient = plain_gradient(c);
  double worst = 0;
  for (std::size_t q = 0; q < gradient.size(); ++q)
    worst = std::max(worst, std::abs(gradient[q] - double{scored.gradient[q]}));
  CHECK(worst < 2e-5);
  for (std::size_t i = 0; i < scored.after.size(); ++i) CHECK(std::abs(scored.after[i] - plain.after[i]) < 2e-6);
  if (c.spec.readout == Readout::every_token && c.spec.features > 0) return;  // captions end before their rows do
  const std::vector<float> outputs = predict(model, c);
  REQUIRE(outputs.size() == plain.logits.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(std::abs(outputs[i] - plain.logits[i]) < 1e-5);
}

/// Two rows of eight tokens score as their halves, the second of which begins with the carried state of the first.
/// @param make        the model of a spec
/// @param difference  the most between their states at the end: 0 where sums have the same order whatever is scored
template <class Make>
void check_chunks(Cell cell, const Make& make, double difference = 0) {
  CAPTURE(static_cast<int>(cell));
  RecurrentCase whole =
      RecurrentCase::make({.cell = cell, .vocabulary = 7, .embedding = 3, .hidden = 4, .layers = 2}, 2, 8);
  const auto model = make(whole.spec);
  const Scored all = score(*model, whole);
  RecurrentCase chunk = whole;
  chunk.steps = 4;
  double sum = 0, second = 0;
  for (std::int64_t k = 0; k < 2; ++k) {
    chunk.tokens.clear(), chunk.targets.clear();
    for (std::int64_t row = 0; row < 2; ++row) {
      const auto first = row * 8 + k * 4;
      chunk.tokens.insert(chunk.tokens.end(), whole.tokens.begin() + first, whole.tokens.begin() + first + 4);
      chunk.targets.insert(chunk.targets.end(), whole.targets.begin() + first, whole.targets.begin() + first + 4);
    }
    const Scored part = score(*model, chunk);
    sum += part.value, second = part.value;
    chunk.before = part.after;
  }
  CHECK(sum == Approx(all.value).epsilon(1e-6));
  REQUIRE(chunk.before.size() == all.after.size());
  for (std::size_t i = 0; i < all.after.size(); ++i) CHECK(std::abs(chunk.before[i] - all.after[i]) <= difference);
  chunk.before.assign(chunk.before.size(), 0);
  CHECK(score(*model, chunk).value != Approx(second).epsilon(1e-3));  // the state is really carried
}

}  // namespace stein::test
