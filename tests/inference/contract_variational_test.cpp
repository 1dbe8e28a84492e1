// Sketches that keep the contract honest, not part of the library: Bayes by Backprop as a stochastic Parameterization
// inside `Posterior`, and posterior sharpening (Fortunato et al. 2017) as a Target that asks its model twice.
#include <stein/inference/direct.h>
#include <stein/inference/posterior.h>
#include <stein/inference/reference/particle_mlp_reference.h>

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

using namespace stein;
using namespace stein::inference;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double softplus(double x) {
  return std::log1p(std::exp(x));
}
double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// θ = μ + softplus(ρ) ∘ ε with S draws of ε a row.
class MeanField final : public Parameterization<double> {
 public:
  MeanField(Layout weights, std::int64_t samples)
      : weights_(std::move(weights)), coordinates_(without_padding(weights_)), samples_(samples) {
    for (const LayoutEntry& entry : weights_.entries())
      coordinates_.add(entry.name + ".log_deviation", entry.shape, Role::log_deviation, entry.layer);
  }
  const Layout& coordinates() const override { return coordinates_; }
  const Layout& weights() const override { return weights_; }
  std::int64_t samples() const override { return samples_; }

  void forward(const ParticleRows<const double>& coordinates, std::int64_t, const NoiseKey& noise,
               MatrixView<double> weights) override {
    for (std::int64_t i = 0; i < weights.rows; ++i)
      for (std::int64_t j = 0; j < size(); ++j) {
        const auto row = coordinates.values.row(i / samples_);
        weights(i, j) = row[j] + softplus(row[size() + j]) * epsilon(coordinates, noise, i, j);
      }
  }
  void pullback(const ParticleRows<const double>& coordinates, std::int64_t, const NoiseKey& noise,
                MatrixView<const double> weight_gradient, MatrixView<double> gradient) override {
    for (std::int64_t i = 0; i < gradient.rows; ++i) std::ranges::fill(gradient.row(i), 0.0);
    for (std::int64_t i = 0; i < weight_gradient.rows; ++i)
      for (std::int64_t j = 0; j < size(); ++j) {
        gradient(i / samples_, j) += weight_gradient(i, j);
        gradient(i / samples_, size() + j) += weight_gradient(i, j) * epsilon(coordinates, noise, i, j) *
                                              sigmoid(coordinates.values(i / samples_, size() + j));
      }
  }
  void add_entropy(const ParticleRows<const double>& coordinates, MatrixView<double> gradient,
                   std::span<double> value) override {
    for (std::int64_t i = 0; i < gradient.rows; ++i)
      for (std::int64_t j = 0; j < size(); ++j) {
        const double rho = coordinates.values(i, size() + j);
        gradient(i, size() + j) += sigmoid(rho) / softplus(rho);
        if (!value.empty())
          value[i] += std::log(softplus(rho)) + 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
      }
  }
  void initialise(Particles<double>& particles, std::uint64_t seed, double spread) override {
    initialise_coordinates(particles, seed, spread);
  }

 private:
  std::int64_t size() const { return weights_.size(); }
  double epsilon(const ParticleRows<const double>& coordinates, const NoiseKey& noise, std::int64_t i,
                 std::int64_t j) const {
    return normal_at<double>({noise.seed, noise.step, Stream::parameterization},
                             static_cast<std::uint32_t>(coordinates.first_row * samples_ + i), j);
  }
  Layout weights_, coordinates_;
  std::int64_t samples_;
};

/// θ ~ N(0, I), in the space of the weights.
class UnitNormal final : public Prior<double> {
 public:
  PriorSpace space() const override { return PriorSpace::weights; }
  void add_gradient(const ParticleRows<const double>& rows, MatrixView<double> gradient,
                    std::span<double> value) const override {
    const MatrixView<const double> values = rows.values;
    for (std::int64_t i = 0; i < values.rows; ++i)
      for (std::int64_t j = 0; j < values.columns; ++j) {
        gradient(i, j) -= values(i, j);
        if (!value.empty()) value[i] -= values(i, j) * values(i, j) / 2 + 0.5 * std::log(2 * std::numbers::pi);
      }
  }
};

