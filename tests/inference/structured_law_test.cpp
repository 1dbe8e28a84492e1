// The structured parameterization W = P Λ₁ C Λ₂ Qᵀ as a whole, drawn from by NUTS. P and Q are orthogonal: without
// scales, weights are a priori N(0, I) whatever the reflectors, so that the posterior of the weights is the plain one
// and that of the reflectors their prior. With scales, the prior is a mixture of Gaussians: quadrature.
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/matrix_gaussian.h>
#include <stein/inference/samplers/nuts.h>

#include <Eigen/Geometry>
#include <catch2/catch.hpp>
#include <numbers>
#include <unsupported/Eigen/KroneckerProduct>

#include "inference/ensemble_of.h"
#include "inference/logistic_quadrature.h"
#include "inference/proof_record.h"
#include "inference/regression_case.h"

using namespace stein;
using namespace stein::inference;
using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

const char* const method = "matrix Gaussian, K = 2";

NetworkPosteriorOptions structured(std::int64_t reflectors, Scales scales, double scale_deviation = 1) {
  NetworkPosteriorOptions options;
  options.parameterization = WeightForm::matrix_gaussian;
  options.structure = {.reflectors = reflectors, .scales = scales};
  options.prior.scale_deviation = scale_deviation;
  return options;
}

/// Two outputs of two correlated inputs, known noise; the same inputs for both outputs. Six rows stand for `data_size`.
struct TwoOutputs {
  explicit TwoOutputs(double stands_for = 9) : data_size(stands_for) {
    spec.inputs = 2, spec.outputs = 2, spec.noise_precision = 4;
  }
  Batch<float> batch() const {
    return {.inputs = {.dense = {inputs.data(), 6, 2}},
            .targets = {answers.data(), 6, 2},
            .rows = 6,
            .data_size = data_size};
  }
  /// Of one output's two weights and bias, the same for both.
  Matrix3d precision() const { return 4 * data_size / 6 * design().transpose() * design() + Matrix3d::Identity(); }
  /// [w₁₁ w₁₂ w₂₁ w₂₂ b₁ b₂], first the input, then the output.
  VectorXd centre() const {
    const MatrixXd targets =
        Eigen::Map<const Eigen::Matrix<float, 6, 2, Eigen::RowMajor>>(answers.data()).cast<double>();
    const MatrixXd means = precision().ldlt().solve(4 * data_size / 6 * design().transpose() * targets);
    return VectorXd{{means(0, 0), means(0, 1), means(1, 0), means(1, 1), means(2, 0), means(2, 1)}};
  }
  MatrixXd covariance() const {
    const MatrixXd each = precision().inverse();
    return Eigen::kroneckerProduct(each, Matrix2d::Identity());
  }

  MlpSpec spec;
  double data_size;

 private:
  MatrixXd design() const {
    MatrixXd design(6, 3);
    design << Eigen::Map<const Eigen::Matrix<float, 6, 2, Eigen::RowMajor>>(inputs.data()).cast<double>(),
        VectorXd::Ones(6);
    return design;
  }
  std::vector<float> inputs{0.5f, -1, 1, 0.25f, -0.75f, 0.5f, 0.25f, 1, -0.5f, -0.5f, 1.25f, 0};
  std::vector<float> answers{0.4f, -1, 0.9f, 0.3f, -0.6f, 0.2f, 1.1f, 0.5f, -0.2f, 0.8f, 0.7f, -0.1f};
};

/// Chains of NUTS on a posterior: moments of the weights that coordinates stand for, and squares of the reflectors.
class Walk {
 public:
  Walk(Posterior<float>& posterior, const Batch<float>& batch, const VectorXd& centre, std::int64_t steps = 500)
      : weights_(chains, centre), squares_(0, ChainAverages(chains)) {
    Particles<float> particles = posterior.initial_particles(chains, 3, 1);
    Nuts<float> sampler(
        {.trajectory = {.step_size = 0.1, .warm_up = 300, .target_acceptance = 0.9, .adapt_mass = false},
         .max_depth = 6},
        particles.ensemble(5));
    Matrix<float> padded(chains, posterior.weight_layout().size());
    Layout packed;
    packed.add("weights", {centre.size()}, Role::weight);
    Particles<float> networks(packed, chains);
    for (std::int64_t t = 0; t < 300 + steps; ++t) {
      if (sampler.step(particles, posterior, batch).exploring) continue;
      posterior.effective_weights(particles.coordinates(), {}, padded.view());
      remove_padding<float>(posterior.weight_layout(), padded.view(), networks.values());
      weights_(networks);
      see_reflectors(particles);
    }
  }
  double largest_z(const MatrixXd& covariance) const { return weights_.largest_z(covariance); }
  double resolution(const MatrixXd& covariance) const { return weights_.resolution(covariance); }
  /// Of the squares of reflectors against those of N(0, I).
  double largest_z_of_reflectors() const {
    double largest = 0;
    for (const ChainAverages& average : squares_) largest = std::max(largest, std::abs(average.z(1)));
    return largest;
  }

