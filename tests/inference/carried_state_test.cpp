// State that goes from one minibatch to the next, on a recurrent model small enough to be differentiated by hand.
#include <stein/inference/models/sharpened_model.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/mean_field_gaussian.h>
#include <stein/inference/posterior.h>
#include <stein/inference/prediction/predictive.h>
#include <stein/inference/samplers/dropout_sghmc.h>
#include <stein/inference/samplers/hmc.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/samplers/sgld.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// h_t = tanh(a h_{t−1} + b x_t), y_t ~ N(h_t, 1): weights a, b; the carried state is h. One sequence a row.
class ToyRecurrent final : public Model<double> {
 public:
  ToyRecurrent() { layout_.add("recurrent", {2}, Role::bias); }
  const Layout& layout() const override { return layout_; }
  std::int64_t output_count() const override { return 1; }
  std::int64_t output_rows(const Inputs<double>& inputs) const override {
    return inputs.dense.rows * inputs.dense.columns;
  }
  std::int64_t carried_size(const Inputs<double>& inputs) const override { return inputs.rows(); }

  void log_likelihood(const ParticleRows<const double>& weights, const Batch<double>& batch, const NoiseKey&,
                      const Evaluation<double>& wanted) override {
    for (std::int64_t i = 0; i < weights.values.rows; ++i) {
      ++scored;
      const Batch<double> own = rows_of(batch, i);
      double value = 0, slope[2] = {0, 0};
      for (std::int64_t r = 0; r < own.rows; ++r) {
        double derivative[2] = {0, 0};  // of h by a and b; 0 at the start of a chunk: the gradient is truncated
        walk(weights.values.row(i), own.inputs, r, [&](std::int64_t t, double before, double h) {
          const double inner = 1 - h * h, a = weights.values(i, 0), residual = own.targets(r, t) - h;
          derivative[0] = inner * (before + a * derivative[0]);
          derivative[1] = inner * (own.inputs.dense(r, t) + a * derivative[1]);
          value -= residual * residual / 2;
          for (int k = 0; k < 2; ++k) slope[k] += residual * derivative[k];
        });
      }
      if (wanted.wants_value()) wanted.value[i] = batch.likelihood_scale() * value;
      for (int k = 0; wanted.wants_gradient() && k < 2; ++k)
        wanted.gradient(i, k) = batch.likelihood_scale() * slope[k];
    }
  }
  void predict(const ParticleRows<const double>& weights, const Inputs<double>& inputs,
               MatrixView<double> outputs) override {
    const std::int64_t length = inputs.dense.columns;
    for (std::int64_t i = 0; i < weights.values.rows; ++i) {
      Inputs<double> own = inputs;
      own.carried = inputs.carried.block(i, 1);
      for (std::int64_t r = 0; r < inputs.rows(); ++r)
        walk(weights.values.row(i), own, r,
             [&](std::int64_t t, double, double h) { outputs(i * output_rows(inputs) + r * length + t, 0) = h; });
    }
  }

  std::atomic<std::int64_t> scored = 0;  ///< rows of weights so far

 private:
  /// visit(t, h_{t−1}, h_t) through sequence r.
  template <class Visit>
  static void walk(std::span<const double> weights, const Inputs<double>& inputs, std::int64_t r, const Visit& visit) {
    double h = inputs.carried.empty() ? 0 : inputs.carried.before(0, r);
    for (std::int64_t t = 0; t < inputs.dense.columns; ++t) {
      const double before = h;
      h = std::tanh(weights[0] * before + weights[1] * inputs.dense(r, t));
      visit(t, before, h);
    }
    if (inputs.carried.after.data != nullptr) inputs.carried.after(0, r) = h;
  }

  Layout layout_;
};

constexpr std::int64_t length = 50, sequences = 3;

/// Three sequences of 50 numbers, and what follows each.
struct Sequences {
  std::vector<double> x = std::vector<double>(sequences * length), y = x;
  Sequences() {
    fill_normal(std::span<double>(x), {.seed = 1}, 0);
    fill_normal(std::span<double>(y), {.seed = 1}, 1);
  }
  /// Places first … first + count − 1 of all sequences.
  Batch<double> batch(std::int64_t first, std::int64_t count) const {
    Batch<double> part{.inputs = {.dense = {x.data() + first, sequences, count, length}},
                       .targets = {y.data() + first, sequences, count, length},
                       .rows = sequences,
                       .size = sequences * count,
                       .data_size = static_cast<double>(sequences * count),
                       .unit = DataUnit::tokens};
    return part;
  }
};