/// φ ~ N(μ, σ²), g = ∇ log p(y | φ), θ ~ N(φ + η ∘ g, σ₀² I); the value is one draw of
/// log p(y | θ) − ‖η ∘ g‖²/(2σ₀²) − KL(N(μ, σ²) ‖ N(0, I)), the gradient of first order (g held constant in φ).
class SharpenedObjective final : public Target<double> {
 public:
  SharpenedObjective(Model<double>& model, double deviation) : model_(model), deviation_(deviation) {
    for (const char* name : {"mean", "log_deviation", "rate"}) layout_.add(name, {size()}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }

  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>& batch, const NoiseKey& noise,
                MatrixView<double> gradient, std::span<double> value) override {
    const std::int64_t rows = coordinates.values.rows, p = size();
    const NoiseKey key{noise.seed, noise.step, Stream::parameterization};
    Particles<double> base(model_.layout(), rows, coordinates.first_row, coordinates.first_row + rows);
    Particles<double> sharp = base;
    std::vector<double> log_likelihood(static_cast<std::size_t>(rows));
    const auto draw = [&](std::int64_t i, std::int64_t j) {
      return normal_at<double>(key, static_cast<std::uint32_t>(coordinates.first_row + i), j);
    };
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < p; ++j)
        base.values()(i, j) = coordinates.values(i, j) + softplus(coordinates.values(i, p + j)) * draw(i, j);
    model_.log_likelihood(base.coordinates(), batch, noise, base.gradients(), {});
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < p; ++j)
        sharp.values()(i, j) = base.values()(i, j) + coordinates.values(i, 2 * p + j) * base.gradients()(i, j) +
                               deviation_ * draw(i, p + j);
    model_.log_likelihood(sharp.coordinates(), batch, noise, sharp.gradients(), log_likelihood);

    for (std::int64_t i = 0; i < rows; ++i) {
      double divergence = 0;
      for (std::int64_t j = 0; j < p; ++j) {
        const double mean = coordinates.values(i, j), rho = coordinates.values(i, p + j), sigma = softplus(rho);
        const double rate = coordinates.values(i, 2 * p + j), g = base.gradients()(i, j),
                     slope = sharp.gradients()(i, j);
        gradient(i, j) = slope - mean;
        gradient(i, p + j) = (slope * draw(i, j) - sigma + 1 / sigma) * sigmoid(rho);
        gradient(i, 2 * p + j) = g * slope - rate * g * g / (deviation_ * deviation_);
        divergence += rate * rate * g * g / (2 * deviation_ * deviation_) + (mean * mean + sigma * sigma - 1) / 2 -
                      std::log(sigma);
      }
      if (!value.empty()) value[i] = log_likelihood[i] - divergence;
    }
  }

 private:
  std::int64_t size() const { return model_.layout().size(); }
  Model<double>& model_;
  double deviation_;
  Layout layout_;
};

/// y ~ N(w·x + b, 1/4) with two inputs, six rows standing for N = 9: log p(y | θ) = c − (θ − m)ᵀ A (θ − m)/2.
struct LinearGaussian {
  MlpSpec spec{.inputs = 2, .outputs = 1, .noise_precision = 4};
  std::vector<double> x{0.5, -1, 1, 0.25, -0.75, 0.5, 0.25, 1, -0.5, -0.5, 1.25, 0};
  std::vector<double> y{0.4, 0.9, -0.6, 1.1, -0.2, 0.7};
  Batch<double> batch() const {
    return {.inputs = {.dense = {x.data(), 6, 2}}, .targets = {y.data(), 6, 1}, .rows = 6, .data_size = 9};
  }
  MatrixXd design() const {
    MatrixXd design(6, 3);
    for (int i = 0; i < 6; ++i) design.row(i) << x[2 * i], x[2 * i + 1], 1;
    return design;
  }
  MatrixXd precision() const { return 1.5 * 4 * design().transpose() * design(); }
  VectorXd vector() const { return 1.5 * 4 * design().transpose() * Eigen::Map<const VectorXd>(y.data(), 6); }
  double log_likelihood(const VectorXd& theta) const {
    const VectorXd rest = Eigen::Map<const VectorXd>(y.data(), 6) - design() * theta;
    return 1.5 * (6 * 0.5 * std::log(4 / (2 * std::numbers::pi)) - 2 * rest.squaredNorm());
  }
};

/// z of the mean over rows of each column of `values` against `law`, the largest of them.
double largest_z(MatrixView<const double> values, const VectorXd& law) {
  double largest = 0;
  const auto n = static_cast<double>(values.rows);
  for (std::int64_t j = 0; j < values.columns; ++j) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < values.rows; ++i) sum += values(i, j), squares += values(i, j) * values(i, j);
    const double variance = (squares / n - sum / n * (sum / n)) / n;
    largest = std::max(largest, std::abs(sum / n - law(j)) / std::sqrt(variance));
  }
  return largest;
}

/// `rows` times the same coordinates.
Particles<double> repeated(const Layout& layout, const VectorXd& coordinates, std::int64_t rows) {
  Particles<double> particles(layout, rows);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < coordinates.size(); ++j) particles.values()(i, j) = coordinates(j);
  return particles;
}

}  // namespace

