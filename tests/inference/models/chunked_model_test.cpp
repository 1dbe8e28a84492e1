#include <stein/distributed/agree.h>
#include <stein/inference/models/chunked_model.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/models/particle_recurrent.h>
#include <stein/inference/models/watched_model.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "distributed/thread_ranks.h"
#include "inference/mlp_case.h"
#include "inference/models/recurrent_checks.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// log p(y | x, θ) = −½ (y − x·θ)², in double, as loops; a row weight multiplies it.
class LinearModel final : public Model<double> {
 public:
  explicit LinearModel(std::int64_t inputs, std::int64_t buffers = 0) {
    layout_.add("weight", {inputs, 1}, Role::weight, 0);
    if (buffers > 0) layout_.add_buffer("mean", {buffers});
  }
  const Layout& layout() const override { return layout_; }
  std::int64_t output_count() const override { return 1; }
  void log_likelihood(const ParticleRows<const double>& weights, const Batch<double>& batch, const NoiseKey&,
                      const Evaluation<double>& wanted) override {
    for (std::int64_t m = 0; m < weights.values.rows; ++m) {
      const Batch<double> own = rows_of(batch, m);
      double value = 0;
      if (wanted.wants_gradient()) std::ranges::fill(wanted.gradient.row(m), 0.0);
      for (std::int64_t i = 0; i < own.rows; ++i) {
        const double weight = own.row_weights.empty() ? 1 : own.row_weights[static_cast<std::size_t>(i)];
        double apart = own.targets(i, 0);
        for (std::int64_t j = 0; j < own.inputs.dense.columns; ++j)
          apart -= own.inputs.dense(i, j) * weights.values(m, j);
        value -= weight * apart * apart / 2;
        for (std::int64_t j = 0; wanted.wants_gradient() && j < own.inputs.dense.columns; ++j)
          wanted.gradient(m, j) += own.likelihood_scale() * weight * apart * own.inputs.dense(i, j);
      }
      if (wanted.wants_value()) wanted.value[static_cast<std::size_t>(m)] = own.likelihood_scale() * value;
    }
  }
  void predict(const ParticleRows<const double>&, const Inputs<double>&, MatrixView<double>) override {}

 private:
  Layout layout_;
};

/// What a model says of a batch for some rows of weights, whose numbers follow one another.
template <class Scalar>
struct Said {
  std::vector<Scalar> gradient{}, after{};
  std::vector<double> value{};
  bool operator==(const Said&) const = default;
};

/// Carried state starts from `before`, C numbers for each row of weights; empty: there is none.
template <class Scalar>
Said<Scalar> ask(Model<Scalar>& model, MatrixView<const Scalar> weights, Batch<Scalar> batch,
                 std::vector<Scalar> before = {}) {
  Said<Scalar> said;
  said.gradient.assign(static_cast<std::size_t>(weights.rows * weights.columns), Scalar{99});
  said.value.resize(static_cast<std::size_t>(weights.rows));
  said.after.resize(before.size());
  if (!before.empty()) {
    const std::int64_t size = std::ssize(before) / weights.rows;
    batch.inputs.carried = {{before.data(), weights.rows, size}, {said.after.data(), weights.rows, size}};
  }
  model.log_likelihood({weights, 3, {}}, batch, {.seed = 8, .step = 2, .stream = Stream::model},
                       {.gradient = {said.gradient.data(), weights.rows, weights.columns}, .value = said.value});
  return said;
}

/// Seven rows of three inputs.
struct LinearCase {
  std::vector<double> dense, targets, row_weights, weights;

  LinearCase() : dense(21), targets(7), row_weights(7), weights(6) {
    Draws draws({.seed = 4}, 0);
    for (auto* numbers : {&dense, &targets, &row_weights, &weights})
      for (double& number : *numbers) number = draws.normal();
  }
  Batch<double> batch() const {
    Batch<double> batch;
    batch.inputs.dense = {dense.data(), 7, 3};
    batch.targets = {targets.data(), 7, 1};
    batch.row_weights = row_weights;
    batch.rows = 7;
    batch.data_size = 700;
    return batch;
  }
  MatrixView<const double> rows(std::int64_t count) const { return {weights.data(), count, 3}; }
};

/// Calls check(said) with what each of `size` ranks, which share the model, is told.
template <class Scalar>
void for_each_rank(int size, const std::function<std::unique_ptr<Model<Scalar>>()>& make, std::int64_t chunks,
                   const std::function<Said<Scalar>(Model<Scalar>&)>& ask_it, const Said<Scalar>& expected) {
  std::atomic<int> alike = 0;
  test::on_ranks(size, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
    ChunkedModel<Scalar> model(make(), chunks);
    PartExchange exchange(*ranks, {}, nullptr);
    const auto shared = model.shared_by(exchange);
    for (int again = 0; again < 2; ++again) alike += ask_it(model) == expected ? 1 : 0;  // memory that is used again
  });
  CAPTURE(size, chunks);
  CHECK(alike == 2 * size);
}

}  // namespace

