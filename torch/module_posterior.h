// The posterior of a module's weights in one call.
#pragma once

#include <stein/inference/posterior.h>
#include <stein/inference/priors/gaussian_prior.h>
#include <stein/torch/module_model.h>

namespace stein::inference {

/// The posterior of the weights of `module` themselves under a Gaussian prior. Throws Error(usage) for a module that
/// ModuleModel refuses or an option out of range.
std::unique_ptr<Posterior<float>> make_module_posterior(std::shared_ptr<torch::nn::Module> module,
                                                        ModuleFunctions functions,
                                                        const GaussianPriorOptions& prior = {});

}  // namespace stein::inference
