// The reference arithmetic of a network's posterior, chosen by option and loaded with LibTorch when it is asked for.
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/inference/targets/reference_arithmetic.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace stein;
using namespace stein::inference;

namespace {

const MlpSpec network{.inputs = 5, .hidden = {7}, .outputs = 2, .activation = Activation::tanh};

/// All coordinates after five SVGD steps on forty rows with one trained output each.
std::vector<float> sampled(WeightForm form, Arithmetic arithmetic) {
  std::vector<float> inputs(40 * 5), targets(40);
  fill_normal(std::span<float>(inputs), {.seed = 1}, 0);
  fill_normal(std::span<float>(targets), {.seed = 2}, 0);
  std::vector<std::int32_t> outputs(40);
  for (int i = 0; i < 40; ++i) outputs[i] = i % 2;
  Batch<float> batch;
  batch.inputs.dense = {inputs.data(), 40, 5};
  batch.targets = {targets.data(), 40, 1};
  batch.outputs = outputs;
  batch.rows = 40;
  batch.data_size = 100;

  const auto posterior = make_network_posterior({.parameterization = form, .arithmetic = arithmetic}, network);
  Particles<float> particles = posterior->initial_particles(6, 3, 1);
  Svgd<float> sampler({}, particles.ensemble(0));
  for (int t = 0; t < 5; ++t) sampler.step(particles, *posterior, batch);
  std::vector<float> all;
  for (std::int64_t i = 0; i < 6; ++i)
    all.insert(all.end(), particles.values().row(i).begin(), particles.values().row(i).end());
  return all;
}

}  // namespace

TEST_CASE("the reference arithmetic is that of stein::torch, which is loaded for it", "[inference][posterior][torch]") {
  const ReferenceArithmetic& reference = torch_arithmetic();
  CHECK(reference_arithmetics().names() == std::vector<std::string>{"torch"});
  CHECK(reference.make_perceptron(network)->layout().size() == 5 * 7 + 7 + 7 * 2 + 2);
}

TEST_CASE("the fused and the reference arithmetic walk the same path", "[inference][posterior][parity][torch]") {
  for (const WeightForm form : {WeightForm::direct, WeightForm::matrix_gaussian}) {
    const auto fused = sampled(form, Arithmetic::fused), reference = sampled(form, Arithmetic::reference);
    double apart = 0, size = 0;
    for (std::size_t i = 0; i < fused.size(); ++i) {
      apart += std::pow(double{fused[i]} - reference[i], 2);
      size += std::pow(double{reference[i]}, 2);
    }
    CHECK(std::sqrt(apart / size) < 1e-4);  // Adam divides by small roots: rounding grows a little over five steps
  }
}

TEST_CASE("a noise precision that is learned starts at its option in the reference arithmetic too",
          "[inference][posterior][torch]") {
  MlpSpec learned = network;
  learned.learn_noise_precision = true;
  learned.noise_precision = 20;
  for (const WeightForm form : {WeightForm::direct, WeightForm::matrix_gaussian}) {
    const auto posterior =
        make_network_posterior({.parameterization = form, .arithmetic = Arithmetic::reference}, learned);
    Particles<float> particles = posterior->initial_particles(2, 3, 1);
    for (int i = 0; i < 2; ++i) CHECK(particles.view("log_noise_precision", i)(0, 0) == Approx(std::log(20)));
  }
}
