// What a posterior hands to its model and its priors: which rows, whose data, whose state, which noise.
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/mean_field_gaussian.h>
#include <stein/inference/posterior.h>
#include <stein/inference/prediction/predictive.h>
#include <stein/inference/samplers/sgld.h>

#include <algorithm>
#include <catch2/catch.hpp>

using namespace stein;
using namespace stein::inference;

namespace {

/// One row of weights as the model was shown it.
struct Seen {
  std::string what;  ///< "score", "adapt" or "predict"
  std::int64_t row;  ///< by the global count of rows of weights
  double weight, target, buffer;
  const double* place;           ///< of its weight
  const double *before, *after;  ///< its carried state
  NoiseKey noise;
};

/// One weight, one buffer, one carried number, and a note of every row that it is asked about.
class Notebook final : public Model<double> {
 public:
  explicit Notebook(std::vector<Seen>& seen) : seen_(seen) {
    layout_.add("weight", {1}, Role::bias);
    layout_.add_buffer("count", {1});
  }
  const Layout& layout() const override { return layout_; }
  std::int64_t output_count() const override { return 1; }
  std::int64_t carried_size(const Inputs<double>&) const override { return 1; }
  bool concurrent() const override { return false; }
  std::int64_t rows_per_call() const override { return 0; }  // all particles in one call

  void log_likelihood(const ParticleRows<const double>& weights, const Batch<double>& batch, const NoiseKey& noise,
                      const Evaluation<double>& wanted) override {
    for (std::int64_t i = 0; i < weights.values.rows; ++i) {
      const Batch<double> own = rows_of(batch, i);
      note("score", weights, i, own.targets(0, 0), own.inputs.carried, noise);
      if (wanted.wants_gradient()) wanted.gradient(i, 0) = 0;
      if (wanted.wants_value()) wanted.value[i] = 0;
    }
  }
  void adapt(const ParticleRows<const double>& weights, const Batch<double>& batch, const NoiseKey& noise,
             MatrixView<double>) override {
    note("adapt", weights, 0, batch.targets(0, 0), rows_of(batch, 0).inputs.carried, noise);
  }
  void predict(const ParticleRows<const double>& weights, const Inputs<double>& inputs,
               MatrixView<double> outputs) override {
    for (std::int64_t i = 0; i < weights.values.rows; ++i) {
      for (std::int64_t r = 0; r < inputs.rows(); ++r) outputs(i * inputs.rows() + r, 0) = weights.values(i, 0);
      note("predict", weights, i, inputs.dense(0, 0), inputs.carried.block(i, 1), {});
    }
  }

 private:
  void note(const std::string& what, const ParticleRows<const double>& weights, std::int64_t i, double target,
            const CarriedRows<double>& carried, const NoiseKey& noise) {
    seen_.push_back({what, weights.first_row + i, weights.values(i, 0), target,
                     weights.buffers.empty() ? 0 : weights.buffers(i, 0), weights.values.row(i).data(),
                     carried.before.data, carried.after.data, noise});
  }

  Layout layout_;
  std::vector<Seen>& seen_;
};

/// Asks for the residuals of every row, and remembers them and what it was shown.
class Asking final : public Prior<double> {
 public:
  void add_log_density(const ParticleRows<const double>&, const Evaluation<double>&) const override {}
  void observe(const ParticleRows<const double>& coordinates) override { observed += coordinates.values.rows; }
  void adapt(const ParticleRows<const double>& coordinates,
             const std::function<Residuals(std::int64_t)>& residuals) override {
    for (std::int64_t i = 0; i < coordinates.values.rows; ++i) squares.push_back(residuals(i).squares);
  }
  std::vector<double> squares;
  std::int64_t observed = 0;
};

constexpr std::int64_t particles_here = 2, first_row = 4, samples = 3, rows = 2;

/// Particles 4 and 5 of eight, each with two rows of data of its own and three draws of its weight.
struct Case {
  std::vector<Seen> seen;
  Asking* prior;
  std::unique_ptr<Posterior<double>> posterior;
  Particles<double> particles;
  CarriedState<double> state{particles_here * samples, 1};
  std::vector<double> inputs{10, 11, 20, 21}, targets{1, 2, 3, 4};