TEST_CASE("the gradient of chunks is a sum by hand, with N and n of the whole minibatch", "[inference]") {
  const LinearCase c;
  const std::int64_t chunks = GENERATE(1, 2, 3, 7, 20);
  ChunkedModel<double> model(std::make_unique<LinearModel>(3), chunks);
  const Said<double> said = ask<double>(model, c.rows(2), c.batch());
  for (std::size_t m = 0; m < 2; ++m) {
    double value = 0, gradient[3] = {};
    for (std::size_t i = 0; i < 7; ++i) {
      double apart = c.targets[i];
      for (std::size_t j = 0; j < 3; ++j) apart -= c.dense[3 * i + j] * c.weights[3 * m + j];
      value -= 100 * c.row_weights[i] * apart * apart / 2;
      for (std::size_t j = 0; j < 3; ++j) gradient[j] += 100 * c.row_weights[i] * apart * c.dense[3 * i + j];
    }
    CHECK(said.value[m] == Approx(value).epsilon(1e-13));
    for (std::size_t j = 0; j < 3; ++j) CHECK(said.gradient[3 * m + j] == Approx(gradient[j]).epsilon(1e-12));
  }
}

TEST_CASE("the bits of a gradient are those of its chunks, added in their order", "[inference]") {
  const LinearCase c;
  ChunkedModel<double> model(std::make_unique<LinearModel>(3), 3);
  const Said<double> said = ask<double>(model, c.rows(1), c.batch());
  LinearModel alone(3);
  Said<double> sum{.gradient = {0, 0, 0}, .value = {0}};
  for (const auto& [first, count] : {std::pair{0, 2}, std::pair{2, 2}, std::pair{4, 3}}) {  // 7 rows in 3 chunks
    Batch<double> part = c.batch();
    part.inputs.dense = part.inputs.dense.block(first, count);
    part.targets = part.targets.block(first, count);
    part.row_weights = part.row_weights.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    part.rows = count;
    part.size = 7;
    const Said<double> own = ask<double>(alone, c.rows(1), part);
    for (std::size_t j = 0; j < 3; ++j) sum.gradient[j] += own.gradient[j];
    sum.value[0] += own.value[0];
  }
  CHECK((said == sum));
}

TEST_CASE("a Hessian product of chunks is that of the minibatch", "[inference]") {
  const LinearCase c;
  const std::vector<double> vector{1, -2, 0.5};
  ChunkedModel<double> model(std::make_unique<LinearModel>(3), GENERATE(1, 3));
  std::vector<double> product(3);
  model.hessian_product({c.rows(1), 0, {}}, c.batch(), {}, {vector.data(), 1, 3}, {product.data(), 1, 3});
  for (std::size_t j = 0; j < 3; ++j) {  // −(N/n) Σ w x xᵀ v
    double expected = 0;
    for (std::size_t i = 0; i < 7; ++i) {
      const double along = c.dense[3 * i] - 2 * c.dense[3 * i + 1] + 0.5 * c.dense[3 * i + 2];
      expected -= 100 * c.row_weights[i] * c.dense[3 * i + j] * along;
    }
    CHECK(product[j] == Approx(expected).epsilon(1e-6));
  }
}

TEST_CASE("perceptrons say of chunks what they say of the minibatch, whatever its rows are", "[inference]") {
  const auto [likelihood, options] = GENERATE(table<Likelihood, MlpCaseOptions>(
      {{Likelihood::gaussian, {.rows = 11, .row_weights = true, .input_mask = true}},
       {Likelihood::gaussian, {.rows = 11, .ones = 2, .chosen_outputs = true, .row_weights = true}},
       {Likelihood::categorical, {.rows = 11}},
       {Likelihood::gaussian, {.rows = 11, .inputs_per_particle = true, .targets_per_particle = true}},
       {Likelihood::gaussian, {.rows = 11, .row_weights = true, .weights_per_particle = true}}}));
  const MlpSpec spec{.inputs = 6, .hidden = {5}, .outputs = 3, .likelihood = likelihood};
  const MlpCase<float> c = make_mlp_case<float>(spec, options);
  ParticleMlp plain(spec);
  const Said<float> whole = ask<float>(plain, c.weights.values(), c.batch());
  for (const std::int64_t chunks : {1, 3, 4}) {
    ChunkedModel<float> model(std::make_unique<ParticleMlp>(spec), chunks);
    const Said<float> said = ask<float>(model, c.weights.values(), c.batch());
    if (chunks == 1) CHECK((said == whole));
    for (std::size_t m = 0; m < whole.value.size(); ++m) CHECK(said.value[m] == Approx(whole.value[m]).epsilon(1e-5));
    for (std::size_t q = 0; q < whole.gradient.size(); ++q)
      CHECK(std::abs(said.gradient[q] - whole.gradient[q]) < 1e-3);
  }
}

