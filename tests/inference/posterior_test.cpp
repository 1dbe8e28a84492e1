// The posterior of a network: structured and plain, one thread and several, value and gradient.
#include <stein/core/parallel.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/targets/network_posterior.h>

#include <cmath>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// Forty rows of a 5-7-2 network with one trained output each.
struct OneOutputRows {
  std::vector<float> inputs, targets;
  std::vector<std::int32_t> outputs;
  Batch<float> batch;

  OneOutputRows() : inputs(40 * 5), targets(40), outputs(40) {
    fill_normal(std::span<float>(inputs), {.seed = 1}, 0);
    fill_normal(std::span<float>(targets), {.seed = 2}, 0);
    for (int i = 0; i < 40; ++i) outputs[i] = i % 2;
    batch.inputs.dense = {inputs.data(), 40, 5};
    batch.targets = {targets.data(), 40, 1};
    batch.outputs = outputs;
    batch.rows = 40;
    batch.data_size = 100;
  }
};

/// Two samples of the weights a row: the coordinates, and 1.5 times them.
class Twice final : public Parameterization<float> {
 public:
  explicit Twice(Layout weights) : weights_(std::move(weights)), coordinates_(without_padding(weights_)) {}
  const Layout& coordinates() const override { return coordinates_; }
  const Layout& weights() const override { return weights_; }
  std::int64_t samples() const override { return 2; }
  void forward(const ParticleRows<const float>& coordinates, const NoiseKey& noise, MatrixView<float> weights,
               ForwardTrace& trace) const override {
    Direct<float> direct(weights_);
    for (std::int64_t i = 0; i < weights.rows; ++i) {
      direct.forward(coordinates.block(i / 2, 1), noise, weights.block(i, 1), trace);
      if (i % 2 == 1)
        for (float& weight : weights.row(i)) weight *= 1.5f;
    }
  }
  void pullback(const ParticleRows<const float>& coordinates, const NoiseKey& noise,
                MatrixView<const float> weight_gradient, MatrixView<float> gradient,
                ForwardTrace& trace) const override {
    Direct<float> direct(weights_);
    std::vector<float> one(static_cast<std::size_t>(gradient.columns));
    for (std::int64_t i = 0; i < gradient.rows; ++i) {
      direct.pullback(coordinates.block(i, 1), noise, weight_gradient.block(2 * i, 1), gradient.block(i, 1), trace);
      direct.pullback(coordinates.block(i, 1), noise, weight_gradient.block(2 * i + 1, 1),
                      {one.data(), 1, gradient.columns}, trace);
      for (std::size_t q = 0; q < one.size(); ++q) gradient.row(i)[q] += 1.5f * one[q];
    }
  }
  void initialise(Particles<float>& particles, std::uint64_t seed, double spread) override {
    initialise_coordinates(particles, seed, spread);
  }

 private:
  Layout weights_, coordinates_;
};

const MlpSpec trained_network{.inputs = 5, .hidden = {7}, .outputs = 2, .activation = Activation::tanh};

/// All coordinates after some SVGD steps from the same start.
std::vector<float> sampled(const NetworkPosteriorOptions& options, int steps = 20) {
  const OneOutputRows data;
  const auto posterior = make_network_posterior(options, trained_network);
  Particles<float> particles = posterior->initial_particles(6, 3, 1);
  Svgd<float> sampler({}, particles.ensemble(0));
  for (int t = 0; t < steps; ++t) sampler.step(particles, *posterior, data.batch);
  std::vector<float> all;
  for (std::int64_t i = 0; i < 6; ++i)
    all.insert(all.end(), particles.values().row(i).begin(), particles.values().row(i).end());
  return all;
}

}  // namespace

TEST_CASE("structured weights without reflectors and with scales of one are plain SVGD, bit for bit",
          "[inference][posterior]") {
  for (const bool learned : {false, true}) {
    NetworkPosteriorOptions plain, structured;
    plain.prior.learn_weight_precision = structured.prior.learn_weight_precision = learned;
    structured.parameterization = WeightForm::matrix_gaussian;
    structured.structure = {.reflectors = 0, .scales = Scales::identity};
    CHECK(sampled(plain) == sampled(structured));
  }
}

