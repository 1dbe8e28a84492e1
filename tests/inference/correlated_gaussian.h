// A Gaussian with correlations, for samplers that need the log density itself.
#pragma once

#include <stein/inference/target.h>

#include <Eigen/Dense>

namespace stein::inference {

class CorrelatedGaussian final : public Target<double> {
 public:
  CorrelatedGaussian(Eigen::VectorXd mean, const Eigen::MatrixXd& covariance)
      : mean_(std::move(mean)), precision_(covariance.inverse()), root_(covariance.llt().matrixL()) {
    layout_.add("position", {mean_.size()}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey&,
                const Evaluation<double>& wanted) override {
    const auto gradient = wanted.gradient;
    const auto value = wanted.value;
    for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
      const Eigen::VectorXd distance =
          Eigen::Map<const Eigen::VectorXd>(coordinates.values.row(i).data(), mean_.size()) - mean_;
      Eigen::Map<Eigen::VectorXd>(gradient.row(i).data(), mean_.size()) = -precision_ * distance;
      if (!value.empty()) value[i] = -distance.dot(precision_ * distance) / 2;
    }
  }
  const Eigen::VectorXd& mean() const { return mean_; }
  Eigen::VectorXd draw(Draws& draws) const {
    return mean_ + root_ * Eigen::VectorXd::NullaryExpr(mean_.size(), [&] { return draws.normal(); });
  }

 private:
  Eigen::VectorXd mean_;
  Eigen::MatrixXd precision_, root_;
  Layout layout_;
};

}  // namespace stein::inference
