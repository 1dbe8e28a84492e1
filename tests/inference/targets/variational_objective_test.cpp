// Variational families against closed forms: the bound of a linear-Gaussian model, its gradient and its optimum.
#include "core/error_matcher.h"
#include "inference/chain_statistics.h"
#include "inference/linear_gaussian.h"
#include "inference/proof_record.h"

#include <stein/inference/parameterizations/mean_field_gaussian.h>
#include <stein/inference/parameterizations/softplus.h>
#include <stein/inference/parameterizations/variational_matrix_gaussian.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/targets/variational_objective.h>
#include <stein/torch/particle_mlp_reference.h>

#include <catch2/catch.hpp>

using namespace stein;
using namespace stein::inference;

namespace {

enum class Family { mean_field, matrix };

std::unique_ptr<VariationalFamily<double>> make_family(Family family, const Layout& weights,
                                                       const VariationalOptions& options = {}) {
  if (family == Family::mean_field) return std::make_unique<MeanFieldGaussian<double>>(weights, options);
  return std::make_unique<VariationalMatrixGaussian<double>>(weights, options);
}

std::unique_ptr<Posterior<double>> make_objective(Family family, const MlpSpec& spec, Divergence divergence,
                                                  const VariationalOptions& options = {},
                                                  const GaussianPriorOptions& prior = {}) {
  auto model = std::make_unique<ParticleMlpReference<double>>(spec);
  auto law = make_family(family, model->layout(), options);
  return make_variational_objective<double>(std::move(model), std::move(law), prior, divergence);
}

/// y_j ~ N(w_j·x + b_j, 1/4) for two outputs, so that noise scales of rows and columns meet: the precision of every
/// output's coefficients is the same. Every row may be there several times, a minibatch has each of them once.
struct TwoOutputs : LinearGaussian {
  explicit TwoOutputs(double copies = 1) : times(copies) {
    spec.outputs = 2;
    y = {0.4, -1, 0.9, 0.3, -0.6, 0.2, 1.1, 0.5, -0.2, 0.8, 0.7, -0.1};
  }
  Batch<double> batch() const {
    Batch<double> batch = LinearGaussian::batch();
    batch.targets = {y.data(), 6, 2};
    batch.data_size *= times;
    return batch;
  }
  MatrixXd precision() const { return times * LinearGaussian::precision() + MatrixXd::Identity(3, 3); }
  MatrixXd right_side() const {
    const Eigen::Map<const Eigen::Matrix<double, 6, 2, Eigen::RowMajor>> targets(y.data());
    return times * 1.5 * 4 * design().transpose() * targets;
  }
  /// Posterior means, [w of x₁; w of x₂; b] by output.
  MatrixXd centre() const { return precision().ldlt().solve(right_side()); }
  double log_likelihood(const MatrixXd& theta) const {
    const Eigen::Map<const Eigen::Matrix<double, 6, 2, Eigen::RowMajor>> targets(y.data());
    const MatrixXd rest = targets - design() * theta;
    return times * 1.5 * (12 * 0.5 * std::log(4 / (2 * std::numbers::pi)) - 2 * rest.squaredNorm());
  }
  double times;
};

/// The largest relative difference between the gradient and central differences of the value at the same noise.
double finite_difference_error(Posterior<double>& target, Particles<double>& particles, const Batch<double>& batch) {
  const NoiseKey noise{.seed = 3, .step = 2};
  std::vector<double> value(static_cast<std::size_t>(particles.rows()));
  target.evaluate(particles.coordinates(), batch, noise, {.gradient = particles.gradients(), .value = value});
  Particles<double> moved = particles;
  double largest = 0;
  for (std::int64_t i = 0; i < particles.rows(); ++i)
    for (std::int64_t j = 0; j < particles.size(); ++j) {
      const double x = particles.values()(i, j), h = 1e-5;
      std::vector<double> up(value.size()), down(value.size());
      moved.values()(i, j) = x + h;
      target.evaluate(moved.coordinates(), batch, noise, {.gradient = moved.gradients(), .value = up});
      moved.values()(i, j) = x - h;
      target.evaluate(moved.coordinates(), batch, noise, {.gradient = moved.gradients(), .value = down});
      moved.values()(i, j) = x;
      const double slope = (up[i] - down[i]) / (2 * h);
      largest = std::max(largest, std::abs(slope - particles.gradients()(i, j)) / std::max(1.0, std::abs(slope)));
    }
  return largest;
}

}  // namespace

