// A training step of a LibTorch module under a posterior, against the same step written in LibTorch: its time, and the
// memory that it takes in multiples of the module's weights.
#include <stein/bench/benchmark.h>
#include <stein/bench/resident_memory.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/core/error.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/torch/module_posterior.h>
#include <stein/torch/tensor_view.h>
#include <torch/nn.h>
#include <torch/optim/adam.h>

#include <cmath>
#include <memory>

namespace stein::bench {
namespace {

using namespace stein::inference;

constexpr std::int64_t rows = 64, inputs = 1024, hidden = 2048, classes = 10;
constexpr double data_size = 64'000, step_size = 1e-6, friction = 0.1, learning_rate = 1e-3;

torch::nn::Sequential make_network() {
  torch::manual_seed(1);
  return torch::nn::Sequential(torch::nn::Linear(inputs, hidden), torch::nn::ReLU(), torch::nn::Linear(hidden, hidden),
                               torch::nn::ReLU(), torch::nn::Linear(hidden, classes));
}

std::int64_t weights_of(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

struct Data {
  std::vector<float> x = std::vector<float>(rows * inputs), y = std::vector<float>(rows);
  Data() {
    fill_normal(std::span<float>(x), {.seed = 1}, 0);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i % classes);
  }
  Batch<float> batch() const {
    return {.inputs = {.dense = {x.data(), rows, inputs}},
            .targets = {y.data(), rows, 1},
            .rows = rows,
            .data_size = data_size};
  }
};

at::Tensor log_likelihood(torch::nn::Sequential& network, const Batch<float>& batch) {
  return -at::cross_entropy_loss(network->forward(tensor_view(batch.inputs.dense)),
                                 tensor_view(batch.targets).flatten().to(at::kLong), {}, at::Reduction::Sum);
}

std::unique_ptr<Sampler<float>> make_sampler(const std::string& name, const Ensemble& ensemble) {
  if (name == "sgld") return std::make_unique<Sgld<float>>(SgldOptions{.step = {.step_size = step_size}}, ensemble);
  if (name == "sghmc")
    return std::make_unique<Sghmc<float>>(SghmcOptions{.step = {.step_size = step_size}, .friction = friction},
                                          ensemble);
  return std::make_unique<Optimizer<float>>(
      OptimizerOptions{.method = OptimizerMethod::adam, .step = {.step_size = learning_rate}}, ensemble);
}

/// As a user of Stein has it: one particle, prior N(0, 1).
class OurModule {
 public:
  OurModule(const std::string& name, const Data& data)
      : network_(make_network()), data_(data), posterior_(make_posterior()), particles_(posterior_->layout(), 1) {
    static_cast<ModuleModel&>(posterior_->model()).copy_parameters(particles_.values().row(0));
    sampler_ = make_sampler(name, particles_.ensemble(1));
  }
  void step() { sampler_->step(particles_, *posterior_, data_.batch()); }
  std::span<const float> weights() { return particles_.values().row(0); }

 private:
  std::unique_ptr<Posterior<float>> make_posterior() {
    return make_module_posterior(network_.ptr(), {.log_likelihood =
                                                      [network = network_](const Batch<float>& batch) mutable {
                                                        return log_likelihood(network, batch);
                                                      },
                                                  .draws_numbers = false});
  }

