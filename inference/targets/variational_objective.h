// Variational inference: the evidence lower bound as the value of a Posterior whose weights are drawn from a family.
#pragma once

#include <stein/inference/parameterizations/variational_family.h>
#include <stein/inference/posterior.h>
#include <stein/inference/priors/gaussian_prior.h>
#include <stein/inference/priors/scale_mixture_prior.h>

#include <memory>

namespace stein::inference {

/// How KL(q ‖ p) is computed for a Gaussian prior, which has both ways.
enum class Divergence {
  closed_form,  ///< exactly
  one_sample,   ///< log p at the weights that were drawn; q's entropy still exactly, whose gradient is the same
};

/// E_q[(N/n) Σ log p(y | x, θ)] − KL(q ‖ p), one draw of it (S of them averaged) and its gradient by reparameterization
/// (Fortunato et al. 2017, eq. 5, times the number of minibatches): moved by an optimizer at temperature 0 this is
/// Bayes by Backprop. Weights and biases ~ N(0, 1/λ), a learned noise precision ~ Gamma. Throws Error(usage) if a
/// precision of the weights is to be learned: a variational family has none to learn.
template <class Scalar>
std::unique_ptr<Posterior<Scalar>> make_variational_objective(std::unique_ptr<Model<Scalar>> model,
                                                              std::unique_ptr<VariationalFamily<Scalar>> family,
                                                              const GaussianPriorOptions& prior,
                                                              Divergence divergence = Divergence::closed_form);
/// The same with a scale mixture as prior, whose divergence has no closed form: one sample stands for it.
template <class Scalar>
std::unique_ptr<Posterior<Scalar>> make_variational_objective(std::unique_ptr<Model<Scalar>> model,
                                                              std::unique_ptr<VariationalFamily<Scalar>> family,
                                                              const ScaleMixtureOptions& prior);

/// The loss of a minibatch as it is reported, −log p(y | x, θ) + KL/(C·B), from the value of the objective for it: N/n
/// minibatches, C·B in a language model, make an epoch, over which this sums to −ELBO.
template <class Scalar>
double variational_loss(double value, const Batch<Scalar>& batch) {
  return -value / batch.likelihood_scale();
}

}  // namespace stein::inference