TEST_CASE("the mean-field bound of a linear-Gaussian model and its gradient have their closed forms",
          "[inference][variational]") {
  // log joint = k − (θ − m)ᵀ Λ (θ − m)/2 with Λ = A + I, so the ELBO at (μ, σ) is
  // k − (μ − m)ᵀ Λ (μ − m)/2 − Σ Λ_jj σ_j²/2 + Σ log σ_j + 3/2 log 2πe; its optimum is μ = m, σ_j² = 1/Λ_jj.
  const LinearGaussian data;
  const MatrixXd precision = data.precision() + MatrixXd::Identity(3, 3);
  const VectorXd centre = precision.ldlt().solve(data.vector());
  const std::int64_t samples = GENERATE(1, 3);
  const Divergence divergence = GENERATE(Divergence::closed_form, Divergence::one_sample);
  const bool at_optimum = GENERATE(true, false);
  const VectorXd mean = at_optimum ? centre : VectorXd{{0.1, -0.3, 0.6}};
  VectorXd sigma = precision.diagonal().cwiseSqrt().cwiseInverse();
  if (!at_optimum) sigma *= 1.7;
  VectorXd coordinates(6);
  coordinates << mean, sigma.unaryExpr([](double s) { return inverse_softplus(s); });

  const auto target = make_objective(Family::mean_field, data.spec, divergence, {.weight_samples = samples});
  constexpr std::int64_t rows = 4000;
  Particles<double> particles = repeated(target->layout(), coordinates, rows);
  std::vector<double> value(rows);
  target->evaluate(particles.coordinates(), data.batch(), {.seed = 5},
                   {.gradient = particles.gradients(), .value = value});

  VectorXd law(6);
  law << -precision * (mean - centre),
      (sigma.cwiseInverse() - precision.diagonal().cwiseProduct(sigma)).array() *
          coordinates.tail(3).array().unaryExpr([](double rho) { return sigmoid(rho); });
  if (at_optimum) CHECK(law.cwiseAbs().maxCoeff() < 1e-12);
  CHECK(largest_z(particles.gradients(), law) < 6.1);
  const double log_joint =
      data.log_likelihood(centre) - centre.squaredNorm() / 2 - 1.5 * std::log(2 * std::numbers::pi);
  const double elbo = log_joint - (mean - centre).dot(precision * (mean - centre)) / 2 -
                      precision.diagonal().dot(sigma.cwiseAbs2()) / 2 + sigma.array().log().sum() +
                      1.5 * std::log(2 * std::numbers::pi * std::numbers::e);
  CHECK(largest_z({value.data(), rows, 1}, VectorXd::Constant(1, elbo)) < 6.1);

  std::vector<double> again(rows);
  target->evaluate(particles.coordinates(), data.batch(), {.seed = 5},
                   {.gradient = particles.gradients(), .value = again});
  CHECK(again == value);
  target->evaluate(particles.coordinates(), data.batch(), {.seed = 5, .step = 1},
                   {.gradient = particles.gradients(), .value = again});
  CHECK(again != value);
}