TEST_CASE("the same bits at one thread and at several", "[inference][posterior]") {
  const int before = thread_count();
  for (const WeightForm form : {WeightForm::direct, WeightForm::matrix_gaussian}) {
    NetworkPosteriorOptions options;
    options.parameterization = form;
    set_thread_count(1);
    const auto one = sampled(options);
    set_thread_count(3);
    CHECK(sampled(options) == one);
  }
  set_thread_count(before);
}

TEST_CASE("chains on a network have the same bits at one thread and at several",
          "[inference][posterior][hamiltonian]") {
  const OneOutputRows data;
  const std::string name = GENERATE("hmc", "nuts");
  const WeightForm form = GENERATE(WeightForm::direct, WeightForm::matrix_gaussian);
  const auto walk = [&](int threads) {
    const int before = thread_count();
    set_thread_count(threads);
    NetworkPosteriorOptions options;
    options.parameterization = form;
    const auto posterior = make_network_posterior(options, trained_network);
    Particles<float> chains = posterior->initial_particles(5, 3, 1);
    SamplerChoice choice = samplers().at(name).defaults;
    OptionTable table = OptionTable::of(choice);
    table.set("warm_up", "10");
    const auto sampler = choice.make(chains.ensemble(4));
    for (int t = 0; t < 15; ++t) sampler->step(chains, *posterior, data.batch);
    set_thread_count(before);
    std::vector<float> all;
    for (std::int64_t i = 0; i < 5; ++i)
      all.insert(all.end(), chains.values().row(i).begin(), chains.values().row(i).end());
    return all;
  };
  const std::vector<float> one = walk(1);
  CHECK(walk(2) == one);
  CHECK(walk(4) == one);
}

TEST_CASE("a chain sees the data that are its own", "[inference][posterior][hamiltonian]") {
  const OneOutputRows data;
  std::vector<float> targets(80);  // another set for each of two chains
  fill_normal(std::span<float>(targets), {.seed = 7}, 0);
  Batch<float> both = data.batch;
  both.targets = {targets.data(), 80, 1};
  both.targets_per_particle = true;
  const std::string name = GENERATE("hmc", "nuts");
  const auto walk = [&](const Batch<float>& batch, std::int64_t first, std::int64_t count) {
    const auto posterior = make_network_posterior({}, trained_network);
    Particles<float> chains(posterior->layout(), count, first, 2);
    posterior->initialise(chains, 3, 1);
    SamplerChoice choice = samplers().at(name).defaults;
    OptionTable table = OptionTable::of(choice);
    table.set("warm_up", "5");
    const auto sampler = choice.make(chains.ensemble(4));
    for (int t = 0; t < 8; ++t) sampler->step(chains, *posterior, batch);
    return std::vector<float>(chains.values().row(count - 1).begin(), chains.values().row(count - 1).end());
  };
  Batch<float> second = data.batch;
  second.targets = {targets.data() + 40, 40, 1};
  CHECK(walk(both, 0, 2) == walk(second, 1, 1));
}

TEST_CASE("every sampler moves in plain loops as it does in SIMD", "[inference][posterior][driver]") {
  const OneOutputRows data;
  for (const std::string& name : samplers().names()) {
    const auto walk = [&](Arithmetic arithmetic) {
      const auto posterior = make_network_posterior({}, trained_network);
      Particles<float> particles = posterior->initial_particles(4, 3, 1);
      const auto sampler = samplers().at(name).defaults.make(particles.ensemble(4, arithmetic));
      for (int t = 0; t < 3; ++t) sampler->step(particles, *posterior, data.batch);
      return particles;
    };
    const Particles<float> simd = walk(Arithmetic::fused), plain = walk(Arithmetic::reference);
    CAPTURE(name);
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t q = 0; q < simd.size(); ++q)
        REQUIRE(simd.values()(i, q) == Approx(plain.values()(i, q)).epsilon(1e-3).margin(1e-4));
  }
}

