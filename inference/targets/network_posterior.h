// The posterior of a network's weights, put together from options: which parameterization, which prior, which
// arithmetic.
#pragma once

#include <stein/inference/arithmetic.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/models/sharpened_model.h>
#include <stein/inference/parameterizations/dropout_weights.h>
#include <stein/inference/parameterizations/masked.h>
#include <stein/inference/parameterizations/matrix_gaussian_layout.h>
#include <stein/inference/parameterizations/variational_family.h>
#include <stein/inference/posterior.h>
#include <stein/inference/priors/function_prior.h>
#include <stein/inference/priors/gaussian_prior.h>
#include <stein/inference/priors/scale_mixture_prior.h>
#include <stein/inference/priors/spike_and_slab.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::inference {

enum class WeightForm {
  direct,                       ///< the weights themselves are sampled: SVGD
  matrix_gaussian,              ///< W = P Λ₁ C Λ₂ Qᵀ: structured, S2VGD
  variational_matrix_gaussian,  ///< W ~ M + diag(u) E diag(v): the coordinates describe a Gaussian of the weights, VMG
  mean_field,  ///< every weight ~ N(μ, softplus(ρ)²): the coordinates describe these Gaussians, Bayes by Backprop
  dropout,     ///< units are dropped at random: the coordinates describe networks with some units less
};

/// The law of weights before any data.
enum class PriorLaw { gaussian, scale_mixture };

/// What a Gaussian prior of a perceptron is stated by.
enum class PriorScale {
  weights,    ///< λ of all weights alike
  functions,  ///< the sd of the functions that it draws: see function_prior
};

/// The form of a network's weights and their prior.
struct NetworkPosteriorOptions {
  WeightForm parameterization = WeightForm::direct;  ///< decides which other options there are; no option itself
  MatrixGaussianOptions structure{};
  VariationalOptions variational{};
  DropoutWeightsOptions dropout{};
  GaussianPriorOptions prior{};
  PriorLaw prior_law = PriorLaw::scale_mixture;  ///< of mean_field
  bool chooses_law =
      false;  ///< of direct: `sampled_law` is an option; decides which options there are, no option itself
  PriorLaw sampled_law = PriorLaw::gaussian;  ///< of direct
  bool chooses_scale = false;  ///< `prior_scale` is an option; decides which options there are, no option itself
  PriorScale prior_scale = PriorScale::weights;
  FunctionPriorOptions functions{};
  ScaleMixtureOptions mixture{};
  bool sharpened = false;  ///< posterior sharpening; decides which options there are, no option itself
  SharpeningOptions sharpening{};
  bool spike_and_slab = false;  ///< sparse weights; decides which options there are, no option itself
  std::vector<std::string> sparse_layers{};
  SpikeAndSlabOptions slab{};
  PruningOptions pruning{.final_share = 0, .decay_steps = 0};
  bool flat_prior = false;  ///< no prior at all: maximum likelihood; decides which options there are, no option itself
  Arithmetic arithmetic = Arithmetic::fused;

  template <class V>
  void describe(V& v) {
    const bool structured = parameterization == WeightForm::matrix_gaussian;
    if (sharpened) sharpening.describe(v);
    if (flat_prior) return describe_arithmetic(v);
    if (spike_and_slab) describe_sparse(v);
    if (structured) structure.describe(v);
    if (parameterization == WeightForm::mean_field) {
      variational.describe(v);
      describe_law(v, prior_law);
      v("weight_precision", prior.weight_precision, "λ of the Gaussian prior", positive);
    } else if (distributes_weights()) {
      if (parameterization == WeightForm::dropout)
        dropout.describe(v);
      else
        variational.describe(v);
      prior.describe_fixed(v);
    } else {
      if (chooses_law) describe_law(v, sampled_law);
      prior.describe(v);
    }
    if (structured) prior.describe_structured(v);
    if (chooses_scale) describe_scale(v);
    describe_arithmetic(v);
  }
  template <class V>
  void describe_law(V& v, PriorLaw& law) {
    v("prior", law, "of the weights: a mixture of a wide and a narrow Gaussian, or one Gaussian",
      {{"scale_mixture", PriorLaw::scale_mixture}, {"gaussian", PriorLaw::gaussian}});
    mixture.describe(v);
  }
  template <class V>
  void describe_scale(V& v) {
    v("prior_scale", prior_scale,
      "what the Gaussian prior is stated by: weights (λ of all of them alike, start from initial_spread), or functions "
      "(layer by layer, so that outputs have the sd function_deviation; the start is a draw from it, and "
      "weight_precision is not looked at)",
      {{"weights", PriorScale::weights}, {"functions", PriorScale::functions}})
        .in_older_runs("weights");
    functions.describe(v);
  }
  template <class V>
  void describe_sparse(V& v) {
    v("sparse_layers", sparse_layers,
      "names of parameters with a spike-and-slab prior, such as layer0.weight; none: all matrices and kernels; others "
      "have "
      "the Gaussian prior");
    slab.describe(v);
    v.part("pruning", pruning);
  }
  template <class V>
  void describe_arithmetic(V& v) {
    v("arithmetic", arithmetic, "fused: SIMD kernels; reference: the same on LibTorch autograd",
      {{"fused", Arithmetic::fused}, {"reference", Arithmetic::reference}});
  }
  /// Whether one row of coordinates stands for many networks, drawn from it, not for one.
  bool distributes_weights() const {
    return parameterization == WeightForm::variational_matrix_gaussian || parameterization == WeightForm::mean_field ||
           parameterization == WeightForm::dropout;
  }
};

/// Names of the parameters with a spike-and-slab prior: those that are named, or all matrices and kernels; empty where
/// weights are not sparse.
std::vector<std::string> sparse_layers(const NetworkPosteriorOptions& options, const Layout& weights);

/// The posterior of the weights of `model` under the prior; for a form that distributes the weights, its
/// evidence lower bound, with the divergence in closed form where there is one. Sparse weights are those of one
/// particle, row 0 of its ensemble. A mixture of Gaussians is on weights, biases and gains; a noise precision keeps the
/// law that it has beside a Gaussian. Throws Error(usage) for options that make no sense, for sparse layers that the
/// model does not have, and for reference arithmetic where Stein was built without LibTorch.
std::unique_ptr<Posterior<float>> make_network_posterior(const NetworkPosteriorOptions& options,
                                                         std::unique_ptr<Model<float>> model);
/// The same for a perceptron. Throws Error(usage) also for a network that make_perceptron_model refuses.
std::unique_ptr<Posterior<float>> make_network_posterior(const NetworkPosteriorOptions& options, const MlpSpec& network,
                                                         Device device = {});

/// The Gaussian prior of a perceptron's coordinates, with the precision of every layer where it is stated by functions.
/// Of structured weights the product of the factors has the variance that is stated: E[Λ²] = exp(2 s²) of every
/// diagonal is divided out of C. Throws Error(usage) if it is stated by functions and a precision is to be learned, or
/// its law is a mixture.
GaussianPriorOptions gaussian_prior_of(const NetworkPosteriorOptions& options, const MlpSpec& network);

}  // namespace stein::inference
