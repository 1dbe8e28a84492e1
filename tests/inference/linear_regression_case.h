// Bayesian linear regressions with a closed-form posterior, and what each sampler should give on them.
#pragma once

#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/samplers/dropout_sghmc.h>
#include <stein/inference/samplers/psgld.h>
#include <stein/inference/samplers/santa.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/inference/samplers/sgnht.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/torch/particle_mlp_reference.h>

#include <functional>

#include "inference/discretised_law.h"
#include "inference/ensemble_of.h"
#include "inference/linear_gaussian.h"
#include "inference/quadratic_chain.h"
#include "inference/regression_case.h"
#include "inference/splitting_law.h"

namespace stein::inference {

/// Correlated inputs; six rows stand for nine. Curvatures from 15 to 43.
inline Regression correlated() {
  const LinearGaussian data;
  return {data.spec, data.design().leftCols(2), Eigen::Map<const VectorXd>(data.y.data(), 6), 9};
}

/// Orthogonal columns and much data: the coordinates are independent and as stiff as Santa's metric needs them.
inline Regression factorial() {
  MlpSpec spec;
  spec.noise_precision = 1000;
  return {spec, MatrixXd{{1, 1.5}, {1, -1.5}, {-1, 1.5}, {-1, -1.5}}, VectorXd{{0.04, 0.09, -0.06, 0.11}}, 4};
}

/// The posterior in double, by LibTorch.
inline std::unique_ptr<Posterior<double>> reference_posterior(const Regression& regression) {
  auto model = std::make_unique<ParticleMlpReference<double>>(regression.spec);
  auto direct = std::make_unique<Direct<double>>(model->layout());
  std::vector<std::unique_ptr<Prior<double>>> priors;
  priors.push_back(std::make_unique<GaussianPrior<double>>(GaussianPriorOptions{}, direct->coordinates()));
  return std::make_unique<Posterior<double>>(std::move(model), std::move(direct), std::move(priors));
}

/// A sampler that is linear in its state: its numbers, and where they take it.
struct LinearSubject {
  const char* name;
  std::function<std::unique_ptr<Sampler<float>>(double step)> make;  ///< for 64 chains of three coordinates
  std::function<double(const Setting&)> variance;                    ///< along a direction of curvature k
  std::function<AffineLaw(const std::vector<AffineLaw::Move>& ascents, double step)> law;  ///< of moves b − Λ φ
};

inline constexpr double friction = 0.2;

inline AffineLaw sgld_law(const std::vector<AffineLaw::Move>& ascents, double h) {
  std::vector<AffineLaw::Move> moves;
  for (const auto& [slope, constant] : ascents) {
    const Eigen::Index d = constant.size();
    moves.push_back({MatrixXd::Identity(d, d) + h * slope, h * constant});
  }
  return {moves, 2 * h * MatrixXd::Identity(moves[0].constant.size(), moves[0].constant.size())};
}

/// Of (φ, r): r′ = (1 − α) r + η (b − Λ φ) + noise, φ′ = φ + r′.
inline AffineLaw sghmc_law(const std::vector<AffineLaw::Move>& ascents, double h) {
  std::vector<AffineLaw::Move> moves;
  const Eigen::Index d = ascents[0].constant.size();
  const MatrixXd one = MatrixXd::Identity(d, d);
  for (const auto& [slope, constant] : ascents) {
    AffineLaw::Move move{MatrixXd(2 * d, 2 * d), VectorXd(2 * d)};
    move.linear << one + h * slope, (1 - friction) * one, h * slope, (1 - friction) * one;
    move.constant << h * constant, h * constant;
    moves.push_back(std::move(move));
  }
  AffineLaw law(moves, 2 * friction * h * Eigen::kroneckerProduct(MatrixXd::Ones(2, 2), one).eval());
  law.mean.conservativeResize(d), law.covariance.conservativeResize(d, d);
  return law;
}

inline std::vector<LinearSubject> linear_subjects() {
  const auto sgld = [](const Setting& s) { return sgld_variance(s); };
  const auto sghmc = [](const Setting& s) { return SghmcLaw(s, friction).position; };
  return {{"sgld",
           [](double h) {
             return std::make_unique<Sgld<float>>(SgldOptions{.step = {.step_size = h}}, ensemble_of(64, 3, 5));
           },
           sgld, sgld_law},
          {"psgld, metric at rest",  // at rest G = 1/ε = 2
           [](double h) {
             auto sampler = std::make_unique<Opened<Psgld<float>>>(
                 PsgldOptions{.step = {.step_size = h}, .square = {.epsilon = 0.5}}, ensemble_of(64, 3, 5));
             sampler->metric_at_rest = true;
             return sampler;
           },
           sgld, sgld_law},
          {"sghmc",
           [](double h) {
             return std::make_unique<Sghmc<float>>(SghmcOptions{.step = {.step_size = h}, .friction = friction},
                                                   ensemble_of(64, 3, 5));
           },
           sghmc, sghmc_law},
          {"dropout-sghmc",
           [](double h) {
             return std::make_unique<DropoutSghmc<float>>(
                 DropoutSghmcOptions{.sghmc = {.step = {.step_size = h}, .friction = friction}, .keep = 1},
                 ensemble_of(64, 3, 5));
           },
           sghmc, sghmc_law}};
}

/// What an SGNHT chain averages to 0 on a Gaussian N(m, Λ⁻¹) at any step size, minibatches or not. With x = φ − m, r
/// the momentum that has just moved φ, ξ its thermostats: E r r = T; E[Λ x + ξ r] = 0 since momenta do not drift; and
/// E[Λ x xᵀ + x xᵀ Λ] = 2 E r rᵀ − E[(ξ r) xᵀ + x (ξ r)ᵀ] since E φ rᵀ does not. The noise is in none of them, but
/// E r r = E ((1 − h ξ) r − h Λ x)² + 2AhT holds only with the right one and the whole data.
class ThermostatIdentities {
 public:
  ThermostatIdentities(const Regression& regression, const SgnhtOptions& options, bool whole_data)
      : precision_(regression.precision()), centre_(regression.centre()), options_(options), whole_data_(whole_data) {}

