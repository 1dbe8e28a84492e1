#include <stein/inference/samplers/optimizer.h>
#include <stein/training/weight_method.h>

#include <fmt/format.h>

#include <charconv>

namespace stein::training {
namespace {

double number_of(const OptionTable& table, const char* key) {
  const std::string text = table.get(key);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

WeightMethodOptions optimizer(inference::OptimizerMethod method, inference::OptimizerOptions options = {}) {
  options.method = method;
  WeightMethodOptions made;
  made.sampler = inference::SamplerChoice::of<inference::Optimizer<float>>(options);
  made.posterior.flat_prior = true;
  if (method == inference::OptimizerMethod::sgd) made.rate_unit = RateUnit::sequence;
  return made;
}

WeightMethodOptions chain(std::string_view sampler) {
  WeightMethodOptions made;
  made.kind = MethodKind::chain;
  made.sampler = inference::samplers().at(sampler).defaults;
  made.posterior.chooses_law = true;
  return made;
}

/// A chain whose drift is in proportion to the gradient: its rate has a unit that does not depend on the amount of
/// data.
WeightMethodOptions chain_along_gradients(std::string_view sampler, const char* rate) {
  WeightMethodOptions made = chain(sampler);
  made.step_follows_gradient = true;
  made.rate_unit = RateUnit::sequence;
  OptionTable table;
  made.sampler.describe(table);
  table.set("step_size", rate);
  return made;
}

/// A chain whose steps are trajectories with a test of the whole posterior.
WeightMethodOptions chain_of_trajectories(std::string_view sampler) {
  WeightMethodOptions made = chain(sampler);
  made.takes_all_data = true;
  OptionTable table;
  made.sampler.describe(table);
  table.set("step_size", "0.01");
  table.set("warm_up", "200");
  return made;
}

WeightMethodOptions hiding_chain() {
  WeightMethodOptions made = chain_along_gradients("dropout-sghmc", "0.01");
  made.hides_inputs = true;
  return made;
}

/// A chain along gradients under a spike-and-slab prior whose latent variables follow it.
WeightMethodOptions sparse_chain(std::string_view sampler, const char* rate) {
  WeightMethodOptions made = chain_along_gradients(sampler, rate);
  made.posterior.spike_and_slab = true;
  made.posterior.chooses_law = false;
  return made;
}

WeightMethodOptions variational(bool sharpened) {
  WeightMethodOptions made;
  made.kind = MethodKind::variational;
  made.sampler = inference::SamplerChoice::of<inference::Optimizer<float>>(inference::OptimizerOptions{});
  made.posterior.parameterization = inference::WeightForm::mean_field;
  made.posterior.sharpened = sharpened;
  made.outer_deviation = 2;
  return made;
}

WeightMethodOptions variational_matrix() {
  WeightMethodOptions made;
  made.kind = MethodKind::variational;
  made.sampler = inference::SamplerChoice::of<inference::Optimizer<float>>(inference::OptimizerOptions{});
  made.posterior.parameterization = inference::WeightForm::variational_matrix_gaussian;
  return made;
}

WeightMethodOptions ensemble(inference::WeightForm form) {
  WeightMethodOptions made;
  made.kind = MethodKind::ensemble;
  made.sampler = inference::samplers().at("svgd").defaults;
  made.posterior.parameterization = form;
  made.posterior.chooses_law = form == inference::WeightForm::direct;
  made.particles = 4;
  return made;
}

/// Called when the registry is first asked for: by then the samplers, which lie in the same library, are registered.
Registry<WeightMethod> make_methods() {
  Registry<WeightMethod> methods("method");
  methods.add("sgd", {"stochastic gradient descent with momentum: the weights where it ends",
                      optimizer(inference::OptimizerMethod::sgd,
                                {.step = {.step_size = 0.5}, .momentum = 0, .clip = {.clip_norm = 5}})});
  methods.add("rmsprop", {"RMSprop: the weights where it ends",
                          optimizer(inference::OptimizerMethod::rmsprop, {.square_decay = 0.99})});
  methods.add("adam", {"Adam: the weights where it ends", optimizer(inference::OptimizerMethod::adam)});
  methods.add("sgld",
              {"stochastic gradient Langevin dynamics: averages over its chain", chain_along_gradients("sgld", "0.1")});
  methods.add("psgld", {"Langevin dynamics preconditioned as RMSprop is: averages over its chain", chain("psgld")});
  methods.add("sghmc", {"stochastic gradient Hamiltonian Monte Carlo: averages over its chain",
                        chain_along_gradients("sghmc", "0.01")});
  methods.add("dropout-sghmc",
              {"the same on rows of numbers of which every minibatch hides some (D-SGHMC): averages over its chain",
               hiding_chain()});
  methods.add("sgnht", {"stochastic gradient Nosé–Hoover thermostats: averages over their chain", chain("sgnht")});
  methods.add("santa", {"annealed thermostats with RMSprop's metric: averages over their chain", chain("santa")});
  methods.add("hmc", {"Hamiltonian Monte Carlo on all rows of training at a time: averages over its chain",
                      chain_of_trajectories("hmc")});
  methods.add("nuts", {"the no-U-turn sampler on all rows of training at a time: averages over its chain",
                       chain_of_trajectories("nuts")});
  methods.add("sgld-sa", {"SGLD with an adaptive spike-and-slab prior: sparse weights, averages over its chain",
                          sparse_chain("sgld", "0.1")});
  methods.add("sghmc-sa", {"SGHMC with an adaptive spike-and-slab prior: sparse weights, averages over its chain",
                           sparse_chain("sghmc", "0.01")});
  methods.add("bbb", {"Bayes by Backprop: a Gaussian for every weight", variational(false)});
  methods.add("sharpening", {"Bayes by Backprop with posterior sharpening", variational(true)});
  methods.add("vmg",
              {"variational matrix Gaussians: one Gaussian for every matrix, with a variance for each row and column",
               variational_matrix()});
  methods.add("svgd", {"Stein variational gradient descent, particles of plain weights",
                       ensemble(inference::WeightForm::direct)});
  methods.add("s2vgd", {"the same with particles of matrix-Gaussian (structured) weights",
                        ensemble(inference::WeightForm::matrix_gaussian)});
  return methods;
}

}  // namespace

bool WeightMethodOptions::scales_all_gradients() const {
  inference::SamplerChoice described = sampler;
  OptionTable table;
  described.describe(table);
  return table.contains("clip_rule") && table.get("clip_rule") == "rescale";
}

std::unique_ptr<inference::Sampler<float>> WeightMethodOptions::make_sampler(const inference::Ensemble& ensemble,
                                                                             const DataFacts& data) const {
  inference::SamplerChoice converted = sampler;
  if (rate_unit != RateUnit::joint) {
    const double unit = rate_unit == RateUnit::datum ? 1 : data.sequence;
    OptionTable table;
    converted.describe(table);
    const bool linear = table.contains("optimizer") ? table.get("optimizer") == "sgd" : step_follows_gradient;
    if (linear)
      table.set("step_size", fmt::format("{}", joint_step_size(number_of(table, "step_size"), unit, data.size)));
    table.set("clip_norm", fmt::format("{}", joint_clip_norm(number_of(table, "clip_norm"), unit, data.size)));
  }
  return converted.make(ensemble);
}

Registry<WeightMethod>& weight_methods() {
  static Registry<WeightMethod> methods = make_methods();
  return methods;
}

}  // namespace stein::training
