// What an evaluation is asked for, and what a batch counts.
#include <stein/core/parallel.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/models/sharpened_model.h>
#include <stein/inference/parameterizations/mean_field_gaussian.h>
#include <stein/inference/priors/spike_and_slab_prior.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/inference/targets/variational_objective.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr std::int64_t rows = 40, inputs = 6, outputs = 2;

/// Rows of normals, some more than a part of a batch has.
struct Data {
  std::vector<float> x, y;
  Batch<float> batch{};
  explicit Data(std::int64_t n = rows)
      : x(static_cast<std::size_t>(n * inputs)), y(static_cast<std::size_t>(n * outputs)) {
    fill_normal(std::span<float>(x), {.seed = 1}, 0);
    fill_normal(std::span<float>(y), {.seed = 1}, 1);
    batch = {
        .inputs = {.dense = {x.data(), n, inputs}}, .targets = {y.data(), n, outputs}, .rows = n, .data_size = 100};
  }
};

const MlpSpec network{.inputs = inputs, .hidden = {9}, .outputs = outputs, .learn_noise_precision = true};

/// 7,000 weights: more than a task adds up at a time where parts of a batch have gradients of their own.
const MlpSpec wide{.inputs = inputs, .hidden = {200, 28}, .outputs = outputs};

std::unique_ptr<Posterior<float>> made(const std::string& kind) {
  NetworkPosteriorOptions options{.prior = {.learn_weight_precision = true}};
  if (kind == "structured") options.parameterization = WeightForm::matrix_gaussian;
  if (kind == "wide") return make_network_posterior(options, wide);
  if (kind == "vmg") options = {.parameterization = WeightForm::variational_matrix_gaussian};
  if (kind == "spike and slab")
    return make_spike_and_slab_posterior<float>({}, std::make_unique<ParticleMlp>(network), {"layer0.weight"}, {0, 3})
        .posterior;
  if (kind == "sharpened mixture") {
    auto model = std::make_unique<SharpenedModel<float>>(std::make_unique<ParticleMlp>(network),
                                                         SharpeningOptions{.initial_rate = 1e-3});
    auto family = std::make_unique<MeanFieldGaussian<float>>(model->layout(), VariationalOptions{.weight_samples = 2});
    return make_variational_objective<float>(std::move(model), std::move(family), ScaleMixtureOptions{});
  }
  return make_network_posterior(options, network);
}

struct Found {
  std::vector<float> gradient;
  std::vector<double> value;
  bool operator==(const Found&) const = default;
};

Found evaluated(Posterior<float>& posterior, const Particles<float>& start, const Batch<float>& batch, bool gradient,
                bool value) {
  Particles<float> particles = start;
  Found found{.gradient = {}, .value = std::vector<double>(value ? static_cast<std::size_t>(start.rows()) : 0)};
  Evaluation<float> wanted{.value = found.value};
  if (gradient) wanted.gradient = particles.gradients();
  posterior.evaluate(particles.coordinates(), batch, {.seed = 4}, wanted);
  for (std::int64_t i = 0; gradient && i < start.rows(); ++i)
    found.gradient.insert(found.gradient.end(), particles.gradients().row(i).begin(),
                          particles.gradients().row(i).end());
  return found;
}

}  // namespace

TEST_CASE("a value alone and a gradient alone are those of both together", "[inference][evaluation]") {
  const std::string kind = GENERATE("direct", "structured", "vmg", "spike and slab", "sharpened mixture");
  CAPTURE(kind);
  const Data data(GENERATE(as<std::int64_t>(), rows, 700));
  const auto posterior = made(kind);
  const Particles<float> start = posterior->initial_particles(3, 5, 1);
  const Found both = evaluated(*posterior, start, data.batch, true, true);
  CHECK(evaluated(*posterior, start, data.batch, true, false).gradient == both.gradient);
  CHECK(evaluated(*posterior, start, data.batch, false, true).value == both.value);
}

TEST_CASE("one network and a few have the same bits on any number of threads", "[inference][evaluation][threads]") {
  const Data data(1000);
  const auto posterior = made(GENERATE("structured", "wide"));
  const Particles<float> start = posterior->initial_particles(GENERATE(1, 4), 5, 1);
  const int before = thread_count();
  set_thread_count(1);
  const Found alone = evaluated(*posterior, start, data.batch, true, true);
  for (const int threads : {2, 3, 7}) {
    set_thread_count(threads);
    CHECK(evaluated(*posterior, start, data.batch, true, true) == alone);
    CHECK(evaluated(*posterior, start, data.batch, false, true).value == alone.value);
  }
  set_thread_count(before);
}

TEST_CASE("predictions of many rows are those of each", "[inference][evaluation]") {
  const std::int64_t n = GENERATE(1, 5, 128, 300, 1000), particles = GENERATE(1, 3);
  CAPTURE(n, particles);
  const Data data(n);
  const auto posterior = made("direct");
  const Particles<float> at = posterior->initial_particles(particles, 5, 1);
  const ParticleRows<const float> all = at.coordinates();
  std::vector<float> together(static_cast<std::size_t>(particles * n * outputs), NAN), apart(outputs);
  Model<float>& model = posterior->model();
  const std::int64_t weights = model.layout().size();
  Matrix<float> mapped(particles, weights);
  posterior->effective_weights(all, {}, mapped.view());
  model.predict({mapped.view()}, data.batch.inputs, {together.data(), particles * n, outputs});
  for (std::int64_t i = 0; i < particles; ++i)
    for (std::int64_t r = 0; r < n; ++r) {
      model.predict({mapped.view().block(i, 1)}, {.dense = data.batch.inputs.dense.block(r, 1)},
                    {apart.data(), 1, outputs});
      for (std::int64_t k = 0; k < outputs; ++k)
        REQUIRE(together[static_cast<std::size_t>((i * n + r) * outputs + k)] ==
                Approx(apart[static_cast<std::size_t>(k)]).epsilon(1e-4).margin(1e-5));
    }
}

