// Stein variational gradient descent against what it must give (docs of the method: Liu & Wang 2016; Ba et al. 2022 for
// the variance).
#include <stein/inference/samplers/svgd.h>

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "inference/ensemble_of.h"
#include "inference/proof_record.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// N(mean, covariance) as a target.
class Gaussian final : public Target<double> {
 public:
  Gaussian(Eigen::VectorXd mean, Eigen::MatrixXd covariance)
      : mean_(std::move(mean)), precision_(covariance.inverse()) {
    layout_.add("position", {mean_.size()}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey&,
                const Evaluation<double>& wanted) override {
    const auto gradient = wanted.gradient;
    const auto value = wanted.value;
    for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
      const Eigen::Map<const Eigen::VectorXd> x(coordinates.values.row(i).data(), mean_.size());
      const Eigen::VectorXd pull = precision_ * (mean_ - x);
      std::copy(pull.begin(), pull.end(), gradient.row(i).begin());
      if (!value.empty()) value[i] = 0.5 * (x - mean_).dot(pull);
    }
  }

 private:
  Layout layout_;
  Eigen::VectorXd mean_;
  Eigen::MatrixXd precision_;
};

Gaussian standard_normal(std::int64_t d) {
  return {Eigen::VectorXd::Zero(d), Eigen::MatrixXd::Identity(d, d)};
}

Particles<double> start(const Layout& layout, std::int64_t rows, double spread) {
  Particles<double> particles(layout, rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    fill_normal(particles.values().row(i), {.seed = 42, .stream = Stream::initial_values},
                static_cast<std::uint32_t>(i));
    for (double& value : particles.values().row(i)) value *= spread;
  }
  return particles;
}

/// Runs SVGD by plain gradient steps whose size shrinks until nothing moves any more.
void converge(Particles<double>& particles, Target<double>& target, const SvgdKernelOptions& kernel, double step,
              int steps) {
  for (const double scale : {1.0, 0.3}) {
    Svgd<double> sampler(
        {.kernel = kernel,
         .optimizer = {.method = OptimizerMethod::sgd, .step = {.step_size = step * scale}, .momentum = 0.9}},
        particles.ensemble(0));
    for (int t = 0; t < steps; ++t) sampler.step(particles, target, {});
  }
}

/// Marginal variance with 1/M, averaged over coordinates.
double marginal_variance(const Particles<double>& particles) {
  double total = 0;
  for (std::int64_t q = 0; q < particles.size(); ++q) {
    double sum = 0, square = 0;
    for (std::int64_t i = 0; i < particles.rows(); ++i) {
      const double x = particles.values()(i, q);
      sum += x, square += x * x;
    }
    const double m = static_cast<double>(particles.rows());
    total += square / m - sum * sum / (m * m);
  }
  return total / static_cast<double>(particles.size());
}

}  // namespace

TEST_CASE("with the linear kernel and more particles than dimensions a Gaussian's mean and covariance are exact",
          "[inference][svgd][proof]") {
  Eigen::Matrix2d covariance;
  covariance << 2, 0.6, 0.6, 0.5;
  const Eigen::Vector2d mean(1, -2);
  Gaussian target(mean, covariance);
  Particles<double> particles = start(target.layout(), 8, 1);
  converge(particles, target, {.kernel = SvgdKernel::linear}, 0.02, 6000);
  const Eigen::Map<const Eigen::Matrix<double, 8, 2, Eigen::RowMajor>, 0, Eigen::OuterStride<>> x(
      particles.values().data, Eigen::OuterStride<>(particles.values().stride));
  const Eigen::RowVector2d found_mean = x.colwise().mean();
  const Eigen::MatrixXd centred = x.rowwise() - found_mean;
  const Eigen::Matrix2d found_covariance = centred.transpose() * centred / 8;
  const double mean_error = (found_mean.transpose() - mean).norm(),
               covariance_error = (found_covariance - covariance).norm();
  CHECK(mean_error < 1e-10);
  CHECK(covariance_error < 1e-10);
  record_proof("svgd, linear kernel", "exact law", "error", std::max(mean_error, covariance_error));
}