  Case() : posterior(made()), particles(posterior->layout(), particles_here, first_row, 8) {
    posterior->initialise(particles, 3, 1);
    for (std::int64_t i = 0; i < particles_here; ++i) particles.buffers()(i, 0) = 100 + static_cast<double>(i);
  }
  std::unique_ptr<Posterior<double>> made() {
    auto model = std::make_unique<Notebook>(seen);
    auto family =
        std::make_unique<MeanFieldGaussian<double>>(model->layout(), VariationalOptions{.weight_samples = samples});
    auto asking = std::make_unique<Asking>();
    prior = asking.get();
    std::vector<std::unique_ptr<Prior<double>>> priors;
    priors.push_back(std::move(asking));
    return std::make_unique<Posterior<double>>(std::move(model), std::move(family), std::move(priors));
  }
  Batch<double> batch() {
    Batch<double> own{.inputs = {.dense = {inputs.data(), 4, 1}, .carried = state.rows()},
                      .targets = {targets.data(), 4, 1},
                      .inputs_per_particle = true,
                      .targets_per_particle = true,
                      .rows = rows,
                      .data_size = 2};
    return own;
  }
  /// Everything of a kind, by its row.
  std::vector<Seen> rows_of_kind(const std::string& what) const {
    std::vector<Seen> found;
    std::ranges::copy_if(seen, std::back_inserter(found), [&](const Seen& each) { return each.what == what; });
    std::ranges::stable_sort(found, {}, &Seen::row);
    return found;
  }
};

}  // namespace

TEST_CASE("every draw of the weights has its global row, its particle's data and buffers, and a state of its own",
          "[inference][model_calls]") {
  Case here;
  const NoiseKey noise{.seed = 5, .step = 7, .stream = Stream::model};
  std::vector<double> value(particles_here);
  here.posterior->evaluate(here.particles.coordinates(), here.batch(), noise, {.value = value});
  Matrix<double> weights(particles_here * samples, 1);
  here.posterior->effective_weights(here.particles.coordinates(), noise, weights.view());
  const std::vector<Seen> scored = here.rows_of_kind("score");
  REQUIRE(scored.size() == particles_here * samples);
  for (std::int64_t k = 0; k < particles_here * samples; ++k) {
    const Seen& one = scored[static_cast<std::size_t>(k)];
    const std::int64_t particle = k / samples;
    CHECK(one.row == first_row * samples + k);
    CHECK(one.weight == weights.view()(k, 0));
    CHECK(one.target == here.targets[static_cast<std::size_t>(particle * rows)]);
    CHECK(one.buffer == 100 + static_cast<double>(particle));
    CHECK(one.before == here.state.rows().before.row(k).data());
    CHECK(one.after == here.state.rows().after.row(k).data());
  }
}

