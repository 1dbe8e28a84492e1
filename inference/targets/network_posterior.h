// The posterior of a perceptron's weights, put together from options: which parameterization, which prior, which
// arithmetic.
#pragma once

#include <stein/inference/arithmetic.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/parameterizations/matrix_gaussian_layout.h>
#include <stein/inference/parameterizations/variational_family.h>
#include <stein/inference/posterior.h>
#include <stein/inference/priors/gaussian_prior.h>

#include <memory>

namespace stein::inference {

enum class WeightForm {
  direct,                       ///< the weights themselves are sampled: SVGD
  matrix_gaussian,              ///< W = P Λ₁ C Λ₂ Qᵀ: structured, S2VGD
  variational_matrix_gaussian,  ///< W ~ M + diag(u) E diag(v): the coordinates describe a Gaussian of the weights, VMG
};

/// The form of a network's weights and their prior.
struct NetworkPosteriorOptions {
  WeightForm parameterization = WeightForm::direct;  ///< decides which other options there are; no option itself
  MatrixGaussianOptions structure{};
  VariationalOptions variational{};
  GaussianPriorOptions prior{};
  bool flat_prior = false;  ///< no prior at all: maximum likelihood; decides which options there are, no option itself
  Arithmetic arithmetic = Arithmetic::fused;

  template <class V>
  void describe(V& v) {
    const bool structured = parameterization == WeightForm::matrix_gaussian;
    if (flat_prior) return describe_arithmetic(v);
    if (structured) structure.describe(v);
    if (distributes_weights()) {
      variational.describe(v);
      prior.describe_fixed(v);
    } else {
      prior.describe(v);
    }
    if (structured) prior.describe_structured(v);
    describe_arithmetic(v);
  }
  template <class V>
  void describe_arithmetic(V& v) {
    v("arithmetic", arithmetic, "fused: SIMD kernels; reference: the same on LibTorch autograd",
      {{"fused", Arithmetic::fused}, {"reference", Arithmetic::reference}});
  }
  /// Whether one row of coordinates stands for many networks, drawn from it, not for one.
  bool distributes_weights() const { return parameterization == WeightForm::variational_matrix_gaussian; }
};

/// The posterior of the weights of `network` under a Gaussian prior; for a form that distributes the weights, its
/// evidence lower bound with the divergence in closed form. Throws Error(usage) for a network or
/// options that make no sense, and for reference arithmetic where Stein was built without LibTorch.
std::unique_ptr<Posterior<float>> make_network_posterior(const NetworkPosteriorOptions& options,
                                                         const MlpSpec& network);

}  // namespace stein::inference