 private:
  static constexpr std::int64_t chains = 64;

  void see_reflectors(const Particles<float>& particles) {
    std::size_t k = 0;
    for (const LayoutEntry& entry : particles.layout().entries()) {
      if (entry.role != Role::reflector_left && entry.role != Role::reflector_right) continue;
      for (std::int64_t q = entry.offset; q < entry.offset + entry.size(); ++q, ++k) {
        if (k == squares_.size()) squares_.emplace_back(chains);
        for (std::int64_t i = 0; i < chains; ++i)
          squares_[k].add(i, std::pow(static_cast<double>(particles.values()(i, q)), 2));
        squares_[k].count();
      }
    }
  }

  Moments weights_;
  std::vector<ChainAverages> squares_;
};

/// Mean and covariance of (w₁, w₂, b) of the regression y = w·x + b, with b ~ N(0, 1) and w ~ N(0, R diag(e^{2s}) Rᵀ):
/// s = (a₁ + c, a₂ + c) of independent N(0, deviation²), R a rotation by a uniform angle (two reflections in uniform
/// directions) or, without reflectors, none. Exact given angle and scales; those by quadrature.
struct ScaledPosterior {
  Vector3d mean = Vector3d::Zero();
  Matrix3d covariance = Matrix3d::Zero();

  ScaledPosterior(const Regression& data, double deviation, bool turned, int points = 61) {
    const Matrix3d likelihood = data.precision() - Matrix3d::Identity();
    const Vector3d right_side = data.scale() * data.spec.noise_precision * data.design().transpose() * data.answers;
    const Matrix2d root = Matrix2d{{2, 1}, {1, 2}}.llt().matrixL();
    const int angles = turned ? points : 1;
    double mass = 0;
    for (int a = 0; a < angles; ++a) {
      const Matrix2d turn = Eigen::Rotation2Dd(std::numbers::pi * a / angles).toRotationMatrix();
      for (int i = 0; i < points; ++i)
        for (int j = 0; j < points; ++j) {
          const Eigen::Vector2d z(-7 + 14.0 * i / (points - 1), -7 + 14.0 * j / (points - 1));
          const Eigen::Vector2d scales = (2 * deviation * root * z).array().exp();
          Matrix3d prior = Matrix3d::Identity();
          prior.topLeftCorner<2, 2>() = turn * scales.asDiagonal() * turn.transpose();
          // (U⁻¹ + A)⁻¹ = (I + U A)⁻¹ U, also where U is nearly singular.
          const Eigen::PartialPivLU<Matrix3d> system(Matrix3d::Identity() + prior * likelihood);
          const Matrix3d variance = system.solve(prior);
          const Vector3d centre = variance * right_side;
          const double weight =
              std::exp(right_side.dot(centre) / 2 - z.squaredNorm() / 2) / std::sqrt(system.determinant());
          mass += weight, mean += weight * centre;
          covariance += weight * (variance + centre * centre.transpose());
        }
    }
    mean /= mass;
    covariance = (covariance / mass - mean * mean.transpose()).eval();
  }
};

Regression two_inputs() {
  MlpSpec spec;
  spec.noise_precision = 4;
  return {spec, MatrixXd{{0.5, -1}, {1, 0.25}, {-0.75, 0.5}, {0.25, 1}, {-0.5, -0.5}, {1.25, 0}},
          VectorXd{{0.4, 0.9, -0.6, 1.1, -0.2, 0.7}}, 9};
}

/// The Gaussian prior with the sign of what it says of C and biases reversed.
class MirroredPrior final : public Prior<float> {
 public:
  MirroredPrior(const GaussianPriorOptions& options, const Layout& coordinates)
      : prior_(options, coordinates), layout_(coordinates) {}
  void add_log_density(const ParticleRows<const float>& rows, const Evaluation<float>& wanted) const override {
    prior_.add_log_density(rows, wanted);
    for (const LayoutEntry& entry : layout_.entries()) {
      if (entry.role != Role::weight && entry.role != Role::bias) continue;
      for (std::int64_t i = 0; i < rows.values.rows; ++i)
        for (std::int64_t q = entry.offset; q < entry.offset + entry.size(); ++q) {
          const float x = rows.values(i, q);
          if (wanted.wants_gradient()) wanted.gradient(i, q) += 2 * x;
          if (wanted.wants_value()) wanted.value[i] += static_cast<double>(x) * static_cast<double>(x);
        }
    }
  }

 private:
  GaussianPrior<float> prior_;
  Layout layout_;
};

}  // namespace

