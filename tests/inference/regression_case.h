// Regressions with a handful of rows as data for a perceptron without hidden layers under the prior N(0, I), and chains
// on them.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/sampler.h>
#include <stein/inference/targets/network_posterior.h>

#include <Eigen/Dense>
#include <vector>

#include "inference/chain_statistics.h"

namespace stein::inference {

/// Inputs [n, d] and answers [n] that stand for N rows; coordinates are the d weights, then the bias.
struct Regression {
  MlpSpec spec;
  Eigen::MatrixXd inputs;
  Eigen::VectorXd answers;
  double data_size;

  Regression(const MlpSpec& network, Eigen::MatrixXd x, Eigen::VectorXd y, double stands_for)
      : spec(network), inputs(std::move(x)), answers(std::move(y)), data_size(stands_for) {
    spec.inputs = inputs.cols();
  }
  /// The inputs and a column of ones [n, d + 1].
  Eigen::MatrixXd design() const {
    Eigen::MatrixXd design(inputs.rows(), inputs.cols() + 1);
    design << inputs, Eigen::VectorXd::Ones(inputs.rows());
    return design;
  }
  double scale() const { return data_size / static_cast<double>(inputs.rows()); }
  /// Of the Gaussian posterior of the Gaussian likelihood.
  Eigen::MatrixXd precision() const {
    return scale() * spec.noise_precision * design().transpose() * design() +
           Eigen::MatrixXd::Identity(inputs.cols() + 1, inputs.cols() + 1);
  }
  Eigen::VectorXd centre() const {
    return precision().ldlt().solve(scale() * spec.noise_precision * design().transpose() * answers);
  }
  /// Every row twice, for twice as many.
  Regression twice() const { return {spec, inputs.replicate(2, 1), answers.replicate(2, 1), 2 * data_size}; }
  std::unique_ptr<Posterior<float>> posterior() const { return make_network_posterior({}, spec); }
};

/// The numbers of a regression as a sampler gets them.
template <class Scalar>
class RegressionRows {
 public:
  explicit RegressionRows(const Regression& regression)
      : columns_(regression.inputs.cols()), data_size_(regression.data_size) {
    for (Eigen::Index i = 0; i < regression.inputs.rows(); ++i) {
      for (const double x : regression.inputs.row(i)) inputs_.push_back(static_cast<Scalar>(x));
      answers_.push_back(static_cast<Scalar>(regression.answers(i)));
    }
  }
  Batch<Scalar> all() const { return block(0, rows()); }
  /// Half of the rows, in turn.
  Batch<Scalar> half(std::int64_t t) const { return block(t % 2 * (rows() / 2), rows() / 2); }
  /// `count` rows for every chain, drawn with replacement: chains that shared a minibatch would not be independent.
  Batch<Scalar> drawn(std::int64_t t, std::int64_t chains, std::int64_t count) {
    drawn_inputs_.clear(), drawn_answers_.clear();
    Draws draws({.seed = 11, .step = static_cast<std::uint64_t>(t), .stream = Stream::minibatch}, 0);
    for (std::int64_t i = 0; i < chains * count; ++i) {
      const std::int64_t row = draws.integer(static_cast<std::uint32_t>(rows()));
      const auto x = inputs_.begin() + row * columns_;
      drawn_inputs_.insert(drawn_inputs_.end(), x, x + columns_);
      drawn_answers_.push_back(answers_[static_cast<std::size_t>(row)]);
    }
    return {.inputs = {.dense = {drawn_inputs_.data(), chains * count, columns_}},
            .targets = {drawn_answers_.data(), chains * count, 1},
            .inputs_per_particle = true,
            .targets_per_particle = true,
            .rows = count,
            .data_size = data_size_};
  }

 private:
  std::int64_t rows() const { return std::ssize(answers_); }
  Batch<Scalar> block(std::int64_t first, std::int64_t count) const {
    return {.inputs = {.dense = {inputs_.data() + first * columns_, count, columns_}},
            .targets = {answers_.data() + first, count, 1},
            .rows = count,
            .data_size = data_size_};
  }