TEST_CASE("sequences keep their own state where a minibatch is taken apart", "[inference]") {
  const Cell cell = GENERATE(Cell::lstm, Cell::gru);
  const RecurrentSpec spec{.cell = cell, .vocabulary = 7, .embedding = 4, .hidden = 5, .layers = 2};
  test::RecurrentCase c = test::RecurrentCase::make(spec, /*rows=*/5, /*steps=*/3);
  fill_normal(std::span(c.before), {.seed = 9}, 0);
  ParticleRecurrent plain(spec);
  const MatrixView<const float> weights{c.float_weights.data(), 1, std::ssize(c.float_weights)};
  const Said<float> whole = ask<float>(plain, weights, c.batch(), c.before);
  for (const std::int64_t chunks : {1, 2, 5, 8}) {
    ChunkedModel<float> model(std::make_unique<ParticleRecurrent>(spec), chunks);
    const Said<float> said = ask<float>(model, weights, c.batch(), c.before);
    CAPTURE(chunks);
    CHECK(said.value[0] == Approx(whole.value[0]).epsilon(1e-6));
    for (std::size_t i = 0; i < whole.after.size(); ++i) CHECK(std::abs(said.after[i] - whole.after[i]) < 1e-6);
    for (std::size_t q = 0; q < whole.gradient.size(); ++q)
      CHECK(std::abs(said.gradient[q] - whole.gradient[q]) < 2e-5);
  }
}

TEST_CASE("captions keep their images where a minibatch is taken apart", "[inference]") {
  const RecurrentSpec spec{
      .vocabulary = 7, .embedding = 4, .hidden = 5, .layers = 1, .features = 3, .feature_use = FeatureUse::first_input};
  test::RecurrentCase c = test::RecurrentCase::make(spec, 5, 4);
  ParticleRecurrent plain(spec);
  const MatrixView<const float> weights{c.float_weights.data(), 1, std::ssize(c.float_weights)};
  const Said<float> whole = ask<float>(plain, weights, c.batch());
  ChunkedModel<float> model(std::make_unique<ParticleRecurrent>(spec), 3);
  const Said<float> said = ask<float>(model, weights, c.batch());
  CHECK(said.value[0] == Approx(whole.value[0]).epsilon(1e-6));
  for (std::size_t q = 0; q < whole.gradient.size(); ++q) CHECK(std::abs(said.gradient[q] - whole.gradient[q]) < 2e-5);
}

TEST_CASE("chunks drop units of their own", "[inference]") {
  const RecurrentSpec spec{.vocabulary = 7, .embedding = 8, .hidden = 8, .layers = 1, .dropout = 0.5};
  test::RecurrentCase c = test::RecurrentCase::make(spec, 4, 3);
  for (const std::size_t row : {std::size_t{2}, std::size_t{3}})  // the second half repeats the first
    for (std::size_t t = 0; t < 3; ++t) {
      c.tokens[3 * row + t] = c.tokens[3 * (row - 2) + t];
      c.targets[3 * row + t] = c.targets[3 * (row - 2) + t];
    }
  const MatrixView<const float> weights{c.float_weights.data(), 1, std::ssize(c.float_weights)};
  ParticleRecurrent plain(spec);
  Batch<float> half = c.batch();
  half.inputs.tokens = half.inputs.tokens.block(0, 2), half.targets = half.targets.block(0, 2);
  half.rows = 2, half.size = 4;
  const double first = ask<float>(plain, weights, half).value[0];
  ChunkedModel<float> model(std::make_unique<ParticleRecurrent>(spec), 2);
  const double both = ask<float>(model, weights, c.batch()).value[0];
  CHECK(std::abs(both - 2 * first) > 1e-3);  // equal masks would give equal halves
}

