// Posterior sharpening (Fortunato et al. 2017, Algorithm 1) against the closed forms of a linear-Gaussian model, and
// its gradients against finite differences with and without g_φ frozen.
#include "core/error_matcher.h"
#include "inference/linear_gaussian.h"

#include <stein/inference/models/sharpened_model.h>
#include <stein/inference/parameterizations/mean_field_gaussian.h>
#include <stein/inference/parameterizations/softplus.h>
#include <stein/inference/targets/variational_objective.h>
#include <stein/torch/particle_mlp_reference.h>

#include <catch2/catch.hpp>
#include <numeric>

using namespace stein;
using namespace stein::inference;

namespace {

std::unique_ptr<SharpenedModel<double>> sharpened(const MlpSpec& spec, const SharpeningOptions& options) {
  return std::make_unique<SharpenedModel<double>>(std::make_unique<ParticleMlpReference<double>>(spec), options);
}

std::unique_ptr<Posterior<double>> objective(const MlpSpec& spec, const SharpeningOptions& options) {
  auto model = sharpened(spec, options);
  auto family = std::make_unique<MeanFieldGaussian<double>>(model->layout(), VariationalOptions{});
  return make_variational_objective<double>(std::move(model), std::move(family), GaussianPriorOptions{});
}

/// The bound of the linear-Gaussian model, with m and A of its likelihood: g = −A(φ − m) of all N/n minibatches, so
/// with r = n/N, θ − m = B(φ − m) + σ₀ε, B = I − r diag(η) A and E (φ − m)(φ − m)ᵀ = diag σ² + (μ − m)(μ − m)ᵀ.
struct SharpenedLaw {
  explicit SharpenedLaw(double sigma) : deviation(sigma) {}
  LinearGaussian data;
  double deviation;
  MatrixXd a = data.precision();
  VectorXd centre = a.ldlt().solve(data.vector());
  double share = 6.0 / 9.0;

  double bound(const VectorXd& mean, const VectorXd& sigma, const VectorXd& rate) const {
    const MatrixXd b = MatrixXd::Identity(3, 3) - share * rate.asDiagonal() * a;
    const MatrixXd second = MatrixXd(sigma.cwiseAbs2().asDiagonal()) + (mean - centre) * (mean - centre).transpose();
    const MatrixXd g_second = share * share * a * second * a.transpose();
    const double variance = deviation * deviation;
    return data.log_likelihood(centre) - ((b.transpose() * a * b * second).trace() + variance * a.trace()) / 2 -
           rate.cwiseAbs2().dot(g_second.diagonal()) / (2 * variance * share) -
           (mean.squaredNorm() + sigma.squaredNorm() - 3) / 2 + sigma.array().log().sum();
  }
  /// ∇ by (μ, σ, η), of `bound` itself by central differences; of first order, for μ and σ, in closed form.
  VectorXd slope(const VectorXd& at, bool exact) const {
    VectorXd gradient(9);
    for (int j = 0; j < 9; ++j) {
      const auto moved = [&](double h) {
        VectorXd x = at;
        x(j) += h;
        return bound(x.head(3), x.segment(3, 3), x.tail(3));
      };
      gradient(j) = (moved(1e-5) - moved(-1e-5)) / 2e-5;
    }
    if (exact) return gradient;
    const VectorXd mean = at.head(3), sigma = at.segment(3, 3);
    const MatrixXd b = MatrixXd::Identity(3, 3) - share * at.tail(3).asDiagonal() * a;
    gradient.head(3) = -a * b * (mean - centre) - mean;
    gradient.segment(3, 3) = -(a * b).diagonal().cwiseProduct(sigma) - sigma + sigma.cwiseInverse();
    return gradient;
  }
};

/// The value of a sharpened model of LinearGaussian's batch at `row`, with the gradient g of `plain` that is given:
/// log p(y | φ − η g + σ₀ε) − ‖η g‖²/(2σ₀²) of a minibatch, times N/n.
double value_with_gradient(const SharpenedModel<double>& model, ParticleMlpReference<double>& plain,
                           std::span<const double> gradient, std::span<const double> row, double deviation,
                           const NoiseKey& noise) {
  const LinearGaussian data;
  const double repeats = 1.5;
  Particles<double> theta(plain.layout(), 1);
  double divergence = 0;
  for (std::int64_t j = 0; j < plain.layout().size(); ++j) theta.values()(0, j) = row[j];
  for (const LayoutEntry& entry : plain.layout().entries()) {
    const LayoutEntry* rates = model.layout().find(entry.name + ".rate");
    for (std::int64_t k = 0; rates != nullptr && k < entry.size(); ++k) {
      const double step = row[rates->offset + k] * gradient[entry.offset + k] / repeats;
      const NoiseKey key{noise.seed, noise.step, Stream::parameterization};
      theta.values()(0, entry.offset + k) +=
          step + deviation * normal_at<double>(key, 0, model.layout().size() + entry.offset + k);
      divergence += step * step / (2 * deviation * deviation);
    }
  }
  std::vector<double> found(1);
  plain.log_likelihood(theta.coordinates(), data.batch(), noise, {.gradient = theta.gradients(), .value = found});
  return found[0] - repeats * divergence;
}

}  // namespace