TEST_CASE("the variational matrix Gaussian's bound and gradient have their closed forms", "[inference][variational]") {
  // As above for every output; the variance of W_ij is u_i² v_j².
  const TwoOutputs data;
  const MatrixXd precision = data.precision(), centre = data.centre();
  const Divergence divergence = GENERATE(Divergence::closed_form, Divergence::one_sample);
  const MatrixXd mean{{0.1, -0.2}, {0.4, 0.3}, {-0.5, 0.2}};
  const VectorXd u{{0.4, 0.7}}, v{{1.2, 0.6}}, bias_deviation{{0.3, 0.5}};
  VectorXd coordinates(12);
  coordinates << mean(0, 0), mean(0, 1), mean(1, 0), mean(1, 1), mean(2, 0), mean(2, 1), u.array().log(),
      v.array().log(), inverse_softplus(bias_deviation(0)), inverse_softplus(bias_deviation(1));

  const auto target = make_objective(Family::matrix, data.spec, divergence);
  constexpr std::int64_t rows = 8000;
  Particles<double> particles = repeated(target->layout(), coordinates, rows);
  std::vector<double> value(rows);
  target->evaluate(particles.coordinates(), data.batch(), {.seed = 7},
                   {.gradient = particles.gradients(), .value = value});

  const MatrixXd pull = -precision * (mean - centre);
  VectorXd law(12);
  law << pull(0, 0), pull(0, 1), pull(1, 0), pull(1, 1), pull(2, 0), pull(2, 1),
      2 - v.squaredNorm() * u(0) * u(0) * precision(0, 0), 2 - v.squaredNorm() * u(1) * u(1) * precision(1, 1),
      2 - v(0) * v(0) * u.cwiseAbs2().dot(precision.diagonal().head(2)),
      2 - v(1) * v(1) * u.cwiseAbs2().dot(precision.diagonal().head(2)),
      (1 / bias_deviation(0) - precision(2, 2) * bias_deviation(0)) * sigmoid(coordinates(10)),
      (1 / bias_deviation(1) - precision(2, 2) * bias_deviation(1)) * sigmoid(coordinates(11));
  CHECK(largest_z(particles.gradients(), law) < 6.1);

  const double log_joint = data.log_likelihood(centre) - centre.squaredNorm() / 2 - 3 * std::log(2 * std::numbers::pi);
  const double elbo = log_joint - ((mean - centre).transpose() * precision * (mean - centre)).trace() / 2 -
                      (v.squaredNorm() * u.cwiseAbs2().dot(precision.diagonal().head(2)) +
                       precision(2, 2) * bias_deviation.squaredNorm()) /
                          2 +
                      2 * u.array().log().sum() + 2 * v.array().log().sum() + bias_deviation.array().log().sum() +
                      3 * std::log(2 * std::numbers::pi * std::numbers::e);
  CHECK(largest_z({value.data(), rows, 1}, VectorXd::Constant(1, elbo)) < 6.1);
}

TEST_CASE("the divergence of the variational matrix Gaussian from N(0, I) is that of the paper",
          "[inference][variational]") {
  Layout layout;
  layout.add("weight", {3, 4}, Role::weight, 0, 8);
  VariationalMatrixGaussian<double> family(layout, {});
  Particles<double> particles(family.coordinates(), 1);
  fill_normal(particles.values().row(0), {.seed = 4}, 0);
  std::vector<double> found(1);
  family.include_gaussian_prior([](const std::string&) { return 1.0; });
  family.add_entropy(particles.coordinates(), found);
  const auto row = particles.values().row(0);
  const Eigen::Map<const VectorXd> mean(row.data(), 12), left(row.data() + 12, 3), right(row.data() + 15, 4);
  const double divergence = 0.5 * (left.array().exp().square().sum() * right.array().exp().square().sum() +
                                   mean.squaredNorm() - 12 - 2 * 4 * left.sum() - 2 * 3 * right.sum());
  CHECK(found[0] == Approx(-divergence).epsilon(1e-12));
}

TEST_CASE("gradients of variational objectives agree with finite differences", "[inference][variational]") {
  const Family family = GENERATE(Family::mean_field, Family::matrix);
  const Divergence divergence = GENERATE(Divergence::closed_form, Divergence::one_sample);
  const std::int64_t samples = GENERATE(1, 2);
  const MlpSpec spec{
      .inputs = 2, .hidden = {3}, .outputs = 2, .activation = Activation::tanh, .learn_noise_precision = true};
  const TwoOutputs data;
  const auto target = make_objective(family, spec, divergence, {.weight_samples = samples}, {.weight_precision = 2});
  Particles<double> particles = target->initial_particles(2, 8, 1);
  CHECK(finite_difference_error(*target, particles, data.batch()) < 1e-7);

  auto model = std::make_unique<ParticleMlpReference<double>>(spec);
  auto law = make_family(family, model->layout());
  const auto mixture = make_variational_objective<double>(std::move(model), std::move(law),
                                                          ScaleMixtureOptions{.log_narrow_deviation = -2});
  CHECK(finite_difference_error(*mixture, particles, data.batch()) < 1e-6);
}