TEST_CASE("with the RBF median kernel the variance settles at its known fixed point, not at the truth",
          "[inference][svgd][proof]") {
  // Converged values on N(0, I_d), M = 20, variance with 1/M: median over the full matrix, over pairs, and halved
  // bandwidth. Over pairs in two dimensions the way there is long: from eight starts a program of its own in numpy is
  // between .759 and .780 after 12,000 steps, and at .760 where it went on until no direction was above 5e-7; 0.789,
  // the value that is told of the method, was never found.
  struct Row {
    std::int64_t d;
    double matrix, pairs, halved;
  };
  for (const Row row : {Row{1, 0.877, 0.880, 0.80}, Row{2, 0.743, 0.760, 0.59}, Row{10, 0.263, 0.263, 0.025},
                        Row{50, 0.058, 0.058, 0.005}}) {
    const double tolerance = row.d <= 2 ? 0.01 : 0.002;
    const auto distance = [&](const SvgdKernelOptions& kernel, double fixed_point) {
      Gaussian target = standard_normal(row.d);
      Particles<double> particles = start(target.layout(), 20, 1);
      converge(particles, target, kernel, 0.1, 3000);
      const double found = std::abs(marginal_variance(particles) - fixed_point);
      record_proof("svgd, RBF kernel", "exact law", "error", found);
      return found;
    };
    CAPTURE(row.d);
    CHECK(distance({.median_over = MedianOver::matrix}, row.matrix) < tolerance);
    CHECK(distance({.median_over = MedianOver::pairs}, row.pairs) < tolerance);
    CHECK(distance({.bandwidth_rule = Bandwidth::half_median}, row.halved) < tolerance);
  }
}

TEST_CASE("a hundred particles in one dimension keep nearly the whole variance", "[inference][svgd]") {
  Gaussian target = standard_normal(1);
  Particles<double> particles = start(target.layout(), 100, 1);
  converge(particles, target, {}, 0.1, 3000);
  CHECK(std::abs(marginal_variance(particles) - 0.963) < 0.01);
}

TEST_CASE("one step in one dimension is the formula written out", "[inference][svgd]") {
  // φ_i = (1/M) Σ_j [k g_j + (2/h)(x_i − x_j) k], k = exp(−(x_i − x_j)²/h), h = median of the nine squares / log 4, g =
  // −x.
  Gaussian target = standard_normal(1);
  Particles<double> particles(target.layout(), 3);
  const double x[3] = {-1.0, 0.25, 2.0};
  for (int i = 0; i < 3; ++i) particles.values()(i, 0) = x[i];
  // Squares: 0 ×3, 1.5625 ×2, 3.0625 ×2, 9 ×2: the fifth of nine is 1.5625.
  const double h = 1.5625 / std::log(4.0), step = 0.1;
  Svgd<double> sampler({.optimizer = {.method = OptimizerMethod::sgd, .step = {.step_size = step}, .momentum = 0}},
                       ensemble_of(3, 1, 0));
  sampler.step(particles, target, {});
  for (int i = 0; i < 3; ++i) {
    double direction = 0;
    for (const double xj : x) {
      const double k = std::exp(-(x[i] - xj) * (x[i] - xj) / h);
      direction += (k * -xj + 2 / h * (x[i] - xj) * k) / 3;
    }
    CHECK(particles.values()(i, 0) == Approx(x[i] + step * direction).epsilon(1e-14));
  }
}

TEST_CASE("the inverse multiquadric kernel follows its own formula", "[inference][svgd]") {
  Gaussian target = standard_normal(1);
  Particles<double> particles(target.layout(), 2);
  particles.values()(0, 0) = -1;
  particles.values()(1, 0) = 0.5;
  Svgd<double> sampler({.kernel = {.kernel = SvgdKernel::imq, .bandwidth_rule = Bandwidth::fixed, .bandwidth = 3},
                        .optimizer = {.method = OptimizerMethod::sgd, .step = {.step_size = 1}, .momentum = 0}},
                       ensemble_of(2, 1, 0));
  sampler.step(particles, target, {});
  // k = (1 + 2.25/3)^(−½); ∇_{x_j} k = (x_i − x_j)/3 · k³
  const double k = 1 / std::sqrt(1.75);
  CHECK(particles.values()(0, 0) == Approx(-1 + (1.0 + k * -0.5 + -1.5 / 3 * k * k * k) / 2).epsilon(1e-14));
  CHECK(particles.values()(1, 0) == Approx(0.5 + (-0.5 + k * 1.0 + 1.5 / 3 * k * k * k) / 2).epsilon(1e-14));
}