std::unique_ptr<Posterior<double>> posterior_of(std::unique_ptr<Model<double>> model) {
  auto direct = std::make_unique<Direct<double>>(model->layout());
  return std::make_unique<Posterior<double>>(std::move(model), std::move(direct),
                                             std::vector<std::unique_ptr<Prior<double>>>{});
}

/// Two particles that differ.
Particles<double> two(const Posterior<double>& posterior) {
  Particles<double> particles(posterior.layout(), 2);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t q = 0; q < particles.size(); ++q)
      particles.values()(i, q) = 0.6 - 0.4 * static_cast<double>(i) + 0.1 * static_cast<double>(q);
  return particles;
}

/// Two particles of the toy with the state that they carry through the sequences.
struct TwoToys {
  Sequences data;
  std::unique_ptr<Posterior<double>> posterior = posterior_of(std::make_unique<ToyRecurrent>());
  Particles<double> particles = two(*posterior);
  CarriedState<double> state{2, sequences};

  /// Places first … first + count − 1, starting from the state.
  Batch<double> batch(std::int64_t first = 0, std::int64_t count = 5) {
    Batch<double> part = data.batch(first, count);
    part.inputs.carried = state.rows();
    return part;
  }
};

std::vector<double> numbers(MatrixView<const double> rows) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < rows.rows; ++i) all.insert(all.end(), rows.row(i).begin(), rows.row(i).end());
  return all;
}

}  // namespace

TEST_CASE("chunks of five with carried state have the value of one pass of fifty, and its truncated gradient",
          "[inference][carried]") {
  TwoToys toys;
  auto& data = toys.data;
  auto& posterior = toys.posterior;
  auto& particles = toys.particles;
  auto& state = toys.state;
  std::vector<double> whole(2);
  posterior->evaluate(particles.coordinates(), data.batch(0, length), {}, {.value = whole});

  std::vector<double> sum(2), value(2), above(2), below(2);
  for (std::int64_t first = 0; first < length; first += 5) {
    Batch<double> batch = data.batch(first, 5);
    batch.inputs.carried = state.rows();
    Particles<double> at = particles, moved = particles;
    posterior->evaluate(at.coordinates(), batch, {}, {.gradient = at.gradients(), .value = value});
    // By differences with the state that came in held: nothing flows back beyond the chunk.
    for (std::int64_t q = 0; q < 2; ++q) {
      Batch<double> held = batch;
      held.inputs.carried.after = {};
      const auto shift = [&](double by, std::span<double> to) {
        for (std::int64_t i = 0; i < 2; ++i) moved.values()(i, q) = particles.values()(i, q) + by;
        posterior->evaluate(moved.coordinates(), held, {}, {.value = to});
        for (std::int64_t i = 0; i < 2; ++i) moved.values()(i, q) = particles.values()(i, q);
      };
      shift(1e-6, above), shift(-1e-6, below);
      for (std::int64_t i = 0; i < 2; ++i)
        CHECK(at.gradients()(i, q) == Approx((above[i] - below[i]) / 2e-6).epsilon(1e-6).margin(1e-7));
    }
    posterior->adapt(at.coordinates(), batch, {}, at.buffers());
    for (std::size_t i = 0; i < 2; ++i) sum[i] += value[i];
  }
  for (std::size_t i = 0; i < 2; ++i) CHECK(sum[i] == Approx(whole[i]).epsilon(1e-12));
}

TEST_CASE("every draw of the weights carries a state of its own", "[inference][carried]") {
  const Sequences data;
  auto model = std::make_unique<ToyRecurrent>();
  auto family = std::make_unique<MeanFieldGaussian<double>>(model->layout(), VariationalOptions{.weight_samples = 3});
  Posterior<double> posterior(std::move(model), std::move(family), {});
  const Particles<double> particles = posterior.initial_particles(2, 5, 1);
  CarriedState<double> state(2 * posterior.weight_samples(), sequences);
  Batch<double> batch = data.batch(0, length);
  batch.inputs.carried = state.rows();
  std::vector<double> value(2);
  const NoiseKey noise{.seed = 3};
  posterior.evaluate(particles.coordinates(), batch, noise, {.value = value});

  Matrix<double> weights(6, 2);
  posterior.effective_weights(particles.coordinates(), noise, weights.view());
  CarriedState<double> alone(1, sequences);
  for (std::int64_t k = 0; k < 6; ++k) {
    Inputs<double> inputs = data.batch(0, length).inputs;
    inputs.carried = alone.rows();
    std::vector<double> outputs(sequences * length);
    posterior.model().predict({weights.view().block(k, 1)}, inputs, {outputs.data(), sequences * length, 1});
    CHECK(numbers(alone.rows().after) == numbers(state.rows().after.block(k, 1)));
  }
}