TEST_CASE("a bound without its likelihood is the prior's part of it", "[inference][variational]") {
  const TwoOutputs data;
  const NoiseKey noise{.seed = 3};
  std::vector<std::unique_ptr<Posterior<double>>> targets;
  for (const Family family : {Family::mean_field, Family::matrix})
    for (const Divergence divergence : {Divergence::closed_form, Divergence::one_sample})
      targets.push_back(make_objective(family, data.spec, divergence, {.weight_samples = 3}, {.weight_precision = 2}));
  auto model = std::make_unique<ParticleMlpReference<double>>(data.spec);
  auto law = make_family(Family::mean_field, model->layout(), {.weight_samples = 2});
  targets.push_back(make_variational_objective<double>(std::move(model), std::move(law), ScaleMixtureOptions{}));
  for (const auto& target : targets) {
    const Particles<double> particles = target->initial_particles(2, 8, 1);
    std::vector<double> whole(2), prior(2), likelihood(static_cast<std::size_t>(2 * target->weight_samples()));
    target->evaluate(particles.coordinates(), data.batch(), noise, {.value = whole});
    target->evaluate_prior(particles.coordinates(), noise, prior);
    Matrix<double> weights(std::ssize(likelihood), target->weight_layout().size());
    target->effective_weights(particles.coordinates(), noise, weights.view());
    Batch<double> batch = data.batch();
    batch.weight_samples = target->weight_samples();
    target->model().log_likelihood({std::as_const(weights).view(), 0}, batch, noise, {.value = likelihood});
    for (std::size_t i = 0; i < 2; ++i) {
      double mean = 0;
      for (std::int64_t s = 0; s < target->weight_samples(); ++s)
        mean += likelihood[i * static_cast<std::size_t>(target->weight_samples()) + static_cast<std::size_t>(s)] /
                static_cast<double>(target->weight_samples());
      CHECK(whole[i] - prior[i] == Approx(mean).epsilon(1e-10));
    }
  }
}

TEST_CASE("the losses that are reported sum to minus the bound over an epoch", "[inference][variational]") {
  const LinearGaussian data;
  const auto target = make_objective(Family::mean_field, data.spec, Divergence::closed_form);
  const Particles<double> particles = target->initial_particles(1, 8, 1);
  Particles<double> work = particles;
  const NoiseKey noise{.seed = 3};  // one draw of the weights, so that nothing is left to chance
  double sum = 0;
  std::vector<double> value(1);
  for (std::int64_t first = 0; first < 6; first += 2) {
    Batch<double> batch = data.batch();
    batch.inputs.dense = batch.inputs.dense.block(first, 2);
    batch.targets = batch.targets.block(first, 2);
    batch.rows = 2, batch.data_size = 6;
    target->evaluate(particles.coordinates(), batch, noise, {.gradient = work.gradients(), .value = value});
    sum += variational_loss(value[0], batch);
  }
  Batch<double> all = data.batch();
  all.data_size = 6;
  target->evaluate(particles.coordinates(), all, noise, {.gradient = work.gradients(), .value = value});
  CHECK(sum == Approx(-value[0]).epsilon(1e-12));
}

namespace {

/// Where 64 independent runs end: means, then variances of [w₁₁ w₁₂ w₂₁ w₂₂ b₁ b₂].
class Optima {
 public:
  Optima(Family family, const TwoOutputs& data) {
    const auto target = make_objective(family, data.spec, Divergence::closed_form, {.weight_samples = 4});
    Particles<double> particles = target->initial_particles(64, 9, 1);
    Optimizer<double> optimizer({.method = OptimizerMethod::sgd,
                                 .step = {.step_size = 0.02, .step_decay_steps = 400, .step_decay_exponent = 1},
                                 .momentum = 0},
                                particles.ensemble(10));
    for (int t = 0; t < 4000; ++t) optimizer.step(particles, *target, data.batch());
    for (int i = 0; i < 64; ++i) {
      const auto row = particles.values().row(i);
      for (int j = 0; j < 6; ++j) {
        found_(i, j) = row[j];
        const double deviation =
            family == Family::mean_field || j >= 4 ? softplus(row[6 + j]) : std::exp(row[6 + j / 2] + row[8 + j % 2]);
        found_(i, 6 + j) = deviation * deviation;
      }
    }
  }
  /// The largest |z| of their averages: μ = m, and the variance of W_ij is 1/Λ_ii, the same for every output, which
  /// u_i² v_j² can be.
  double largest_z(const TwoOutputs& data) const { return inference::largest_z({found_.data(), 64, 12}, law(data)); }
  /// The largest distance of an average from its law, as a share of the variance's.
  double distance(const TwoOutputs& data) const {
    const VectorXd exact = law(data);
    VectorXd unit = VectorXd::Ones(12);
    unit.tail(6) = exact.tail(6);
    return ((found_.colwise().mean().transpose() - exact).cwiseQuotient(unit)).cwiseAbs().maxCoeff();
  }