  torch::nn::Sequential network_;
  const Data& data_;
  std::unique_ptr<Posterior<float>> posterior_;
  Particles<float> particles_;
  std::unique_ptr<Sampler<float>> sampler_;
};

/// As its own best user writes it in LibTorch: backward to the parameters, then updates of all of them in place.
class ReferenceModule {
 public:
  ReferenceModule(const std::string& name, const Data& data)
      : name_(name), network_(make_network()), data_(data), parameters_(network_->parameters()) {
    if (name == "sghmc")
      for (const at::Tensor& parameter : parameters_) momenta_.push_back(at::zeros_like(parameter));
    if (name == "adam") adam_ = std::make_unique<torch::optim::Adam>(parameters_, learning_rate);
  }
  void step() {
    for (at::Tensor& parameter : parameters_)
      if (parameter.grad().defined()) parameter.mutable_grad().zero_();
    (log_likelihood(network_, data_.batch()) * (-data_size / rows)).backward();
    const c10::NoGradGuard no_gradient;
    for (at::Tensor& parameter : parameters_) parameter.mutable_grad().add_(parameter);  // the prior N(0, 1)
    if (adam_ != nullptr) {
      adam_->step();
      return;
    }
    const double noise = name_ == "sghmc" ? std::sqrt(2 * friction * step_size) : std::sqrt(2 * step_size);
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      at::Tensor& parameter = parameters_[k];
      if (name_ == "sgld") {
        parameter.sub_(parameter.grad(), step_size).add_(at::randn_like(parameter), noise);
        continue;
      }
      momenta_[k].mul_(1 - friction).sub_(parameter.grad(), step_size).add_(at::randn_like(parameter), noise);
      parameter.add_(momenta_[k]);
    }
  }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

 private:
  std::string name_;
  torch::nn::Sequential network_;
  const Data& data_;
  std::vector<at::Tensor> parameters_, momenta_;
  std::unique_ptr<torch::optim::Adam> adam_;
};

/// Throws Error(numeric) unless three steps of Adam, which draws nothing, take both to the same weights, to 1 % of how
/// far they go.
void check_same(const Data& data) {
  OurModule ours("adam", data);
  ReferenceModule reference("adam", data);
  const std::vector<float> start(ours.weights().begin(), ours.weights().end());
  for (int t = 0; t < 3; ++t) ours.step(), reference.step();
  double apart = 0, moved = 0;
  std::size_t q = 0;
  for (const at::Tensor& parameter : reference.parameters()) {
    const at::Tensor values = parameter.detach().flatten();
    const float* const numbers = values.const_data_ptr<float>();
    for (std::int64_t k = 0; k < values.numel(); ++k, ++q) {
      apart += std::pow(static_cast<double>(numbers[k]) - static_cast<double>(ours.weights()[q]), 2);
      moved += std::pow(static_cast<double>(numbers[k]) - static_cast<double>(start[q]), 2);
    }
  }
  if (!(std::sqrt(apart) < 1e-2 * std::sqrt(moved)))
    fail(ErrorKind::numeric, "benchmark module: ours and the reference differ by {:.2g} of their way",
         std::sqrt(apart / moved));
}

template <class Form>
std::optional<double> memory_in_weights(const std::string& name, const Data& data) {
  const auto train = [&] {
    Form form(name, data);
    for (int t = 0; t < 3; ++t) form.step();
  };
  train();  // what LibTorch sets up once is not what a step takes
  const auto bytes = peak_memory_of(train);
  if (!bytes) return std::nullopt;
  return *bytes / (sizeof(float) * static_cast<double>(weights_of(*make_network())));
}

Row measure_case(const std::string& name, const Data& data) {
  const auto memory = memory_in_weights<OurModule>(name, data),
             reference_memory = memory_in_weights<ReferenceModule>(name, data);
  OurModule ours(name, data);
  ReferenceModule reference(name, data);
  const TensorPair pair = measure_tensor_pair([&] { ours.step(); }, [&] { reference.step(); });
  Row row{.name = name,
          .ours = pair.seconds.ours * 1e3,
          .reference = pair.seconds.reference * 1e3,
          .unit = "ms",
          .extra = {{"reference_is", "LibTorch: autograd and in-place updates"},
                    {"reference_threads", static_cast<double>(pair.threads)},
                    {"weights", static_cast<double>(weights_of(*make_network()))}}};
  if (memory) row.extra.emplace_back("memory_in_weights", *memory);
  if (reference_memory) row.extra.emplace_back("reference_memory_in_weights", *reference_memory);
  return row;
}

std::vector<Row> measure_module(const NoOptions&) {
  const Data data;
  check_same(data);
  std::vector<Row> found;
  for (const char* name : {"sgld", "sghmc", "adam"}) found.push_back(measure_case(name, data));
  return found;
}

[[maybe_unused]] const bool registered = torch_measures().add("module", Measure::of(measure_module));

}  // namespace
}  // namespace stein::bench