TEST_CASE("only a step that was accepted moves the state on, and once", "[inference][carried]") {
  TwoToys toys;
  auto& posterior = toys.posterior;
  auto& particles = toys.particles;
  auto& state = toys.state;
  Batch<double> batch = toys.batch();
  const std::vector<double> nothing(2 * sequences);
  posterior->evaluate(particles.coordinates(), batch, {}, {.gradient = particles.gradients()});
  CHECK(numbers(state.rows().before) == nothing);

  // All inner moves start from the state that the minibatch came with; the last one's is taken on.
  DropoutSghmc<double> sampler({.sghmc = {.step = {.step_size = 1e-4}}, .keep = 1, .inner_steps = 4},
                               particles.ensemble(2));
  sampler.step(particles, *posterior, batch);
  CHECK(numbers(state.rows().before) == numbers(state.rows().after));
  CHECK(numbers(state.rows().before) != nothing);

  Hmc<double> trajectories({}, particles.ensemble(2));
  CHECK_ERROR(trajectories.step(particles, *posterior, batch), usage, "hmc", "without carried state");
  batch.inputs.carried.before.rows = 1;
  CHECK_ERROR(posterior->evaluate(particles.coordinates(), batch, {}, {.gradient = particles.gradients()}), usage,
              "expected [2, 3], one row a row of weights, got [1, 3]");
}

TEST_CASE("a step hands the state on without another pass over the batch", "[inference][carried]") {
  TwoToys toys;
  auto& [data, posterior, particles, state] = toys;
  const auto& toy = dynamic_cast<const ToyRecurrent&>(posterior->model());
  Batch<double> batch = toys.batch();
  // Where the step began, by hand: what the state has to be after it.
  CarriedState<double> expected(2, sequences);
  Batch<double> same = data.batch(0, 5);
  same.inputs.carried = expected.rows();
  posterior->evaluate(particles.coordinates(), same, {}, {.gradient = particles.gradients()});
  const std::int64_t once = toy.scored;
  CHECK(once == 2);  // rows of weights
  Sgld<double> sampler({.step = {.step_size = 1e-4}}, particles.ensemble(2));
  sampler.step(particles, *posterior, batch);
  CHECK(toy.scored == 2 * once);
  CHECK(numbers(state.rows().before) == numbers(expected.rows().after));
}

TEST_CASE("state of another shape than the weights' is refused, and forgetting it keeps its place",
          "[inference][carried]") {
  TwoToys toys;
  auto& data = toys.data;
  auto& posterior = toys.posterior;
  auto& particles = toys.particles;
  auto& state = toys.state;
  CarriedState<double> wide(2, sequences + 1), long_one(3, sequences);
  Inputs<double> inputs = data.batch(0, 5).inputs;
  Predictive predictive(Likelihood::gaussian, sequences * 5, 1);
  for (CarriedState<double>* wrong : {&wide, &long_one}) {
    Batch<double> batch = data.batch(0, 5);
    batch.inputs.carried = wrong->rows();
    CHECK_ERROR(posterior->evaluate(particles.coordinates(), batch, {}, {.gradient = particles.gradients()}), usage,
                "expected [2, 3]");
    inputs.carried = wrong->rows();
    CHECK_ERROR(add_predictions(predictive, *posterior, particles.coordinates(), inputs, {}), usage, "expected [2, 3]");
  }

  const CarriedRows<double> rows = state.rows();
  rows.before(1, 2) = 7, rows.after(0, 1) = 7;
  state.reset();
  rows.accept();  // nor does what was left before come back
  CHECK(rows.before.data == state.rows().before.data);
  CHECK(numbers(rows.before) == std::vector<double>(2 * sequences));
}

TEST_CASE("a sampler that would step again after a rollback refuses carried state", "[inference][carried][rollback]") {
  TwoToys toys;
  auto& posterior = toys.posterior;
  auto& particles = toys.particles;
  RollbackSampler<double> sampler(
      std::make_unique<Optimizer<double>>(OptimizerOptions{.step = {.step_size = 1e-3}}, particles.ensemble(0)));
  CHECK_ERROR(sampler.step(particles, *posterior, toys.batch()), usage, "expected AfterRollback::wait");
}