  void operator()(const Particles<float>& particles, const Opened<Sgnht<float>>& sampler) {
    const double h = options_.step.step_size, power = 2 * options_.diffusion * h;
    const bool shared = options_.thermostat == Thermostat::particle;
    for (std::int64_t i = 0; i < particles.rows(); ++i) {
      const VectorXd x = row_vector(particles.values(), i) - centre_, r = row_vector(sampler.state(0), i);
      const VectorXd thermostat =
          shared ? VectorXd::Constant(x.size(), static_cast<double>(sampler.thermostats()[static_cast<std::size_t>(i)]))
                 : row_vector(sampler.state(1), i);
      const VectorXd pull = precision_ * x, drag = thermostat.cwiseProduct(r), kept = r - h * (drag + pull);
      seen_.clear();
      if (shared) seen_.push_back(r.squaredNorm() / static_cast<double>(r.size()) - 1);
      for (Eigen::Index q = 0; q < x.size(); ++q) {
        if (!shared) seen_.push_back(r(q) * r(q) - 1);
        seen_.push_back(pull(q) + drag(q));
        if (whole_data_) seen_.push_back(r(q) * r(q) - kept(q) * kept(q) - power);
        for (Eigen::Index p = 0; p <= q; ++p)
          seen_.push_back((pull(q) + drag(q)) * x(p) + (pull(p) + drag(p)) * x(q) - 2 * r(q) * r(p));
      }
      if (averages_.empty()) averages_.assign(seen_.size(), ChainAverages(particles.rows()));
      for (std::size_t k = 0; k < seen_.size(); ++k) averages_[k].add(i, seen_[k]);
    }
    for (ChainAverages& average : averages_) average.count();
  }
  double largest_z() const {
    double largest = 0;
    for (const ChainAverages& average : averages_) largest = std::max(largest, std::abs(average.z(0)));
    return largest;
  }