TEST_CASE("the sharpened bound of a linear-Gaussian model and its gradients have their closed forms",
          "[inference][sharpening]") {
  const SharpeningGradient kind = GENERATE(SharpeningGradient::first_order, SharpeningGradient::exact);
  const double scale = GENERATE(0.0, 0.006, 0.03);
  const SharpenedLaw law(0.3);
  VectorXd at(9), coordinates(9);
  at << 0.2, -0.1, 0.4, 0.13, 0.2, 0.3, scale, -scale / 2, 2 * scale;
  // Coordinates: weight [2], bias, their rates, then ρ.
  coordinates << at.head(3), at.tail(3), at.segment(3, 3).unaryExpr([](double s) { return inverse_softplus(s); });
  const auto target = objective(law.data.spec, {.sharpening_deviation = law.deviation, .gradient = kind});
  constexpr std::int64_t rows = 20'000;
  Particles<double> particles = repeated(target->layout(), coordinates, rows);
  std::vector<double> value(rows);
  target->evaluate(particles.coordinates(), law.data.batch(), {.seed = 6},
                   {.gradient = particles.gradients(), .value = value});

  const VectorXd slope = law.slope(at, kind == SharpeningGradient::exact);
  VectorXd expected(9);
  expected << slope.head(3), slope.tail(3),
      slope.segment(3, 3).cwiseProduct(coordinates.tail(3).unaryExpr([](double rho) { return sigmoid(rho); }));
  CHECK(largest_z(particles.gradients(), expected) < 6.1);
  CHECK(largest_z({value.data(), rows, 1}, VectorXd::Constant(1, law.bound(at.head(3), at.segment(3, 3), at.tail(3)))) <
        6.1);
}

TEST_CASE("sharpened gradients are finite differences of the value, with g frozen or not", "[inference][sharpening]") {
  const SharpeningGradient kind = GENERATE(SharpeningGradient::first_order, SharpeningGradient::exact);
  const MlpSpec spec{
      .inputs = 2, .hidden = {3}, .outputs = 1, .activation = Activation::tanh, .learn_noise_precision = true};
  const LinearGaussian data;
  const auto model = sharpened(spec, {.sharpening_deviation = 0.2, .gradient = kind});
  ParticleMlpReference<double> plain(spec);
  const std::int64_t size = model->layout().size(), inner = plain.layout().size();
  Particles<double> at(model->layout(), 1), moved = at;
  fill_normal(at.values().row(0), {.seed = 9}, 0);
  for (const LayoutEntry& entry : model->layout().entries())
    if (entry.role == Role::rate)
      for (double& eta : at.values().row(0).subspan(entry.offset, entry.extent())) eta *= 0.01;
  const NoiseKey noise{.seed = 4};
  std::vector<double> value(1);
  model->log_likelihood(at.coordinates(), data.batch(), noise, {.gradient = at.gradients(), .value = value});

  Particles<double> base(plain.layout(), 1);
  plain.log_likelihood({{at.values().data, 1, inner}, 0}, data.batch(), noise, {.gradient = base.gradients()});
  const auto frozen_value = [&](std::span<const double> row) {
    return value_with_gradient(*model, plain, base.gradients().row(0), row, 0.2, noise);
  };
  const auto full_value = [&](std::span<const double> row) {
    std::ranges::copy(row, moved.values().row(0).begin());
    std::vector<double> found(1);
    model->log_likelihood(moved.coordinates(), data.batch(), noise, {.gradient = moved.gradients(), .value = found});
    return found[0];
  };
  CHECK(value[0] == Approx(frozen_value(at.values().row(0))).epsilon(1e-12));
  std::vector<double> row(at.values().row(0).begin(), at.values().row(0).end());
  for (std::int64_t j = 0; j < size; ++j) {
    const double x = row[j], h = 1e-5;
    const auto slope_of = [&](const auto& f) {
      row[j] = x + h;
      const double up = f(row);
      row[j] = x - h;
      const double down = f(row);
      row[j] = x;
      return (up - down) / (2 * h);
    };
    const double slope = kind == SharpeningGradient::exact ? slope_of(full_value) : slope_of(frozen_value);
    INFO(model->layout().describe_position(j));
    CHECK(std::abs(slope - at.gradients()(0, j)) < 1e-6 * std::max(1.0, std::abs(slope)));
  }
}