TEST_CASE("what follows an accepted step sees the draw, the data and the noise of the gradient that it took",
          "[inference][model_calls]") {
  Case here;
  Sgld<double> sampler({.step = {.step_size = 1e-3}}, here.particles.ensemble(2));
  for (std::uint64_t t = 0; t < 3; ++t) {
    here.seen.clear(), here.prior->squares.clear();
    sampler.step(here.particles, *here.posterior, here.batch());
    const std::vector<Seen> scored = here.rows_of_kind("score"), adapted = here.rows_of_kind("adapt"),
                            predicted = here.rows_of_kind("predict");
    REQUIRE(adapted.size() == particles_here);
    REQUIRE(predicted.size() == particles_here * samples);
    CHECK(scored[0].noise.step == t);
    const NoiseKey noise = scored[0].noise;
    Matrix<double> weights(particles_here * samples, 1);  // at the new place, by the noise of the gradient
    here.posterior->effective_weights(here.particles.coordinates(), noise, weights.view());
    for (std::int64_t i = 0; i < particles_here; ++i) {
      const Seen& one = adapted[static_cast<std::size_t>(i)];
      CHECK(one.row == (first_row + i) * samples);
      CHECK(one.weight == weights.view()(i * samples, 0));
      CHECK(one.noise.step == noise.step);
      CHECK(one.noise.stream == noise.stream);
      CHECK(one.target == here.targets[static_cast<std::size_t>(i * rows)]);
      CHECK(one.buffer == 100 + static_cast<double>(i));
      CHECK(one.before == here.state.rows().before.row(i * samples).data());
      CHECK(one.after == nullptr);  // what the evaluation left stays as it is
      double squares = 0;
      for (std::int64_t s = 0; s < samples; ++s) {
        const Seen& draw = predicted[static_cast<std::size_t>(i * samples + s)];
        CHECK(draw.weight == weights.view()(i * samples + s, 0));
        CHECK(draw.target == here.inputs[static_cast<std::size_t>(i * rows)]);
        CHECK(draw.before == here.state.rows().before.row(i * samples + s).data());
        CHECK(draw.after == nullptr);
        for (std::int64_t r = 0; r < rows; ++r)
          squares += std::pow(here.targets[static_cast<std::size_t>(i * rows + r)] - draw.weight, 2) / samples;
      }
      CHECK(here.prior->squares[static_cast<std::size_t>(i)] == Approx(squares));
    }
  }
}

TEST_CASE("a prior is shown the coordinates of gradients, not of values alone", "[inference][model_calls]") {
  Case here;
  std::vector<double> value(particles_here);
  here.posterior->evaluate(here.particles.coordinates(), here.batch(), {}, {.value = value});
  CHECK(here.prior->observed == 0);
  here.posterior->evaluate(here.particles.coordinates(), here.batch(), {}, {.gradient = here.particles.gradients()});
  CHECK(here.prior->observed == particles_here);
}

TEST_CASE("coordinates that are the weights themselves reach the model where they lie", "[inference][model_calls]") {
  std::vector<Seen> seen;
  auto model = std::make_unique<Notebook>(seen);
  auto direct = std::make_unique<Direct<double>>(model->layout());
  Posterior<double> posterior(std::move(model), std::move(direct), {});
  Particles<double> particles = posterior.initial_particles(3, 1, 1);
  const std::vector<double> x{1, 2}, y{3, 4};
  const Batch<double> batch{
      .inputs = {.dense = {x.data(), 2, 1}}, .targets = {y.data(), 2, 1}, .rows = 2, .data_size = 2};
  Predictive predictive(Likelihood::gaussian, 2, 1);
  posterior.evaluate(particles.coordinates(), batch, {}, {.gradient = particles.gradients()});
  posterior.adapt(particles.coordinates(), batch, {}, particles.buffers());
  add_predictions(predictive, posterior, particles.coordinates(), batch.inputs, {});
  REQUIRE(seen.size() == 9);
  for (const Seen& one : seen) CHECK(one.place == particles.values().row(one.row).data());
}

TEST_CASE("a prediction gives every draw its own state and its particle's buffers", "[inference][model_calls]") {
  Case here;
  Inputs<double> inputs = here.batch().inputs;
  Predictive predictive(Likelihood::gaussian, inputs.rows(), 1);
  const NoiseKey noise{.seed = 5, .step = 1, .stream = Stream::model};
  add_predictions(predictive, *here.posterior, here.particles.coordinates(), inputs, noise);
  Matrix<double> weights(particles_here * samples, 1);
  here.posterior->effective_weights(here.particles.coordinates(), noise, weights.view());
  const std::vector<Seen> predicted = here.rows_of_kind("predict");
  REQUIRE(predicted.size() == particles_here * samples);
  for (std::int64_t k = 0; k < particles_here * samples; ++k) {
    const Seen& one = predicted[static_cast<std::size_t>(k)];
    const std::int64_t particle = k / samples;
    CHECK(one.row == first_row * samples + k);
    CHECK(one.weight == weights.view()(k, 0));
    CHECK(one.buffer == 100 + static_cast<double>(particle));
    CHECK(one.before == here.state.rows().before.row(k).data());
    CHECK(one.after == here.state.rows().after.row(k).data());
  }
}