TEST_CASE("the value is the log joint whose gradient is given", "[inference][posterior]") {
  const OneOutputRows data;
  NetworkPosteriorOptions options;
  options.parameterization = WeightForm::matrix_gaussian;
  options.structure.reflectors = 3;
  const auto posterior = make_network_posterior(options, trained_network);
  Particles<float> particles = posterior->initial_particles(1, 3, 1);
  std::vector<double> value(1);
  posterior->evaluate(particles.coordinates(), data.batch, {}, {.gradient = particles.gradients(), .value = value});
  // A step of length 1e-3 along the gradient raises the value by 1e-3 ‖g‖ to first order; the central difference is of
  // second.
  double norm = 0;
  for (const float g : particles.gradients().row(0)) norm += double{g} * g;
  norm = std::sqrt(norm);
  const auto value_at = [&](double length) {
    Particles<float> moved = particles;
    for (std::int64_t q = 0; q < moved.size(); ++q)
      moved.values()(0, q) += static_cast<float>(length * particles.gradients()(0, q) / norm);
    double result = 0;
    posterior->evaluate(moved.coordinates(), data.batch, {}, {.value = {&result, 1}});
    return result;
  };
  CHECK((value_at(1e-2) - value_at(-1e-2)) / 2e-2 == Approx(norm).epsilon(1e-2));
}

TEST_CASE("targets of one's own for every particle are that particle's", "[inference][posterior]") {
  OneOutputRows data;
  const auto posterior = make_network_posterior({}, trained_network);
  Particles<float> particles = posterior->initial_particles(3, 3, 1), shared = particles;
  std::vector<float> own;
  for (int i = 0; i < 3; ++i) own.insert(own.end(), data.targets.begin(), data.targets.end());
  for (int i = 0; i < 40; ++i) own[40 + i] += 1;  // only the second particle sees other targets
  Batch<float> batch = data.batch;
  batch.targets = {own.data(), 120, 1};
  batch.targets_per_particle = true;
  posterior->evaluate(particles.coordinates(), batch, {}, {.gradient = particles.gradients()});
  posterior->evaluate(shared.coordinates(), data.batch, {}, {.gradient = shared.gradients()});
  for (std::int64_t i = 0; i < 3; ++i) {
    const bool same = std::ranges::equal(particles.gradients().row(i), shared.gradients().row(i));
    CHECK(same == (i != 1));
  }
}

TEST_CASE("the weight samples of a particle all see that particle's own data", "[inference][posterior]") {
  OneOutputRows data;
  auto model = std::make_unique<ParticleMlp>(trained_network);
  auto twice = std::make_unique<Twice>(model->layout());
  Posterior<float> posterior(std::move(model), std::move(twice), {});
  Particles<float> together = posterior.initial_particles(3, 3, 1), apart = together;
  std::vector<float> targets(3 * 40);
  std::vector<double> value(3), expected(3);
  fill_normal(std::span<float>(targets), {.seed = 4}, 0);
  Batch<float> batch = data.batch;
  batch.targets = {targets.data(), 120, 1};
  batch.targets_per_particle = true;
  posterior.evaluate(together.coordinates(), batch, {}, {.gradient = together.gradients(), .value = value});
  for (std::int64_t i = 0; i < 3; ++i) {
    Batch<float> own = data.batch;
    own.targets = {targets.data() + 40 * i, 40, 1};
    posterior.evaluate(apart.coordinates().block(i, 1), own, {},
                       {.gradient = apart.gradients().block(i, 1),
                        .value = std::span(expected).subspan(static_cast<std::size_t>(i), 1)});
    CHECK(std::ranges::equal(together.gradients().row(i), apart.gradients().row(i)));
  }
  CHECK(value == expected);
  batch.targets.rows = 119;
  CHECK_ERROR(posterior.evaluate(together.coordinates(), batch, {}, {.gradient = together.gradients()}), usage,
              "40 rows for each of 3 particles, got 119");
  CHECK_ERROR(posterior.evaluate(apart.coordinates(), data.batch, {}, {.gradient = apart.gradients().block(0, 2)}),
              usage, "expected gradients [3,", "got [2,");
  CHECK_ERROR(posterior.evaluate(apart.coordinates(), data.batch, {},
                                 {.gradient = apart.gradients(), .value = std::span(expected).first(2)}),
              usage, "3 values or none, got 2");
}

TEST_CASE("a noise precision that is learned starts at its option", "[inference][posterior]") {
  MlpSpec learned = trained_network;
  learned.learn_noise_precision = true;
  learned.noise_precision = 20;
  for (const WeightForm form : {WeightForm::direct, WeightForm::matrix_gaussian}) {
    const auto posterior = make_network_posterior({.parameterization = form}, learned);
    Particles<float> particles = posterior->initial_particles(2, 3, 1);
    for (int i = 0; i < 2; ++i) CHECK(particles.view("log_noise_precision", i)(0, 0) == Approx(std::log(20)));
  }
}