TEST_CASE("one particle climbs along its gradient with every kernel", "[inference][svgd]") {
  Gaussian target = standard_normal(2);
  for (const SvgdKernelOptions& kernel : {SvgdKernelOptions{.kernel = SvgdKernel::linear},
                                          {.kernel = SvgdKernel::imq, .bandwidth_rule = Bandwidth::fixed},
                                          {.kernel = SvgdKernel::rbf, .bandwidth_rule = Bandwidth::fixed}}) {
    Particles<double> particles(target.layout(), 1);
    particles.values()(0, 0) = 3;
    Svgd<double> sampler(
        {.kernel = kernel, .optimizer = {.method = OptimizerMethod::sgd, .step = {.step_size = 0.5}, .momentum = 0}},
        ensemble_of(1, 2, 0));
    sampler.step(particles, target, {});
    CHECK(particles.values()(0, 0) == 1.5);
    CHECK(particles.values()(0, 1) == 0);
  }
}

TEST_CASE("one particle, or particles in one place, only climb", "[inference][svgd]") {
  Gaussian target = standard_normal(2);
  for (const std::int64_t rows : {1, 5}) {
    Particles<double> particles(target.layout(), rows);
    for (std::int64_t i = 0; i < rows; ++i) particles.values()(i, 0) = 3;
    Svgd<double> sampler({.optimizer = {.method = OptimizerMethod::sgd, .step = {.step_size = 0.5}, .momentum = 0}},
                         ensemble_of(rows, 2, 0));
    sampler.step(particles, target, {});
    for (std::int64_t i = 0; i < rows; ++i) CHECK(particles.values()(i, 0) == Approx(1.5));
  }
}

TEST_CASE("a gradient that is not finite is named and moves nothing", "[inference][svgd]") {
  class Broken final : public Target<double> {
   public:
    Broken() { layout_.add("layer0.weight", {2, 3}, Role::weight); }
    const Layout& layout() const override { return layout_; }
    void evaluate(const ParticleRows<const double>& rows, const Batch<double>&, const NoiseKey&,
                  const Evaluation<double>& wanted) override {
      const MatrixView<double> gradient = wanted.gradient;
      for (std::int64_t i = 0; i < rows.values.rows; ++i) std::ranges::fill(gradient.row(i), 1.0);
      gradient(1, 4) = std::nan("");
    }

   private:
    Layout layout_;
  } target;
  Particles<double> particles = start(target.layout(), 3, 1), before = particles;
  Svgd<double> sampler({}, ensemble_of(3, 6, 0));
  CHECK_THROWS_WITH(sampler.step(particles, target, {}),
                    Catch::Contains("layer0.weight[1, 1]") && Catch::Contains("particle 1"));
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t q = 0; q < 6; ++q) CHECK(particles.values()(i, q) == before.values()(i, q));
}

TEST_CASE("saved and restored, the next steps are the same bits", "[inference][svgd]") {
  Gaussian target = standard_normal(3);
  for (const OptimizerMethod method : {OptimizerMethod::sgd, OptimizerMethod::rmsprop, OptimizerMethod::adam}) {
    const SvgdOptions options{.optimizer = {.method = method, .step = {.step_size = 0.05}}};
    Particles<double> particles = start(target.layout(), 5, 2);
    Svgd<double> sampler(options, ensemble_of(5, 3, 0));
    for (int t = 0; t < 10; ++t) sampler.step(particles, target, {});
    Snapshot particle_state, sampler_state;
    particles.save(particle_state);
    sampler.save(sampler_state);
    for (int t = 0; t < 10; ++t) sampler.step(particles, target, {});
    Particles<double> again(target.layout(), 5);
    Svgd<double> resumed(options, ensemble_of(5, 3, 0));
    again.restore(particle_state);
    resumed.restore(sampler_state);
    for (int t = 0; t < 10; ++t) resumed.step(again, target, {});
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t q = 0; q < 3; ++q) CHECK(again.values()(i, q) == particles.values()(i, q));
  }
}