TEST_CASE("Bayes by Backprop written as a parameterization has the ELBO of a linear-Gaussian model and its gradient",
          "[inference][contract]") {
  // log joint = k − (θ − m)ᵀ Λ (θ − m)/2 with Λ = A + I, so the ELBO at (μ, σ) is
  // k − (μ − m)ᵀ Λ (μ − m)/2 − Σ Λ_jj σ_j²/2 + Σ log σ_j + 3/2 log 2πe; its optimum is μ = m, σ_j² = 1/Λ_jj.
  const LinearGaussian data;
  const MatrixXd precision = data.precision() + MatrixXd::Identity(3, 3);
  const VectorXd centre = precision.ldlt().solve(data.vector());
  const std::int64_t samples = GENERATE(1, 3);
  const bool at_optimum = GENERATE(true, false);
  const VectorXd mean = at_optimum ? centre : VectorXd{{0.1, -0.3, 0.6}};
  VectorXd sigma = precision.diagonal().cwiseSqrt().cwiseInverse();
  if (!at_optimum) sigma *= 1.7;
  VectorXd coordinates(6);
  coordinates << mean, sigma.array().exp().unaryExpr([](double e) { return std::log(e - 1); });

  auto model = std::make_unique<ParticleMlpReference<double>>(data.spec);
  auto map = std::make_unique<MeanField>(model->layout(), samples);
  std::vector<std::unique_ptr<Prior<double>>> priors;
  priors.push_back(std::make_unique<UnitNormal>());
  Posterior<double> target(std::move(model), std::move(map), std::move(priors));
  constexpr std::int64_t rows = 4000;
  Particles<double> particles = repeated(target.layout(), coordinates, rows);
  std::vector<double> value(rows);
  target.evaluate(particles.coordinates(), data.batch(), {.seed = 5}, particles.gradients(), value);

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
  target.evaluate(particles.coordinates(), data.batch(), {.seed = 5}, particles.gradients(), again);
  CHECK(again == value);
  target.evaluate(particles.coordinates(), data.batch(), {.seed = 5, .step = 1}, particles.gradients(), again);
  CHECK(again != value);
}

TEST_CASE("posterior sharpening written as a target has the bound of a linear-Gaussian model and its gradient",
          "[inference][contract]") {
  // g = −A(φ − m), θ − m = B(φ − m) + σ₀ε with B = I − diag(η) A; M = E (φ − m)(φ − m)ᵀ = diag σ² + (μ − m)(μ − m)ᵀ.
  const LinearGaussian data;
  const MatrixXd a = data.precision();
  const VectorXd centre = a.ldlt().solve(data.vector());
  const VectorXd mean{{0.2, -0.1, 0.4}}, rho{{-2, -1.5, -1}};
  const double scale = GENERATE(0.0, 0.004, 0.02), deviation = 0.3;
  const VectorXd rate = scale * VectorXd{{1, -0.5, 2}};
  const VectorXd sigma = rho.unaryExpr([](double r) { return softplus(r); });
  VectorXd coordinates(9);
  coordinates << mean, rho, rate;

  ParticleMlpReference<double> model(data.spec);
  SharpenedObjective target(model, deviation);
  constexpr std::int64_t rows = 20'000;
  Particles<double> particles = repeated(target.layout(), coordinates, rows);
  std::vector<double> value(rows);
  target.evaluate(particles.coordinates(), data.batch(), {.seed = 6}, particles.gradients(), value);

  const MatrixXd b = MatrixXd::Identity(3, 3) - rate.asDiagonal() * a;
  const MatrixXd second = MatrixXd(sigma.cwiseAbs2().asDiagonal()) + (mean - centre) * (mean - centre).transpose();
  const MatrixXd g_second = a * second * a.transpose();
  const double variance = deviation * deviation;
  VectorXd law(9);
  law.segment(0, 3) = -a * b * (mean - centre) - mean;
  law.segment(3, 3) = (-(a * b).diagonal().cwiseProduct(sigma) - sigma + sigma.cwiseInverse()).array() *
                      rho.array().unaryExpr([](double r) { return sigmoid(r); });
  law.segment(6, 3) =
      (a * second * b.transpose() * a.transpose()).diagonal() - rate.cwiseProduct(g_second.diagonal()) / variance;
  CHECK(largest_z(particles.gradients(), law) < 6.1);

  const double bound = data.log_likelihood(centre) -
                       ((b.transpose() * a * b * second).trace() + variance * a.trace()) / 2 -
                       rate.cwiseAbs2().dot(g_second.diagonal()) / (2 * variance) -
                       (mean.squaredNorm() + sigma.squaredNorm() - 3) / 2 + sigma.array().log().sum();
  CHECK(largest_z({value.data(), rows, 1}, VectorXd::Constant(1, bound)) < 6.1);
}
