// The fused recurrent network against plain loops in double.
#include <stein/core/parallel.h>
#include <stein/inference/models/particle_recurrent.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "core/error_matcher.h"
#include "inference/models/recurrent_checks.h"

namespace stein::inference {
namespace {

using test::one_row;
using test::predict;
using test::RecurrentCase;
using test::score;
using test::Scored;
using test::value_alone;

TEST_CASE("every fused recurrent network scores, differentiates, predicts and carries as plain loops in double do",
          "[inference][recurrent]") {
  for (RecurrentCase& c : test::recurrent_cases()) {
    ParticleRecurrent model(c.spec);
    test::check_plain(model, c);
  }
}

TEST_CASE("networks wider than vectors and minibatches longer than tasks are the same loops",
          "[inference][recurrent]") {
  for (const Cell cell : {Cell::lstm, Cell::gru, Cell::tanh}) {
    RecurrentCase c =
        RecurrentCase::make({.cell = cell, .vocabulary = 70, .embedding = 19, .hidden = 37, .layers = 2}, 9, 21, 0.15);
    const Scored scored = score(*std::make_unique<ParticleRecurrent>(c.spec), c);
    const test::PlainResult plain = test::run_plain(c);
    CHECK(scored.value == Approx(plain.log_likelihood).epsilon(2e-6));
    // Along a few directions, by central differences in double.
    for (std::uint32_t direction = 0; direction < 3; ++direction) {
      std::vector<double> along(c.weights.size());
      fill_normal(std::span(along), {.seed = 11}, direction);
      RecurrentCase up = c, down = c;
      for (std::size_t q = 0; q < along.size(); ++q)
        up.weights[q] += 1e-5 * along[q], down.weights[q] -= 1e-5 * along[q];
      const double difference = (test::run_plain(up).log_likelihood - test::run_plain(down).log_likelihood) / 2e-5;
      const double slope = std::inner_product(along.begin(), along.end(), scored.gradient.begin(), 0.0);
      CHECK(slope == Approx(difference).epsilon(1e-4));
    }
  }
}

TEST_CASE("a text in chunks with carried state scores as in one piece, bit for bit in its states",
          "[inference][recurrent]") {
  for (const Cell cell : {Cell::lstm, Cell::gru, Cell::tanh})
    test::check_chunks(cell, [](const RecurrentSpec& spec) { return std::make_unique<ParticleRecurrent>(spec); });
}

TEST_CASE("an image that was there before goes on in the state", "[inference][recurrent]") {
  for (const FeatureUse use : {FeatureUse::first_input, FeatureUse::initial_state}) {
    RecurrentCase c = RecurrentCase::make(
        {.vocabulary = 6, .embedding = 3, .hidden = 4, .layers = 2, .features = 5, .feature_use = use}, 2, 4);
    ParticleRecurrent model(c.spec);
    const std::vector<float> whole = predict(model, c);
    RecurrentCase step = c;
    step.steps = 1;
    std::vector<float> state(static_cast<std::size_t>(c.carried_size())), after = state;
    for (std::int64_t t = 0; t < 4; ++t) {
      step.tokens = {c.tokens[static_cast<std::size_t>(t)], c.tokens[static_cast<std::size_t>(4 + t)]};
      Inputs<float> inputs = step.batch().inputs;
      if (t > 0) inputs.dense = {};
      inputs.carried = {{state.data(), 1, std::ssize(state)}, {after.data(), 1, std::ssize(after)}};
      std::vector<float> outputs(12);
      model.predict(one_row(c.float_weights), inputs, {outputs.data(), 2, 6});
      for (std::int64_t row = 0; row < 2; ++row)
        for (std::int64_t k = 0; k < 6; ++k)
          CHECK(outputs[row * 6 + k] == Approx(whole[(row * 4 + t) * 6 + k]).margin(1e-6));
      state = after;
    }
  }
}

TEST_CASE("dropout is differentiated through the masks that were drawn", "[inference][recurrent]") {
  for (const Cell cell : {Cell::lstm, Cell::gru, Cell::tanh})
    for (const DropoutMask mask : {DropoutMask::each_step, DropoutMask::sequence})
      for (const Readout readout : {Readout::every_token, Readout::last_state}) {
        const bool two_ways = readout == Readout::last_state;
        RecurrentCase c = RecurrentCase::make({.cell = cell,
                                               .vocabulary = 7,
                                               .embedding = 5,
                                               .hidden = 6,
                                               .layers = 2,
                                               .bidirectional = two_ways,
                                               .readout = readout,
                                               .classes = 3,
                                               .dropout = 0.4,
                                               .dropout_mask = mask},
                                              4, 5);
        CAPTURE(test::describe(c), static_cast<int>(mask));
        ParticleRecurrent model(c.spec);
        const NoiseKey key{.seed = 3, .step = 8, .stream = Stream::model};
        const Scored scored = score(model, c, key);
        std::vector<double> along(c.weights.size());
        fill_normal(std::span(along), {.seed = 12}, 0);
        constexpr double step = 1e-3;
        const auto value_at = [&](double distance) {
          RecurrentCase moved = c;
          for (std::size_t q = 0; q < along.size(); ++q)
            moved.float_weights[q] = static_cast<float>(c.weights[q] + distance * along[q]);
          return value_alone(model, moved, key);
        };
        // Values are right to about 1e-6, the difference to 1e-3; third derivatives add less.
        const double difference = (value_at(step) - value_at(-step)) / (2 * step);
        const double slope = std::inner_product(along.begin(), along.end(), scored.gradient.begin(), 0.0);
        CHECK(std::abs(slope - difference) < 5e-3 + 5e-3 * std::abs(difference));
        CHECK(scored.value == score(model, c, key).value);
        CHECK(scored.value != score(model, c, {.seed = 3, .step = 9, .stream = Stream::model}).value);
        RecurrentSpec plain = c.spec;
        plain.dropout = 0;
        CHECK(predict(model, c) == predict(*std::make_unique<ParticleRecurrent>(plain), c));
        CHECK(predict(model, c, key) != predict(model, c));
        CHECK(predict(model, c, key) == predict(model, c, key));
      }
}

TEST_CASE("dropout hides the share of units that it says", "[inference][recurrent]") {
  // Every token stands once, so a number of its embedding has a slope unless it was hidden.
  RecurrentCase c =
      RecurrentCase::make({.vocabulary = 400, .embedding = 50, .hidden = 8, .layers = 1, .dropout = 0.3}, 20, 20);
  std::iota(c.tokens.begin(), c.tokens.end(), 0);
  ParticleRecurrent model(c.spec);
  const Scored scored = score(model, c, {.seed = 5});
  const LayoutEntry& embedding = model.layout().at("embedding.weight");
  const auto begin = scored.gradient.begin() + embedding.offset;
  const auto hidden = static_cast<double>(std::count(begin, begin + embedding.size(), 0.0F));
  const auto count = static_cast<double>(embedding.size());
  CHECK(std::abs(hidden / count - 0.3) < 6.1 * std::sqrt(0.3 * 0.7 / count));
}

TEST_CASE("a recurrent network has the same bits at any number of threads", "[inference][recurrent]") {
  const int threads = thread_count();
  RecurrentCase c = RecurrentCase::make({.vocabulary = 300, .hidden = 70, .layers = 2, .dropout = 0.2}, 20, 15, 0.1);
  ParticleRecurrent model(c.spec);
  std::vector<Scored> results;
  for (const int count : {1, 2, 5}) {
    set_thread_count(count);
    results.push_back(score(model, c, {.seed = 1}));
  }
  set_thread_count(threads);
  for (const Scored& other : {results[1], results[2]}) {
    CHECK(results[0].value == other.value);
    CHECK(results[0].gradient == other.gradient);
    CHECK(results[0].after == other.after);
  }
}

TEST_CASE("rows of weights are each scored alone, with their own state", "[inference][recurrent]") {
  RecurrentCase a = RecurrentCase::make({.vocabulary = 7, .hidden = 4, .layers = 1}, 2, 3), b = a;
  for (float& weight : b.float_weights) weight *= -0.5F;
  fill_normal(std::span(b.before), {.seed = 4}, 0);
  ParticleRecurrent model(a.spec);
  std::vector<float> weights = a.float_weights, before = a.before, after(2 * a.before.size()),
                     gradient(2 * weights.size());
  weights.insert(weights.end(), b.float_weights.begin(), b.float_weights.end());
  before.insert(before.end(), b.before.begin(), b.before.end());
  Batch<float> batch = a.batch();
  const std::int64_t size = a.carried_size(), count = std::ssize(a.weights);
  batch.inputs.carried = {{before.data(), 2, size}, {after.data(), 2, size}};
  std::vector<double> value(2);
  model.log_likelihood({{weights.data(), 2, count}, 0}, batch, {},
                       {.gradient = {gradient.data(), 2, count}, .value = value});
  const Scored first = score(model, a), second = score(model, b);
  CHECK(value == std::vector<double>{first.value, second.value});
  CHECK(std::equal(first.gradient.begin(), first.gradient.end(), gradient.begin()));
  CHECK(std::equal(second.gradient.begin(), second.gradient.end(), gradient.begin() + count));
  CHECK(std::equal(second.after.begin(), second.after.end(), after.begin() + size));
}

TEST_CASE("inputs that do not fit a fused recurrent network are refused", "[inference][recurrent]") {
  RecurrentCase c = RecurrentCase::make({.vocabulary = 6, .hidden = 4, .layers = 1}, 2, 3);
  ParticleRecurrent model(c.spec);
  c.tokens[2] = 6;
  CHECK_ERROR(score(model, c), usage, "tokens below 6, got 6");
  c.tokens[2] = 5;
  c.targets[1] = 6;
  CHECK_ERROR(score(model, c), usage, "targets below 6, got 6");
  c.targets = {1, 2};
  CHECK_ERROR(score(model, c), usage, "targets [2, 3], got [2, 1]");
  RecurrentCase image = RecurrentCase::make({.vocabulary = 6, .hidden = 4, .layers = 1, .features = 5}, 2, 3);
  ParticleRecurrent captions(image.spec);
  image.spec.features = 4;
  image.features.resize(8);
  CHECK_ERROR(score(captions, image), usage, "features [2, 5], got [2, 4]");
  CHECK_ERROR(ParticleRecurrent({.hidden = 0}), usage, "hidden");
}

}  // namespace
}  // namespace stein::inference