  std::int64_t columns_;
  double data_size_;
  std::vector<Scalar> inputs_, answers_, drawn_inputs_, drawn_answers_;
};

struct RegressionPlan {
  std::int64_t chains = 64;
  std::int64_t burn_in = 2000;
  std::int64_t steps = 8000;
  Eigen::VectorXd start{};  ///< of every chain; empty: 0
};

/// Moves chains from their start, with the minibatch next(t) at step t, and calls see(particles) after every step past
/// the burn-in.
template <class Scalar, class Next, class See>
void run_on_regression(Sampler<Scalar>& sampler, Target<Scalar>& target, const RegressionPlan& plan, const Next& next,
                       const See& see) {
  Particles<Scalar> particles(target.layout(), plan.chains);
  for (std::int64_t i = 0; i < plan.chains; ++i)
    for (Eigen::Index q = 0; q < plan.start.size(); ++q) particles.values()(i, q) = static_cast<Scalar>(plan.start(q));
  for (std::int64_t t = 0; t < plan.burn_in + plan.steps; ++t) {
    sampler.step(particles, target, next(t));
    if (t >= plan.burn_in) see(particles);
  }
}

/// Row i of an ensemble as a vector.
template <class Scalar>
Eigen::VectorXd row_vector(MatrixView<const Scalar> rows, std::int64_t i) {
  return Eigen::Map<const Eigen::Vector<Scalar, Eigen::Dynamic>>(rows.row(i).data(), rows.columns)
      .template cast<double>();
}

/// Averages over time of z and z zᵀ for z = Aᵀ (φ − centre), chain by chain.
class Moments {
 public:
  Moments(std::int64_t chains, Eigen::VectorXd centre, Eigen::MatrixXd axes)
      : centre_(std::move(centre)), axes_(std::move(axes)) {
    const Eigen::Index d = axes_.cols();
    averages_.assign(static_cast<std::size_t>(d + d * (d + 1) / 2), ChainAverages(chains));
  }
  Moments(std::int64_t chains, const Eigen::VectorXd& centre)
      : Moments(chains, centre, Eigen::MatrixXd::Identity(centre.size(), centre.size())) {}

  template <class Scalar>
  void operator()(const Particles<Scalar>& particles) {
    for (std::int64_t i = 0; i < particles.rows(); ++i) {
      const Eigen::VectorXd z = axes_.transpose() * (row_vector(particles.values(), i) - centre_);
      std::size_t k = 0;
      for (Eigen::Index q = 0; q < z.size(); ++q) averages_[k++].add(i, z(q));
      for (Eigen::Index q = 0; q < z.size(); ++q)
        for (Eigen::Index p = 0; p <= q; ++p) averages_[k++].add(i, z(q) * z(p));
    }
    for (ChainAverages& average : averages_) average.count();
  }
  /// The largest |z| of any mean against 0 and any product against `covariance`.
  double largest_z(const Eigen::MatrixXd& covariance) const {
    std::size_t k = 0;
    double largest = 0;
    for (Eigen::Index q = 0; q < covariance.rows(); ++q) largest = std::max(largest, std::abs(averages_[k++].z(0)));
    for (Eigen::Index q = 0; q < covariance.rows(); ++q)
      for (Eigen::Index p = 0; p <= q; ++p) largest = std::max(largest, std::abs(averages_[k++].z(covariance(q, p))));
    return largest;
  }
  /// The largest standard error of a variance, as a share of it: whether the chains can see anything.
  double resolution(const Eigen::MatrixXd& covariance) const {
    double largest = 0;
    for (Eigen::Index q = 0; q < covariance.rows(); ++q) {
      const auto k = static_cast<std::size_t>(covariance.rows() + (q + 1) * (q + 2) / 2 - 1);
      largest = std::max(largest, averages_[k].standard_error() / covariance(q, q));
    }
    return largest;
  }

 private:
  Eigen::VectorXd centre_;
  Eigen::MatrixXd axes_;
  std::vector<ChainAverages> averages_;
};

}  // namespace stein::inference
