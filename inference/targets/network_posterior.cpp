#include <stein/inference/models/perceptron_model.h>
#include <stein/inference/parameterizations/device_matrix_gaussian.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/matrix_gaussian.h>
#include <stein/inference/parameterizations/mean_field_gaussian.h>
#include <stein/inference/parameterizations/variational_matrix_gaussian.h>
#include <stein/inference/priors/scale_mixture_prior.h>
#include <stein/inference/priors/spike_and_slab_prior.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/inference/targets/reference_arithmetic.h>
#include <stein/inference/targets/variational_objective.h>

#include <cmath>

namespace stein::inference {
namespace {

std::unique_ptr<Parameterization<float>> make_parameterization(const NetworkPosteriorOptions& options,
                                                               const Layout& weights, Device device) {
  if (options.parameterization == WeightForm::direct) return std::make_unique<Direct<float>>(weights, device);
  if (options.parameterization == WeightForm::dropout)
    return std::make_unique<DropoutWeights<float>>(weights, options.dropout, device);
  if (device.kind != Device::Kind::host)
    return std::make_unique<DeviceMatrixGaussian>(weights, options.structure, device);
  if (options.arithmetic == Arithmetic::fused) return std::make_unique<MatrixGaussian>(weights, options.structure);
  return torch_arithmetic().make_matrix_gaussian(weights, options.structure);
}

/// The priors of weights that are sampled themselves, and of what is learned beside them.
std::vector<std::unique_ptr<Prior<float>>> make_priors(const NetworkPosteriorOptions& options, const Layout& weights,
                                                       const Layout& coordinates, Device device) {
  std::vector<std::unique_ptr<Prior<float>>> priors;
  if (options.flat_prior) return priors;
  std::vector<std::string> in_mixture;
  if (options.sampled_law == PriorLaw::scale_mixture) {
    STEIN_CHECK(options.parameterization == WeightForm::direct, "prior=scale_mixture is of plain weights");
    STEIN_CHECK(!options.prior.learn_weight_precision,
                "learn_weight_precision is of a Gaussian prior, got prior=scale_mixture, whose widths are fixed");
    for (const LayoutEntry& entry : weights.entries())
      if (entry.is_weight()) in_mixture.push_back(entry.name);
    priors.push_back(std::make_unique<ScaleMixturePrior<float>>(options.mixture, weights, device));
  }
  priors.push_back(
      std::make_unique<GaussianPrior<float>>(options.prior, coordinates, in_mixture, PriorSpace::coordinates, device));
  return priors;
}

/// Sparse layers under a spike-and-slab prior, some of whose weights are pruned as the chain goes on.
std::unique_ptr<Posterior<float>> make_sparse_posterior(const NetworkPosteriorOptions& options,
                                                        std::unique_ptr<Model<float>> model) {
  const std::vector<std::string> layers = sparse_layers(options, model->layout());
  return make_spike_and_slab_posterior<float>(
             {.sparse = options.slab, .dense = options.prior, .pruning = options.pruning}, std::move(model), layers)
      .posterior;
}

}  // namespace

std::vector<std::string> sparse_layers(const NetworkPosteriorOptions& options, const Layout& weights) {
  if (!options.spike_and_slab || !options.sparse_layers.empty()) return options.sparse_layers;
  std::vector<std::string> all;
  for (const LayoutEntry& entry : weights.entries())
    if (entry.role == Role::weight) all.push_back(entry.name);
  return all;
}

std::unique_ptr<Posterior<float>> make_network_posterior(const NetworkPosteriorOptions& options,
                                                         std::unique_ptr<Model<float>> model) {
  if (options.spike_and_slab) return make_sparse_posterior(options, std::move(model));
  const Device device = model->device();
  if (options.sharpened) model = std::make_unique<SharpenedModel<float>>(std::move(model), options.sharpening);
  const Layout weights = model->layout();
  if (options.parameterization == WeightForm::mean_field) {
    auto family = std::make_unique<MeanFieldGaussian<float>>(weights, options.variational, device);
    if (options.prior_law == PriorLaw::scale_mixture)
      return make_variational_objective<float>(std::move(model), std::move(family), options.mixture);
    return make_variational_objective<float>(std::move(model), std::move(family), options.prior);
  }
  if (options.parameterization == WeightForm::variational_matrix_gaussian) {
    auto family = std::make_unique<VariationalMatrixGaussian<float>>(weights, options.variational, device);
    return make_variational_objective<float>(std::move(model), std::move(family), options.prior);
  }
  auto parameterization = make_parameterization(options, weights, device);
  auto priors = make_priors(options, weights, parameterization->coordinates(), device);
  return std::make_unique<Posterior<float>>(std::move(model), std::move(parameterization), std::move(priors));
}

std::unique_ptr<Posterior<float>> make_network_posterior(const NetworkPosteriorOptions& options, const MlpSpec& network,
                                                         Device device) {
  NetworkPosteriorOptions stated = options;
  stated.prior = gaussian_prior_of(options, network);
  return make_network_posterior(stated, make_perceptron_model(network, options.arithmetic, device));
}

GaussianPriorOptions gaussian_prior_of(const NetworkPosteriorOptions& options, const MlpSpec& network) {
  GaussianPriorOptions prior = options.prior;
  if (options.prior_scale == PriorScale::weights) return prior;
  STEIN_CHECK(!prior.learn_weight_precision, "learn_weight_precision needs prior_scale=weights, got functions");
  STEIN_CHECK(options.sampled_law == PriorLaw::gaussian &&
                  (options.parameterization != WeightForm::mean_field || options.prior_law == PriorLaw::gaussian),
              "prior_scale=functions needs prior=gaussian, got scale_mixture");
  prior.precisions = function_prior(options.functions, network);
  if (options.parameterization != WeightForm::matrix_gaussian) return prior;
  const double square = std::exp(2 * prior.scale_deviation * prior.scale_deviation);  // E[Λ²] of a diagonal
  for (const StructuredMatrix& matrix : matrix_gaussian_layout(mlp_layout(network), options.structure).matrices)
    for (const auto* scale : {&matrix.log_scale_left, &matrix.log_scale_right})
      if (scale->has_value()) prior.precisions.at(matrix.weight.name) *= square;
  return prior;
}

}  // namespace stein::inference