 private:
  static VectorXd law(const TwoOutputs& data) {
    const MatrixXd precision = data.precision(), centre = data.centre();
    VectorXd law(12);
    for (int j = 0; j < 6; ++j) law(j) = centre(j / 2, j % 2), law(6 + j) = 1 / precision(j / 2, j / 2);
    return law;
  }
  Eigen::Matrix<double, 64, 12, Eigen::RowMajor> found_;
};

const char* name_of(Family family) {
  return family == Family::mean_field ? "mean-field Gaussian" : "variational matrix Gaussian";
}

}  // namespace

TEST_CASE("an optimizer takes both families to the optimum of the bound", "[inference][variational][proof][slow]") {
  const Family family = GENERATE(Family::mean_field, Family::matrix);
  const TwoOutputs data;
  const Optima found(family, data);
  CHECK(recorded_z(name_of(family), "linear regression", found.largest_z(data)) < critical_value);
  CHECK(found.distance(data) < 0.02);
}

TEST_CASE("the data twice, half of them at a time, give both families the optimum of twice the data",
          "[inference][variational][proof][slow]") {
  const Family family = GENERATE(Family::mean_field, Family::matrix);
  const TwoOutputs twice(2);
  const Optima found(family, twice);
  CHECK(recorded_z(name_of(family), "data twice", found.largest_z(twice)) < critical_value);
  CHECK(found.largest_z(TwoOutputs()) > mutant_value);
  CHECK(found.distance(twice) < 0.02);
}

TEST_CASE("draws depend on seed, step, global row and unpadded index alone", "[inference][variational]") {
  const Family family = GENERATE(Family::mean_field, Family::matrix);
  const MlpSpec spec{.inputs = 3, .hidden = {5}, .outputs = 2};
  const auto plain = make_family(family, mlp_layout(spec), {.weight_samples = 2});
  const auto padded = make_family(family, mlp_layout(spec, 4), {.weight_samples = 2});
  Particles<double> all(plain->coordinates(), 4), half(plain->coordinates(), 2, 2, 4);
  plain->initialise(all, 5, 1);
  plain->initialise(half, 5, 1);
  for (std::int64_t i = 0; i < 2; ++i) CHECK(std::ranges::equal(all.values().row(2 + i), half.values().row(i)));

  const NoiseKey noise{.seed = 6, .step = 7};
  Particles<double> weights(plain->weights(), 8), shard(plain->weights(), 4);
  plain->forward(all.coordinates(), noise, weights.values(), *plain->make_trace());
  plain->forward(half.coordinates(), noise, shard.values(), *plain->make_trace());
  for (std::int64_t i = 0; i < 4; ++i) CHECK(std::ranges::equal(weights.values().row(4 + i), shard.values().row(i)));

  std::vector<double> wide(static_cast<std::size_t>(8 * padded->weights().size()), 1.0);
  const MatrixView<double> rows{wide.data(), 8, padded->weights().size()};
  padded->forward(all.coordinates(), noise, rows, *padded->make_trace());
  for (const LayoutEntry& entry : padded->weights().entries()) {
    const LayoutEntry& place = plain->weights().at(entry.name);
    for (std::int64_t i = 0; i < 8; ++i)
      for (std::int64_t r = 0; r < entry.rows(); ++r)
        for (std::int64_t c = 0; c < entry.row_stride; ++c)
          CHECK(rows(i, entry.offset + r * entry.row_stride + c) ==
                (c < entry.columns() ? weights.values()(i, place.offset + r * place.row_stride + c) : 0));
  }
}

TEST_CASE("variational families refuse what makes no sense", "[inference][variational]") {
  const Layout layout = mlp_layout({.inputs = 2});
  CHECK_ERROR(MeanFieldGaussian<double>(layout, {.weight_samples = 0}), usage, "weight_samples");
  CHECK_ERROR(MeanFieldGaussian<double>(layout, {.initial_deviation_low = 0.2, .initial_deviation_high = 0.1}), usage,
              "low ≤ high", "0.2", "0.1");
  CHECK_ERROR(VariationalMatrixGaussian<double>(layout, {.initial_deviation_low = 0}), usage, "initial_deviation_low");
  for (const Divergence divergence : {Divergence::closed_form, Divergence::one_sample})
    CHECK_ERROR(make_objective(Family::mean_field, {.inputs = 2}, divergence, {}, {.learn_weight_precision = true}),
                usage, "fixed precision");
}