TEST_CASE("structured weights have the posterior of a linear regression, and their reflectors their prior",
          "[inference][structured_law][proof]") {
  const TwoOutputs data;
  const auto posterior = make_network_posterior(structured(2, Scales::identity), data.spec);
  const Walk walk(*posterior, data.batch(), data.centre());
  CHECK(recorded_z(method, "linear regression", walk.largest_z(data.covariance())) < critical_value);
  CHECK(recorded_z(method, "linear regression", walk.largest_z_of_reflectors()) < critical_value);
  CHECK(walk.resolution(data.covariance()) < 0.03);
}

TEST_CASE("the data twice, half of them at a time, give structured weights the posterior of twice the data",
          "[inference][structured_law][proof]") {
  const TwoOutputs twice(18);
  const auto posterior = make_network_posterior(structured(2, Scales::identity), twice.spec);
  const Walk walk(*posterior, twice.batch(), twice.centre());
  CHECK(recorded_z(method, "data twice", walk.largest_z(twice.covariance())) < critical_value);
  CHECK(walk.largest_z(TwoOutputs().covariance()) > mutant_value);
}

TEST_CASE("structured weights with scales have the law of their mixture of Gaussians",
          "[inference][structured_law][proof]") {
  const std::int64_t reflectors = GENERATE(0, 2);
  constexpr double deviation = 0.5;
  const Regression data = two_inputs();
  const ScaledPosterior exact(data, deviation, reflectors > 0), coarse(data, deviation, reflectors > 0, 41);
  CHECK((exact.mean - coarse.mean).norm() < 1e-8);
  CHECK((exact.covariance - coarse.covariance).norm() < 1e-8);

  const RegressionRows<float> rows(data);
  const auto posterior = make_network_posterior(structured(reflectors, Scales::free, deviation), data.spec);
  const Walk walk(*posterior, rows.all(), exact.mean, 1500);
  CHECK(recorded_z(method, "exact law", walk.largest_z(exact.covariance)) < critical_value);
  CHECK(walk.resolution(exact.covariance) < 0.03);
  // Scales of another width, and none at all, are another prior: the chains tell them from this one.
  const ScaledPosterior wider(data, 2 * deviation, reflectors > 0);
  CHECK(walk.largest_z(wider.covariance + (wider.mean - exact.mean) * (wider.mean - exact.mean).transpose()) >
        critical_value);
}

TEST_CASE("structured weights have the posterior of a logistic regression", "[inference][structured_law][proof]") {
  MlpSpec spec;
  spec.likelihood = Likelihood::bernoulli;
  const Regression data{spec,
                        MatrixXd{{-1.5, 0.5}, {-1, -1}, {-0.5, 0.75}, {0, -0.25}, {0.5, 1}, {1, -1.5}, {2, 0}, {3, 1}},
                        VectorXd{{0, 0, 1, 0, 0, 1, 1, 1}}, 8};
  const LogisticQuadrature exact(data, 81), coarse(data, 61);
  CHECK((exact.mean - coarse.mean).norm() < 1e-8);
  CHECK((exact.covariance - coarse.covariance).norm() < 1e-8);
  const RegressionRows<float> rows(data);
  const auto posterior = make_network_posterior(structured(2, Scales::identity), data.spec);
  const Walk walk(*posterior, rows.all(), exact.mean);
  CHECK(recorded_z(method, "logistic regression", walk.largest_z(exact.covariance)) < critical_value);
  CHECK(walk.resolution(exact.covariance) < 0.03);
}

TEST_CASE("errors of the target show in structured weights", "[inference][structured_law][mutant][proof]") {
  const TwoOutputs data;
  const auto z_of = [&](bool mirrored, const Batch<float>& batch) {
    auto model = std::make_unique<ParticleMlp>(data.spec);
    auto structure = std::make_unique<MatrixGaussian>(
        model->layout(), MatrixGaussianOptions{.reflectors = 2, .scales = Scales::identity});
    std::vector<std::unique_ptr<Prior<float>>> priors;
    if (mirrored)
      priors.push_back(std::make_unique<MirroredPrior>(GaussianPriorOptions{}, structure->coordinates()));
    else
      priors.push_back(std::make_unique<GaussianPrior<float>>(GaussianPriorOptions{}, structure->coordinates()));
    Posterior<float> posterior(std::move(model), std::move(structure), std::move(priors));
    return Walk(posterior, batch, data.centre()).largest_z(data.covariance());
  };
  const double right = z_of(false, data.batch());
  CHECK(right < critical_value);
  record_proof(method, "mutants", "right", right);
  const double sign = z_of(true, data.batch());
  CHECK(sign > mutant_value);
  record_proof(method, "mutants", "prior sign", sign);
  Batch<float> unscaled = data.batch();
  unscaled.data_size = unscaled.count();
  const double scale = z_of(false, unscaled);
  CHECK(scale > mutant_value);
  record_proof(method, "mutants", "no N/n", scale);
}
