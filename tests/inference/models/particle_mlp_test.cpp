// The LibTorch perceptron in double against loops and finite differences.
#include <stein/core/error.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/torch/particle_mlp_reference.h>

#include <catch2/catch.hpp>
#include <memory>

#include "inference/mlp_case.h"
#include "skip.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// Central differences of the loops at every weight of one particle.
std::vector<double> difference_gradient(const MlpCase<double>& made, std::int64_t particle) {
  constexpr double step = 1e-5;
  const Layout& layout = made.weights.layout();
  const auto row = made.weights.values().row(particle);
  std::vector<double> theta(row.begin(), row.end()), gradient;
  const Batch<double> batch = made.batch();
  for (double& number : theta) {
    const double centre = number;
    number = centre + step;
    const double above = plain_log_likelihood(made.spec, layout, theta, batch, particle);
    number = centre - step;
    const double below = plain_log_likelihood(made.spec, layout, theta, batch, particle);
    number = centre;
    gradient.push_back((above - below) / (2 * step));
  }
  return gradient;
}

/// Checks value (1e-12 relative) and gradient (1e-7 relative; central differences leave about 1e-9) of all particles.
void check_against_plain_loops(const MlpSpec& spec, const MlpCaseOptions& options) {
  MlpCase<double> made = make_mlp_case<double>(spec, options);
  ParticleMlpReference<double> model(spec);
  std::vector<double> value(static_cast<std::size_t>(options.particles));
  const Batch<double> batch = made.batch();
  model.log_likelihood(made.weights.coordinates(), batch, {}, {.gradient = made.weights.gradients(), .value = value});
  for (std::int64_t m = 0; m < options.particles; ++m) {
    const double expected = plain_log_likelihood(spec, made.weights.layout(), made.weights.values().row(m), batch, m);
    CHECK(value[m] == Approx(expected).epsilon(1e-12));
    const std::vector<double> differences = difference_gradient(made, m);
    double norm = 0, worst = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      norm = std::max(norm, std::abs(differences[i]));
      worst = std::max(worst, std::abs(differences[i] - made.weights.gradients()(m, static_cast<std::int64_t>(i))));
    }
    CHECK(worst <= 1e-7 * norm);
  }
}

}  // namespace

TEST_CASE("the reference perceptron has the value and gradient of loops for every likelihood, activation and input",
          "[inference][mlp]") {
  const auto [likelihood, learned] = GENERATE(table<Likelihood, bool>({{Likelihood::gaussian, false},
                                                                       {Likelihood::gaussian, true},
                                                                       {Likelihood::categorical, false},
                                                                       {Likelihood::bernoulli, false}}));
  const Activation activation = GENERATE(Activation::relu, Activation::tanh);
  const std::int64_t ones = GENERATE(0, 4);
  check_against_plain_loops({.inputs = 7,
                             .hidden = {5, 4},
                             .outputs = 3,
                             .activation = activation,
                             .likelihood = likelihood,
                             .noise_precision = 2.5,
                             .learn_noise_precision = learned},
                            {.ones = ones});
}

TEST_CASE("masks, row weights and per-particle data enter the reference perceptron as in loops", "[inference][mlp]") {
  const Likelihood likelihood = GENERATE(Likelihood::gaussian, Likelihood::categorical, Likelihood::bernoulli);
  const bool chosen = likelihood != Likelihood::categorical && GENERATE(false, true);
  const std::int64_t ones = GENERATE(0, 3);
  const bool per_particle = GENERATE(false, true);
  check_against_plain_loops({.inputs = 6, .hidden = {4}, .outputs = 3, .likelihood = likelihood},
                            {.ones = ones,
                             .chosen_outputs = chosen,
                             .row_weights = true,
                             .input_mask = ones == 0,
                             .inputs_per_particle = per_particle,
                             .targets_per_particle = per_particle,
                             .weights_per_particle = per_particle});
  check_against_plain_loops({.inputs = 6, .hidden = {4}, .outputs = 3, .likelihood = likelihood},
                            {.ones = ones, .inputs_per_particle = per_particle, .targets_per_particle = !per_particle});
}

TEST_CASE("a network without hidden layers and one with one output are perceptrons too", "[inference][mlp]") {
  check_against_plain_loops({.inputs = 3, .outputs = 2}, {.particles = 1});
  check_against_plain_loops({.inputs = 3, .hidden = {2, 3, 2, 3}, .outputs = 1, .activation = Activation::tanh}, {});
  check_against_plain_loops({.inputs = 1, .hidden = {1}, .outputs = 1}, {.rows = 1});
}

TEST_CASE("the Bernoulli likelihood stays finite and right at logits of a thousand and at zero", "[inference][mlp]") {
  // log p(1 | f) = −log(1 + e^{−f}): −1000 at f = −1000, 0 at f = 1000; gradient y − σ(f) in the bias: 1, 0, and ½ at
  // 0.
  const MlpSpec spec{.inputs = 1, .likelihood = Likelihood::bernoulli};
  ParticleMlpReference<double> model(spec);
  Particles<double> weights(model.layout(), 3);
  const double input = 0, target = 1;
  const double logits[] = {-1000, 1000, 0}, values[] = {-1000, 0, -std::log(2.0)}, slopes[] = {1, 0, 0.5};
  for (std::int64_t m = 0; m < 3; ++m) weights.view("layer0.bias", m)(0, 0) = logits[m];
  Batch<double> batch{.inputs = {.dense = {&input, 1, 1}}, .targets = {&target, 1, 1}, .rows = 1, .data_size = 1};
  std::vector<double> value(3);
  model.log_likelihood(weights.coordinates(), batch, {}, {.gradient = weights.gradients(), .value = value});
  for (std::int64_t m = 0; m < 3; ++m) {
    CHECK(value[m] == Approx(values[m]).margin(1e-12));
    CHECK(weights.gradients()(m, model.layout().at("layer0.bias").offset) == Approx(slopes[m]).margin(1e-12));
  }
}

