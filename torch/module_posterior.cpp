#include <stein/inference/parameterizations/direct.h>
#include <stein/torch/module_posterior.h>

namespace stein::inference {

std::unique_ptr<Posterior<float>> make_module_posterior(std::shared_ptr<torch::nn::Module> module,
                                                        ModuleFunctions functions, const GaussianPriorOptions& prior) {
  auto model = std::make_unique<ModuleModel>(std::move(module), std::move(functions));
  auto direct = std::make_unique<Direct<float>>(model->layout());
  std::vector<std::unique_ptr<Prior<float>>> priors;
  priors.push_back(std::make_unique<GaussianPrior<float>>(prior, direct->coordinates()));
  return std::make_unique<Posterior<float>>(std::move(model), std::move(direct), std::move(priors));
}

}  // namespace stein::inference
