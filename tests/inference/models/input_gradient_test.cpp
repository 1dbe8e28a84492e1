// Gradients by inputs of perceptrons against central differences of their log probabilities.
#include <stein/inference/models/particle_mlp.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

namespace stein::inference {
namespace {

std::vector<float> drawn(std::size_t count, std::uint64_t seed, double spread) {
  Draws draws({.seed = seed, .stream = Stream::test}, 0);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(spread * draws.normal());
  return numbers;
}

/// log p(c | x) in double from the network's logits.
double log_probability(ParticleMlp& network, const std::vector<float>& weights, const std::vector<float>& row,
                       std::int64_t c, std::int64_t classes) {
  std::vector<float> logits(static_cast<std::size_t>(classes));
  Inputs<float> inputs;
  inputs.dense = {row.data(), 1, std::ssize(row)};
  network.predict({{weights.data(), 1, std::ssize(weights)}}, inputs, {logits.data(), 1, classes});
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - logits[static_cast<std::size_t>(c)]);
  return -std::log(sum);
}

TEST_CASE("gradients of a class's log probability by the inputs are its slopes", "[inference][input-gradient]") {
  for (const Activation activation : {Activation::relu, Activation::tanh})
    for (const std::vector<std::int64_t>& hidden :
         {std::vector<std::int64_t>{}, std::vector<std::int64_t>{5}, std::vector<std::int64_t>{33, 17}}) {
      constexpr std::int64_t inputs = 7, classes = 3, rows = 5;
      ParticleMlp network({.inputs = inputs,
                           .hidden = hidden,
                           .outputs = classes,
                           .activation = activation,
                           .likelihood = Likelihood::categorical});
      std::vector<float> weights(static_cast<std::size_t>(network.layout().size()));
      for (const LayoutEntry& entry : network.layout().entries()) {  // zeros stay between rows
        const std::vector<float> numbers = drawn(static_cast<std::size_t>(entry.size()), 3 + entry.offset, 0.4);
        for (std::int64_t i = 0; i < entry.size(); ++i)
          weights[static_cast<std::size_t>(entry.offset + i / entry.columns() * entry.row_stride +
                                           i % entry.columns())] = numbers[static_cast<std::size_t>(i)];
      }
      const std::vector<float> x = drawn(rows * inputs, 5, 1);
      const std::vector<std::int64_t> chosen{0, 2, 1, 1, 0};
      std::vector<float> gradient(rows * inputs, 7.0F);
      network.input_gradient({{weights.data(), 1, std::ssize(weights)}}, {x.data(), rows, inputs}, chosen,
                             {gradient.data(), rows, inputs});
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < inputs; ++j) {
          CAPTURE(hidden.size(), i, j);
          constexpr float step = 1e-2F;
          std::vector<float> up(x.begin() + i * inputs, x.begin() + (i + 1) * inputs), down = up;
          up[static_cast<std::size_t>(j)] += step, down[static_cast<std::size_t>(j)] -= step;
          const std::int64_t c = chosen[static_cast<std::size_t>(i)];
          const double slope = (log_probability(network, weights, up, c, classes) -
                                log_probability(network, weights, down, c, classes)) /
                               (2 * static_cast<double>(step));
          // A kink of a ReLU between the two places moves the difference by a share of one unit's slope.
          CHECK(gradient[static_cast<std::size_t>(i * inputs + j)] ==
                Approx(slope).margin(activation == Activation::relu ? 3e-2 : 2e-3));
        }
    }
}

TEST_CASE("a gradient by inputs refuses what does not fit", "[inference][input-gradient]") {
  ParticleMlp classes({.inputs = 2, .outputs = 2, .likelihood = Likelihood::categorical}), numbers({.inputs = 2});
  std::vector<float> weights(64), x(4), gradient(4);
  const auto of = [&](ParticleMlp& network, std::vector<std::int64_t> chosen, std::int64_t columns = 2) {
    network.input_gradient({{weights.data(), 1, network.layout().size()}}, {x.data(), 2, columns}, chosen,
                           {gradient.data(), 2, columns});
  };
  CHECK_NOTHROW(of(classes, {0, 1}));
  CHECK_ERROR(of(classes, {0, 2}), usage, "classes from 0 to 1, got 2");
  CHECK_ERROR(of(classes, {0}), usage, "expected inputs and gradients");
  CHECK_ERROR(of(classes, {0, 1}, 1), usage, "expected inputs and gradients");
  CHECK_ERROR(of(numbers, {0, 0}), usage, "no classes");
}

}  // namespace
}  // namespace stein::inference