TEST_CASE("the reference perceptron predicts the outputs of loops, particle by particle", "[inference][mlp]") {
  const MlpSpec spec{.inputs = 5, .hidden = {6}, .outputs = 2, .activation = Activation::tanh};
  const MlpCase<double> made = make_mlp_case<double>(spec, {.particles = 4, .rows = 3});
  ParticleMlpReference<double> model(spec);
  std::vector<double> outputs(4 * 3 * 2);
  model.predict(made.weights.coordinates(), made.batch().inputs, {outputs.data(), 12, 2});
  for (std::int64_t m = 0; m < 4; ++m)
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto expected =
          plain_mlp(spec, made.weights.layout(), made.weights.values().row(m), plain_input(spec, made.batch(), m, i));
      for (std::int64_t k = 0; k < 2; ++k)
        CHECK(outputs[(m * 3 + i) * 2 + k] == Approx(expected.outputs[k]).epsilon(1e-13));
    }
}

TEST_CASE("targets of a Bernoulli likelihood lie in [0, 1], in both drivers", "[inference][mlp]") {
  const MlpSpec spec{.inputs = 5, .hidden = {3}, .outputs = 2, .likelihood = Likelihood::bernoulli};
  MlpCase<float> made = make_mlp_case<float>(spec, {});
  ParticleMlpReference<float> reference(spec);
  ParticleMlp fused(spec);
  const auto check_refused = [&](float target) {
    made.targets[3] = target;
    CHECK_THROWS_WITH(
        reference.log_likelihood(made.weights.coordinates(), made.batch(), {}, {.gradient = made.weights.gradients()}),
        Catch::Contains("a Bernoulli likelihood needs targets in [0, 1]") && Catch::Contains("in row 1"));
    std::vector<float> weights(static_cast<std::size_t>(fused.layout().size())), slope(weights.size());
    CHECK_THROWS_WITH(fused.log_likelihood({{weights.data(), 1, fused.layout().size()}}, made.batch(), {},
                                           {.gradient = {slope.data(), 1, fused.layout().size()}}),
                      Catch::Contains("a Bernoulli likelihood needs targets in [0, 1]"));
  };
  check_refused(5);
  check_refused(-0.1f);
  check_refused(std::numeric_limits<float>::quiet_NaN());
  made.targets[3] = 0.25f;
  CHECK_NOTHROW(
      reference.log_likelihood(made.weights.coordinates(), made.batch(), {}, {.gradient = made.weights.gradients()}));
}

TEST_CASE("a batch that does not fit the network is refused in a sentence", "[inference][mlp]") {
  const MlpSpec spec{.inputs = 5, .hidden = {3}, .outputs = 2, .likelihood = Likelihood::categorical};
  MlpCase<double> made = make_mlp_case<double>(spec, {.ones = 2});
  ParticleMlpReference<double> model(spec);
  const auto score = [&](const Batch<double>& batch) {
    model.log_likelihood(made.weights.coordinates(), batch, {}, {.gradient = made.weights.gradients()});
  };
  REQUIRE_NOTHROW(score(made.batch()));
  made.indices[3] = 5;
  CHECK_THROWS_WITH(score(made.batch()), "batch: input row 1 has its one at 5, outside [0, 5)");
  made.indices[3] = 0;
  made.targets[2] = 2;
  CHECK_THROWS_WITH(score(made.batch()), "batch: target row 2 must be a class in [0, 2), got 2");
  made.targets[2] = 0.5;
  CHECK_THROWS_WITH(score(made.batch()), "batch: target row 2 must be a class in [0, 2), got 0.5");
  made.targets[2] = 1;
  Batch<double> batch = made.batch();
  batch.data_size = 0;
  CHECK_THROWS_WITH(score(batch), "batch: data size N must be > 0 rows, got 0");
  batch = made.batch();
  batch.rows = 4;
  CHECK_THROWS_WITH(score(batch), "batch: expected 4 input rows, got 5");
  CHECK_THROWS_WITH(ParticleMlpReference<double>(spec, "abacus"), "network: LibTorch has no device 'abacus' here");
}

TEST_CASE("the reference perceptron gives the same numbers on a GPU", "[inference][mlp][gpu]") {
  const MlpSpec spec{.inputs = 9, .hidden = {6}, .outputs = 2, .learn_noise_precision = true};
  std::unique_ptr<ParticleMlpReference<double>> remote;
  try {
    remote = std::make_unique<ParticleMlpReference<double>>(spec, "cuda");
  } catch (const Error& error) {
    test::skip(std::string("no GPU: ") + error.what());
  }
  ParticleMlpReference<double> local(spec);
  const std::int64_t ones = GENERATE(0, 3);
  MlpCase<double> here = make_mlp_case<double>(spec, {.ones = ones, .chosen_outputs = true, .row_weights = true});
  MlpCase<double> there = here;
  std::vector<double> value(3), other(3);
  local.log_likelihood(here.weights.coordinates(), here.batch(), {},
                       {.gradient = here.weights.gradients(), .value = value});
  remote->log_likelihood(there.weights.coordinates(), there.batch(), {},
                         {.gradient = there.weights.gradients(), .value = other});
  for (std::int64_t m = 0; m < 3; ++m) {
    CHECK(other[m] == Approx(value[m]).epsilon(1e-12));
    for (std::int64_t i = 0; i < here.weights.size(); ++i)
      CHECK(there.weights.gradients()(m, i) == Approx(here.weights.gradients()(m, i)).epsilon(1e-10).margin(1e-10));
  }
}