TEST_CASE("sharpening starts both evaluations from one state and hands on that of the sharpened weights",
          "[inference][carried]") {
  const Sequences data;
  const auto gradient = GENERATE(SharpeningGradient::first_order, SharpeningGradient::exact);
  SharpenedModel<double> model(std::make_unique<ToyRecurrent>(),
                               {.sharpening_deviation = 1e-9, .initial_rate = 0.01, .gradient = gradient});
  CHECK(model.carried_size(data.batch(0, 5).inputs) == sequences);
  std::vector<double> row{0.5, 0.7, 0.01, 0.01}, sharp(2), value(1);
  CarriedState<double> state(1, sequences), expected(1, sequences);
  Batch<double> batch = data.batch(0, 5), plain = batch;
  batch.inputs.carried = state.rows(), plain.inputs.carried = expected.rows();
  std::vector<double> slopes(4);
  model.log_likelihood({{row.data(), 1, 4}}, batch, {}, {.gradient = {slopes.data(), 1, 4}, .value = value});

  ToyRecurrent toy;
  toy.log_likelihood({{row.data(), 1, 2}}, plain, {}, {.gradient = {sharp.data(), 1, 2}});
  for (std::size_t q = 0; q < 2; ++q) sharp[q] = row[q] + 0.01 * sharp[q];
  toy.log_likelihood({{sharp.data(), 1, 2}}, plain, {}, {.value = value});
  for (std::int64_t r = 0; r < sequences; ++r)
    CHECK(state.rows().after(0, r) == Approx(expected.rows().after(0, r)).margin(1e-7));
}

TEST_CASE("a rollback and a checkpoint bring the state back", "[inference][carried][rollback]") {
  TwoToys toys;
  auto& data = toys.data;
  auto& posterior = toys.posterior;
  auto& particles = toys.particles;
  auto& state = toys.state;
  RollbackSampler<double> sampler(
      std::make_unique<Optimizer<double>>(OptimizerOptions{.step = {.step_size = 1e-3}}, particles.ensemble(0)),
      {.keep_every = 4}, AfterRollback::wait);
  for (std::int64_t t = 0; t < 4; ++t) sampler.step(particles, *posterior, toys.batch(5 * t));
  const std::vector<double> kept = numbers(state.rows().before);
  sampler.step(particles, *posterior, toys.batch(20));  // keeps what there is before it
  sampler.step(particles, *posterior, toys.batch(25));
  CHECK(numbers(state.rows().before) != kept);
  Snapshot saved;
  state.save(saved);

  std::vector<double> spoiled(data.x);
  spoiled[0] = NAN;
  Batch<double> broken = toys.batch(30);
  broken.inputs.dense.data = spoiled.data();
  const StepReport report = sampler.step(particles, *posterior, broken);
  CHECK(report.went_back);
  CHECK(report.lost_steps == 2);
  CHECK(numbers(state.rows().before) == kept);

  CarriedState<double> resumed(2, sequences);
  resumed.restore(saved);
  state.restore(saved);
  CHECK(numbers(resumed.rows().before) == numbers(state.rows().before));
  CHECK(numbers(resumed.rows().before) != kept);
  CarriedState<double> other(2, sequences + 1);
  CHECK_ERROR(other.restore(saved), data, "carried");
}

TEST_CASE("a long text is predicted in pieces as in one", "[inference][carried]") {
  TwoToys toys;
  auto& [data, posterior, particles, state] = toys;
  Predictive whole(Likelihood::gaussian, sequences * length, 1);
  add_predictions(whole, *posterior, particles.coordinates(), data.batch(0, length).inputs, {});

  for (std::int64_t first = 0; first < length; first += 10) {
    Inputs<double> inputs = data.batch(first, 10).inputs;
    inputs.carried = state.rows();
    Predictive piece(Likelihood::gaussian, sequences * 10, 1);
    add_predictions(piece, *posterior, particles.coordinates(), inputs, {});
    inputs.carried.accept();
    for (std::int64_t r = 0; r < sequences; ++r)
      for (std::int64_t t = 0; t < 10; ++t)
        CHECK(piece.mean()(r * 10 + t, 0) == Approx(whole.mean()(r * length + first + t, 0)).epsilon(1e-13));
  }
}