TEST_CASE("ranks share rows and chunks, and each has the bits of one process", "[inference][distributed]") {
  const auto [rows, chunks] = GENERATE(table<std::int64_t, std::int64_t>({{1, 4}, {3, 1}, {3, 4}, {4, 2}, {1, 1}}));
  const RecurrentSpec spec{.vocabulary = 7, .embedding = 4, .hidden = 5, .layers = 2, .dropout = 0.3};
  test::RecurrentCase c = test::RecurrentCase::make(spec, 5, 3);
  Matrix<float> weights(rows, std::ssize(c.float_weights));
  std::vector<float> before(static_cast<std::size_t>(rows * c.carried_size()));
  for (std::int64_t i = 0; i < rows; ++i) fill_normal(weights.row(i), {.seed = 11}, static_cast<std::uint32_t>(i));
  fill_normal(std::span(before), {.seed = 9}, 0);
  const auto make = [&]() -> std::unique_ptr<Model<float>> { return std::make_unique<ParticleRecurrent>(spec); };
  const auto ask_it = [&](Model<float>& model) {
    return ask<float>(model, std::as_const(weights).view(), c.batch(), before);
  };
  ChunkedModel<float> alone(make(), chunks);
  const Said<float> expected = ask_it(alone);
  if (chunks == 1) {
    ParticleRecurrent plain(spec);
    CHECK((ask_it(plain) == expected));
  }
  for (const int size : {1, 2, 3, 4, 5}) for_each_rank<float>(size, make, chunks, ask_it, expected);
}

TEST_CASE("ranks share draws of weights that see one particle's data", "[inference][distributed]") {
  const MlpSpec spec{.inputs = 6, .hidden = {5}, .outputs = 3};
  const MlpCase<float> c = make_mlp_case<float>(
      spec, {.particles = 2, .rows = 8, .inputs_per_particle = true, .targets_per_particle = true});
  Matrix<float> weights(4, c.weights.size());
  for (std::int64_t i = 0; i < 4; ++i) fill_normal(weights.row(i), {.seed = 11}, static_cast<std::uint32_t>(i));
  Batch<float> batch = c.batch();
  batch.weight_samples = 2;
  const auto make = [&]() -> std::unique_ptr<Model<float>> { return std::make_unique<ParticleMlp>(spec); };
  const auto ask_it = [&](Model<float>& model) { return ask<float>(model, std::as_const(weights).view(), batch); };
  ParticleMlp plain(spec);
  for (const int size : {1, 2, 3}) for_each_rank<float>(size, make, 1, ask_it, ask_it(plain));
}

TEST_CASE("what training watches is the mean over all rows, at any number of threads", "[inference]") {
  const MlpSpec spec{.inputs = 6, .hidden = {5}, .outputs = 3};
  const MlpCase<float> c = make_mlp_case<float>(spec, {.particles = 7, .rows = 8});
  WatchedModel<float> model(std::make_unique<ChunkedModel<float>>(std::make_unique<ParticleMlp>(spec), 1));
  CHECK(model.rows_per_call() == 0);
  const Said<float> said = ask<float>(model, c.weights.values(), c.batch());
  double sum = 0;
  for (const double value : said.value) sum += value / 5 / 7;  // N/n = 40/8
  CHECK(model.last_log_likelihood() == Approx(sum).epsilon(1e-12));
}

TEST_CASE("a chunk that fails on one rank fails on all", "[inference][distributed]") {
  std::atomic<int> told = 0;
  test::on_ranks(3, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
    LinearCase c;
    ChunkedModel<double> model(std::make_unique<LinearModel>(3), 3);
    PartExchange exchange(*ranks, {}, nullptr);
    const auto shared = model.shared_by(exchange);
    Batch<double> batch = c.batch();
    if (ranks->rank() == 1) batch.score = reinterpret_cast<const OutputScore<double>*>(&batch);  // never looked at
    try {
      ask<double>(model, c.rows(1), batch);
    } catch (const distributed::AgreedError& error) {
      told += error.what() == std::string("batch: one with a score of its own is not taken apart into chunks");
    }
  });
  CHECK(told == 3);
}

TEST_CASE("what cannot be taken apart is refused", "[inference]") {
  CHECK_THROWS_WITH(ChunkedModel<double>(std::make_unique<LinearModel>(3), 0),
                    Catch::Contains("gradient_chunks must be at least 1, got 0"));
  CHECK_THROWS_WITH(ChunkedModel<double>(std::make_unique<LinearModel>(3, 2), 4),
                    Catch::Contains("gradient_chunks=4 takes minibatches apart, but this network looks at all rows"));
  CHECK_NOTHROW(ChunkedModel<double>(std::make_unique<LinearModel>(3, 2), 1));
  const LinearCase c;
  ChunkedModel<double> model(std::make_unique<LinearModel>(3), 2);
  Batch<double> batch = c.batch();
  batch.targets.rows = 5;
  CHECK_THROWS_WITH(ask<double>(model, c.rows(1), batch), Catch::Contains("batch: expected 7 rows of targets, got 5"));
}