TEST_CASE("matrices of many weights are sharpened weight by weight as small ones are", "[inference][sharpening]") {
  // 40,000 weights in one matrix: more than are worked on at once, and more than one part has.
  const MlpSpec spec{.inputs = 2, .hidden = {20'000}, .outputs = 1, .activation = Activation::tanh};
  constexpr double deviation = 0.02;
  const LinearGaussian data;
  const auto model = sharpened(spec, {.sharpening_deviation = deviation, .gradient = SharpeningGradient::first_order});
  ParticleMlpReference<double> plain(spec);
  const std::int64_t size = model->layout().size(), inner = plain.layout().size();
  Particles<double> at(model->layout(), 1);
  fill_normal(at.values().row(0), {.seed = 9}, 0);
  for (const LayoutEntry& entry : model->layout().entries())
    for (double& number : at.values().row(0).subspan(entry.offset, entry.extent()))
      number *= entry.role == Role::rate ? 1e-3 : entry.name == "layer1.weight" ? 0.01 : 1;
  const NoiseKey noise{.seed = 4};
  std::vector<double> value(1);
  model->log_likelihood(at.coordinates(), data.batch(), noise, {.gradient = at.gradients(), .value = value});
  Particles<double> base(plain.layout(), 1);
  plain.log_likelihood({{at.values().data, 1, inner}, 0}, data.batch(), noise, {.gradient = base.gradients()});
  const std::vector<double> row(at.values().row(0).begin(), at.values().row(0).end());
  const auto value_at = [&](std::span<const double> moved) {
    return value_with_gradient(*model, plain, base.gradients().row(0), moved, deviation, noise);
  };
  CHECK(value[0] == Approx(value_at(row)).epsilon(1e-10));
  // Along random directions the gradient is what the value changes by.
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::vector<double> direction(static_cast<std::size_t>(size)), up = row, down = row;
    fill_normal(std::span(direction), {.seed = seed}, 0);
    double slope = 0;
    constexpr double h = 1e-6;
    for (std::size_t j = 0; j < direction.size(); ++j) {
      slope += direction[j] * at.gradients()(0, static_cast<std::int64_t>(j));
      up[j] += h * direction[j], down[j] -= h * direction[j];
    }
    CHECK((value_at(up) - value_at(down)) / (2 * h) == Approx(slope).epsilon(1e-4));
  }
}

TEST_CASE("the best sharpened bound beats the best plain one and stays below the evidence", "[inference][sharpening]") {
  // The hierarchical model of one minibatch that is all the data: y ~ N(X θ, I/4), θ ~ N(φ, σ₀² I), φ ~ N(0, I), whose
  // evidence is N(y; 0, I/4 + (1 + σ₀²) X Xᵀ).
  SharpenedLaw law(0.3);
  const MatrixXd design = law.data.design();
  law.a = 4 * design.transpose() * design;
  const Eigen::Map<const VectorXd> y(law.data.y.data(), 6);
  law.centre = law.a.ldlt().solve(4 * design.transpose() * y);
  law.share = 1;
  const VectorXd rest = y - design * law.centre;
  const double peak = 6 * 0.5 * std::log(4 / (2 * std::numbers::pi)) - 2 * rest.squaredNorm();
  const double excess = peak - law.data.log_likelihood(law.centre);  // `bound` has the likelihood of N = 9
  const MatrixXd covariance = MatrixXd::Identity(6, 6) / 4 + (1 + 0.09) * design * design.transpose();
  const double evidence = -0.5 * (y.dot(covariance.ldlt().solve(y)) + std::log(covariance.determinant()) +
                                  6 * std::log(2 * std::numbers::pi));

  // Coordinate-wise ascent by Newton's method on the closed form; log σ keeps σ positive.
  const auto value = [&](const VectorXd& z) {
    return law.bound(z.head(3), z.segment(3, 3).array().exp(), z.tail(3)) + excess;
  };
  const auto best = [&](bool sharpen) {
    VectorXd x = VectorXd::Zero(9);
    x.segment(3, 3).setConstant(-1);
    for (int sweep = 0; sweep < 3000; ++sweep)
      for (int j = 0; j < (sharpen ? 9 : 6); ++j) {
        const double h = 1e-4;
        VectorXd up = x, down = x;
        up(j) += h, down(j) -= h;
        const double middle = value(x), slope = (value(up) - value(down)) / (2 * h);
        const double curvature = (value(up) - 2 * middle + value(down)) / (h * h);
        VectorXd next = x;
        next(j) += curvature < 0 ? -slope / curvature : 0.1 * slope;
        if (value(next) > middle) x = next;
      }
    return x;
  };
  const VectorXd at = best(true);
  const double plain = value(best(false)), sharp = value(at);
  INFO("bound without sharpening " << plain << ", with " << sharp << ", evidence " << evidence);
  CHECK(sharp > plain + 1e-3);
  CHECK(sharp <= evidence);
  // What the objective itself says there, as a mean over draws.
  VectorXd coordinates(9);
  coordinates << at.head(3), at.tail(3),
      at.segment(3, 3).unaryExpr([](double log_sigma) { return inverse_softplus(std::exp(log_sigma)); });
  const auto target = objective(law.data.spec, {.sharpening_deviation = law.deviation});
  Batch<double> whole = law.data.batch();
  whole.data_size = 6;
  constexpr std::int64_t rows = 20'000;
  Particles<double> particles = repeated(target->layout(), coordinates, rows);
  std::vector<double> found(rows);
  target->evaluate(particles.coordinates(), whole, {.seed = 8}, {.gradient = particles.gradients(), .value = found});
  CHECK(largest_z({found.data(), rows, 1}, VectorXd::Constant(1, sharp)) < 6.1);
  CHECK(std::accumulate(found.begin(), found.end(), 0.0) / rows < evidence);
  // The model without the hierarchy, beside them: plain Bayes by Backprop, another model with another evidence.
  const MatrixXd flat = MatrixXd::Identity(6, 6) / 4 + design * design.transpose();
  const double plain_evidence =
      -0.5 * (y.dot(flat.ldlt().solve(y)) + std::log(flat.determinant()) + 6 * std::log(2 * std::numbers::pi));
  const MatrixXd precision = law.a + MatrixXd::Identity(3, 3);
  const VectorXd mode = precision.ldlt().solve(law.a * law.centre);
  const double bbb = peak - (mode - law.centre).dot(law.a * (mode - law.centre)) / 2 - mode.squaredNorm() / 2 -
                     precision.diagonal().array().log().sum() / 2;
  WARN("sharpened bound " << sharp << ", at rate 0 " << plain << ", evidence " << evidence
                          << "; Bayes by Backprop bound " << bbb << ", evidence of its model " << plain_evidence);
  CHECK(bbb <= plain_evidence);
}

TEST_CASE("the published weight of the divergence is B times that of the full joint", "[inference][sharpening]") {
  const LinearGaussian data;
  const auto joint = objective(data.spec, {.initial_rate = 0.01});
  const auto published =
      objective(data.spec, {.initial_rate = 0.01, .objective = SharpeningObjective::as_published, .minibatches = 4});
  Particles<double> one = joint->initial_particles(3, 2, 1), other = one;
  Batch<double> batch = data.batch();
  joint->evaluate(one.coordinates(), batch, {.seed = 1}, {.gradient = one.gradients()});
  batch.data_size *= 4;  // a likelihood four times as large, divided by four
  published->evaluate(other.coordinates(), batch, {.seed = 1}, {.gradient = other.gradients()});
  for (std::int64_t j = 0; j < one.size(); ++j)
    CHECK(one.gradients()(1, j) == Approx(other.gradients()(1, j)).epsilon(1e-10));
}

TEST_CASE("rates told in another scale are the same rates, and their slopes are multiplied with it",
          "[inference][sharpening]") {
  const LinearGaussian data;
  for (const SharpeningGradient kind : {SharpeningGradient::first_order, SharpeningGradient::exact}) {
    const auto plain = sharpened(data.spec, {.initial_rate = 0.04, .gradient = kind});
    const auto scaled = sharpened(data.spec, {.initial_rate = 0.04, .rate_scale = 0.25, .gradient = kind});
    CHECK(scaled->initial_value(scaled->layout().entries().back()) == 0.16);
    Particles<double> one(plain->layout(), 1), other = one;
    fill_normal(one.values().row(0), {.seed = 9}, 0);
    for (std::int64_t j = 0; j < 6; ++j) other.values()(0, j) = one.values()(0, j) * (j < 3 ? 1 : 4);
    std::vector<double> first(1), second(1);
    plain->log_likelihood(one.coordinates(), data.batch(), {.seed = 4}, {.gradient = one.gradients(), .value = first});
    scaled->log_likelihood(other.coordinates(), data.batch(), {.seed = 4},
                           {.gradient = other.gradients(), .value = second});
    CHECK(first[0] == Approx(second[0]).epsilon(1e-12));
    for (std::int64_t j = 0; j < 6; ++j)
      CHECK(other.gradients()(0, j) == Approx(one.gradients()(0, j) * (j < 3 ? 1 : 0.25)).epsilon(1e-9));
  }
}

TEST_CASE("a call has the same numbers after one of more rows and after one of fewer", "[inference][sharpening]") {
  const LinearGaussian data;
  const auto model = sharpened(data.spec, {.sharpening_deviation = 0.2});
  Particles<double> at(model->layout(), 3);
  for (std::int64_t i = 0; i < 3; ++i) fill_normal(at.values().row(i), {.seed = 9}, static_cast<std::uint32_t>(i));
  const auto values = [&](SharpenedModel<double>& with, std::int64_t rows) {
    std::vector<double> value(static_cast<std::size_t>(rows));
    with.log_likelihood(at.coordinates().block(0, rows), data.batch(), {.seed = 4},
                        {.gradient = at.gradients().block(0, rows), .value = value});
    return value;
  };
  std::vector<std::vector<double>> alone;
  for (const std::int64_t rows : {1, 2, 3})
    alone.push_back(values(*sharpened(data.spec, {.sharpening_deviation = 0.2}), rows));
  for (const std::int64_t rows : {2, 3, 1, 2}) CHECK(values(*model, rows) == alone[static_cast<std::size_t>(rows - 1)]);
}

TEST_CASE("predictions under sharpening: at φ alone, or the bound of the minibatch", "[inference][sharpening]") {
  const LinearGaussian data;
  const auto model = sharpened(data.spec, {.sharpening_deviation = 1e-9, .initial_rate = 0.02});
  ParticleMlpReference<double> plain(data.spec);
  Particles<double> at(model->layout(), 2);
  fill_normal(at.values().row(0), {.seed = 9}, 0);
  for (std::int64_t j = 0; j < 3; ++j) at.values()(1, j) = at.values()(0, j);  // and no rates: θ = φ
  std::vector<double> outputs(12), plain_outputs(12), value(2), plain_value(2);
  const ParticleRows<const double> weights{{at.values().data, 2, 3, at.values().stride}, 0};
  model->predict(at.coordinates(), data.batch().inputs, {outputs.data(), 12, 1});
  plain.predict(weights, data.batch().inputs, {plain_outputs.data(), 12, 1});
  CHECK(outputs == plain_outputs);

  Batch<double> alone = data.batch();
  alone.data_size = 6;
  model->bound(at.coordinates(), data.batch(), {.seed = 1}, value);
  plain.log_likelihood(weights, alone, {.seed = 1},
                       {.gradient = {at.gradients().data, 2, 3, at.gradients().stride}, .value = plain_value});
  CHECK(value[1] == Approx(plain_value[1]).epsilon(1e-7));
  CHECK(value[0] < value[1]);  // moving is paid for where σ₀ is small
}

TEST_CASE("sharpening refuses what makes no sense", "[inference][sharpening]") {
  CHECK_ERROR(sharpened({.inputs = 2}, {.sharpening_deviation = 0}), usage, "sharpening_deviation");
  CHECK_ERROR(sharpened({.inputs = 2}, {.minibatches = 0}), usage, "minibatches");
}
