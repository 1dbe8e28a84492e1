// Centres of a Gaussian prior that differ from particle to particle.
#pragma once

#include <stein/inference/prior.h>
#include <stein/inference/priors/gaussian_prior.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/matrix.h>

namespace stein::inference {

/// What moves the centre of a Gaussian prior N(0, 1/λ) to the anchor c_i of each row, as another factor beside it:
/// log N(φ; c, 1/λ) − log N(φ; 0, 1/λ) = λ c·φ − λ‖c‖²/2 (Pearce, Leibfried & Brintrup 2020, "Uncertainty in neural
/// networks: approximately Bayesian ensembling": with anchors drawn from the prior and targets perturbed by the noise
/// of the likelihood, the modes of linear models are draws from the posterior).
template <class Scalar>
class Anchors final : public Prior<Scalar> {
 public:
  /// @param prior    whose centre is moved; none of its precisions is learned
  /// @param anchors  particles, of which weights, biases, gains, log scales and reflectors are the centres of the rows
  /// @param device   where the rows lie that it is given; the anchors lie on the host
  /// @throws Error(usage) where a precision is learned
  Anchors(const GaussianPriorOptions& prior, const Particles<Scalar>& anchors, Device device = {});

  void add_log_density(const ParticleRows<const Scalar>& rows, const Evaluation<Scalar>& wanted) const override;
  void save(Snapshot& snapshot) const override;
  /// Throws Error(data) if the saved anchors have another shape.
  void restore(const Snapshot& snapshot) override;

 private:
  const Driver<Scalar>& driver_;
  std::int64_t first_row_;
  Matrix<Scalar> pull_;           ///< [M, Q] λ c
  std::vector<double> constant_;  ///< [M] −λ‖c‖²/2
};

}  // namespace stein::inference