 private:
  MatrixXd precision_;
  VectorXd centre_;
  SgnhtOptions options_;
  bool whole_data_;
  std::vector<double> seen_;
  std::vector<ChainAverages> averages_;
};

inline const std::vector<std::pair<const char*, SgnhtOptions>> thermostats{
    {"sgnht, one a particle", {.step = {.step_size = 0.04}, .diffusion = 3, .thermostat = Thermostat::particle}},
    {"sgnht, one a coordinate", {.step = {.step_size = 0.04}, .diffusion = 3, .thermostat = Thermostat::coordinate}}};

/// Santa's splitting with its metric at rest on a regression whose coordinates are independent, and the law of each.
class SplittingCase {
 public:
  explicit SplittingCase(const Regression& regression)
      : sampler({.step = {.step_size = eta},
                 .scheme = SantaScheme::splitting,
                 .initial_thermostat = SplittingLaw(5000, metric, eta).thermostat / std::sqrt(eta),
                 .square = {.epsilon = 1 / (metric * metric), .warm_up = 0}},
                ensemble_of(64, 3, 5)),
        covariance(MatrixXd::Zero(3, 3)) {
    sampler.metric_at_rest = true;
    const MatrixXd precision = regression.precision();
    for (Eigen::Index q = 0; q < 3; ++q)
      covariance(q, q) = SplittingLaw(precision(q, q), metric, eta).position / precision(q, q);
  }
  Opened<Santa<float>> sampler;
  MatrixXd covariance;

 private:
  static constexpr double eta = 0.0005, metric = 0.25;
};

/// SVGD with the linear kernel, run until nothing moves; its mean and covariance.
inline std::pair<VectorXd, MatrixXd> linear_kernel_moments(const Regression& regression, const Batch<double>& batch) {
  const auto target = reference_posterior(regression);
  Particles<double> particles = target->initial_particles(8, 4, 1);
  Svgd<double> sampler({.kernel = {.kernel = SvgdKernel::linear},
                        .optimizer = {.method = OptimizerMethod::sgd, .step = {.step_size = 0.01}, .momentum = 0.9}},
                       particles.ensemble(0));
  for (int t = 0; t < 6000; ++t) sampler.step(particles, *target, batch);
  MatrixXd rows(8, particles.size());
  for (int i = 0; i < 8; ++i) rows.row(i) = row_vector(std::as_const(particles).values(), i).transpose();
  const VectorXd mean = rows.colwise().mean().transpose();
  const MatrixXd centred = rows.rowwise() - mean.transpose();
  return {mean, centred.transpose() * centred / 8};
}

/// 64 chains of HMC or NUTS.
template <class S, class Next>
Moments trajectory_moments(const Regression& data, double step_size, const Next& next) {
  const auto target = data.posterior();
  S sampler({.trajectory = {.step_size = step_size, .warm_up = 0}}, ensemble_of(64, 3, 5));
  Moments found(64, data.centre());
  run_on_regression(sampler, *target, {.burn_in = 100, .steps = 500}, next,
                    [&](const Particles<float>& particles) { found(particles); });
  return found;
}

inline const std::vector<std::pair<const char*, OptimizerMethod>> optimizers{
    {"sgd-momentum", OptimizerMethod::sgd}, {"rmsprop", OptimizerMethod::rmsprop}, {"adam", OptimizerMethod::adam}};

/// How far from the mode four optimizers end that start in different places.
inline double distance_from_mode(OptimizerMethod method, const Regression& regression, const Batch<double>& batch) {
  const auto target = reference_posterior(regression);
  Optimizer<double> optimizer({.method = method,
                               .step = {.step_size = 0.01, .step_decay_steps = 200, .step_decay_exponent = 2},
                               .square_decay = 0.9},
                              ensemble_of(4, 3, 0));
  Particles<double> particles = target->initial_particles(4, 4, 1);
  for (int t = 0; t < 3000; ++t) optimizer.step(particles, *target, batch);
  double error = 0;
  for (int i = 0; i < 4; ++i)
    error =
        std::max(error, (row_vector(std::as_const(particles).values(), i) - regression.centre()).cwiseAbs().maxCoeff());
  return error;
}

}  // namespace stein::inference