TEST_CASE("a likelihood is scaled by N/n in the batch's own unit", "[inference][evaluation]") {
  Data data;
  const auto posterior = make_network_posterior({.flat_prior = true}, {.inputs = inputs, .outputs = outputs});
  const Particles<float> start = posterior->initial_particles(1, 5, 1);
  const double by_row = evaluated(*posterior, start, data.batch, false, true).value[0];
  data.batch.unit = DataUnit::tokens;
  data.batch.size = 4 * rows;  // four tokens a row
  data.batch.data_size = 400;
  CHECK(evaluated(*posterior, start, data.batch, false, true).value[0] == Approx(by_row).epsilon(1e-6));
  data.batch.data_size = 800;
  CHECK(evaluated(*posterior, start, data.batch, false, true).value[0] == Approx(2 * by_row).epsilon(1e-6));
  data.batch.data_size = 0;
  CHECK_ERROR(evaluated(*posterior, start, data.batch, false, true), usage, "N must be > 0 tokens, got 0");
  data.batch.data_size = 1;
  data.batch.size = -3;
  CHECK_ERROR(evaluated(*posterior, start, data.batch, false, true), usage, "at least 1 of tokens", "got -3");
}

TEST_CASE("a perceptron says that it takes no tokens", "[inference][evaluation]") {
  Data data;
  const std::vector<std::int32_t> tokens(rows);
  data.batch.inputs = {.tokens = {tokens.data(), rows, 1}};
  const auto posterior = make_network_posterior({}, {.inputs = inputs, .outputs = outputs});
  const Particles<float> start = posterior->initial_particles(1, 5, 1);
  CHECK_ERROR(evaluated(*posterior, start, data.batch, true, false), usage, "got tokens");
}

TEST_CASE("a mask of other rows than the batch has is refused", "[inference][evaluation]") {
  Data data;
  const std::vector<float> mask(static_cast<std::size_t>((rows + 1) * inputs), 1);
  const auto posterior = make_network_posterior({}, {.inputs = inputs, .outputs = outputs});
  const Particles<float> start = posterior->initial_particles(1, 5, 1);
  data.batch.input_mask = {mask.data(), rows + 1, inputs};
  CHECK_ERROR(evaluated(*posterior, start, data.batch, true, false), usage, "input mask [40, 6], got [41, 6]");
}

TEST_CASE("what lies between the rows of the inputs is not read", "[inference][evaluation]") {
  // 13 of 16 columns of a wider matrix, the rest no numbers: fewer outputs than a vector has, and as many as it takes.
  const std::int64_t width = GENERATE(2, 32), n = GENERATE(1, 30);
  std::vector<float> wide(static_cast<std::size_t>(n * 16), NAN), packed, y(static_cast<std::size_t>(n * width), 0.5F);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < 13; ++j) {
      packed.push_back(normal_at<float>({.seed = 3}, static_cast<std::uint32_t>(i), static_cast<std::uint64_t>(j)));
      wide[static_cast<std::size_t>(i * 16 + j)] = packed.back();
    }
  const auto posterior = make_network_posterior({}, {.inputs = 13, .outputs = width});
  const Particles<float> start = posterior->initial_particles(2, 5, 1);
  Batch<float> batch{
      .inputs = {.dense = {packed.data(), n, 13}}, .targets = {y.data(), n, width}, .rows = n, .data_size = 30};
  const Found expected = evaluated(*posterior, start, batch, true, true);
  batch.inputs.dense = {wide.data(), n, 13, 16};
  const Found found = evaluated(*posterior, start, batch, true, true);
  for (std::size_t q = 0; q < expected.gradient.size(); ++q)
    CHECK(found.gradient[q] == Approx(expected.gradient[q]).epsilon(1e-5).margin(1e-5));
  CHECK(found.value[1] == Approx(expected.value[1]).epsilon(1e-5));
}

TEST_CASE("a target whose score has no value says so", "[inference][evaluation]") {
  struct Slope final : OutputScore<float> {
    bool has_value() const override { return false; }
    double score(std::int64_t, std::int64_t, MatrixView<const float>, std::span<const float>, MatrixView<float>,
                 std::span<float>) const override {
      return 0;
    }
  } slope;
  Data data;
  const auto posterior = make_network_posterior({}, {.inputs = inputs, .outputs = outputs});
  const Particles<float> start = posterior->initial_particles(1, 5, 1);
  data.batch.targets = {};
  data.batch.score = &slope;
  CHECK(!posterior->has_value(data.batch));
  CHECK_NOTHROW(evaluated(*posterior, start, data.batch, true, false));
  CHECK_ERROR(evaluated(*posterior, start, data.batch, false, true), usage, "a gradient only");
}
