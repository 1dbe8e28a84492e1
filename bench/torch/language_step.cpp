#include <stein/bench/torch/language_step.h>
#include <stein/core/options.h>
#include <stein/inference/models/particle_recurrent.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/lm/network/recurrent_options.h>
#include <torch/cuda.h>

namespace stein::bench {
namespace {

using namespace stein::inference;
using namespace stein::training;

WeightMethodOptions options_of(const std::string& method) {
  WeightMethodOptions options = weight_methods().at(method).defaults;
  OptionTable table = OptionTable::of(options);
  table.set("step_size", "1e-7");  // of a measure, not of a training: it goes nowhere
  if (table.contains("optimizer")) table.set("optimizer", "sgd"), table.set("momentum", "0");
  return options;
}

WeightSampler sampler_of(const std::string& method, const LanguageCase& which, Device device, Precision precision) {
  const RecurrentSpec spec{.vocabulary = which.words, .hidden = which.hidden, .precision = precision};
  return WeightSampler(options_of(method), lm::make_recurrent_model(spec, Arithmetic::fused, device, 1),
                       {.size = which.data_size,
                        .sequence = static_cast<double>(which.unroll),
                        .minibatches = which.data_size / which.tokens()},
                       1);
}

/// [B, T] as LibTorch's layers have it: [T, B].
torch::Tensor time_first(const auto& numbers, const LanguageCase& which) {
  return torch::tensor(std::vector<std::int64_t>(numbers.begin(), numbers.end()))
      .view({which.rows, which.unroll})
      .t()
      .contiguous();
}

torch::Device torch_device(Device device) {
  if (device.kind != Device::Kind::cuda) return torch::kCPU;
  return {torch::kCUDA, static_cast<torch::DeviceIndex>(device.index)};
}

}  // namespace

RandomTokens::RandomTokens(const LanguageCase& given) : which(given) {
  Draws draws({.seed = 1}, 0);
  const auto words = static_cast<std::uint32_t>(which.words);
  for (std::int64_t i = 0; i < which.rows * which.unroll; ++i) {
    tokens.push_back(static_cast<std::int32_t>(draws.integer(words)));
    targets.push_back(static_cast<float>(draws.integer(words)));
  }
}

MethodStep::MethodStep(const std::string& method, const RandomTokens& data, Device device, Precision precision)
    : data_(data),
      weights_(sampler_of(method, data.which, device, precision)),
      state_(weights_.weight_rows(), weights_.posterior().model().carried_size(batch().inputs)) {}

void MethodStep::step() {
  Batch<float> now = batch();
  now.inputs.carried = state_.rows();
  weights_.step(now);
}

Batch<float> MethodStep::batch() const {
  const LanguageCase& which = data_.which;
  Batch<float> made;
  made.inputs.tokens = {data_.tokens.data(), which.rows, which.unroll};
  made.targets = {data_.targets.data(), which.rows, which.unroll};
  made.rows = which.rows, made.size = which.rows * which.unroll, made.data_size = which.data_size;
  made.unit = DataUnit::tokens;
  return made;
}

PlainStep::PlainStep(const RandomTokens& data, torch::Device device)
    : scored_(data.which.rows * data.which.unroll),
      embedding_(torch::nn::EmbeddingOptions(data.which.words, data.which.hidden)),
      lstm_(torch::nn::LSTMOptions(data.which.hidden, data.which.hidden).num_layers(2)),
      output_(data.which.hidden, data.which.words),
      h_(torch::zeros({2, data.which.rows, data.which.hidden}, device)),
      c_(torch::zeros_like(h_)),
      tokens_(time_first(data.tokens, data.which).to(device)),
      targets_(time_first(data.targets, data.which).reshape(-1).to(device)) {
  embedding_->to(device), lstm_->to(device), output_->to(device);
  for (const auto& part : {embedding_->parameters(), lstm_->parameters(), output_->parameters()})
    parameters_.insert(parameters_.end(), part.begin(), part.end());
}

void PlainStep::step() {
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad() = torch::Tensor();
  const auto [states, last] = lstm_(embedding_(tokens_), std::make_tuple(h_, c_));
  h_ = std::get<0>(last).detach(), c_ = std::get<1>(last).detach();
  torch::nn::functional::cross_entropy(output_(states.reshape({scored_, -1})), targets_).backward();
  const torch::NoGradGuard no_gradient;
  for (torch::Tensor& parameter : parameters_) parameter.sub_(parameter.grad(), 1e-7);
}

std::vector<Row> measure_language_steps_on(Device device, const std::vector<std::string>& methods,
                                           const LanguageCase& which, const PairSettings& settings) {
  check_present(device);
  constexpr std::int64_t steps = 10;
  const RandomTokens data(which);
  PlainStep reference(data, torch_device(device));
  const auto wait = [&] {
    if (device.kind == Device::Kind::cuda) torch::cuda::synchronize(device.index);
  };
  const auto ten_steps = [&](auto& by) {
    for (std::int64_t k = 0; k < steps; ++k) by.step();
    wait();
  };
  std::vector<Row> measured;
  for (const std::string& method : methods) {
    MethodStep ours(method, data, device);
    const Pair pair = measure_pair([&] { ten_steps(ours); }, [&] { ten_steps(reference); }, settings);
    const double tokens = steps * which.tokens();
    measured.push_back({.name = fmt::format("{}-2x{}", method, which.hidden),
                        .ours = tokens / pair.ours,
                        .reference = tokens / pair.reference,
                        .unit = "tokens/s",
                        .better = Better::higher,
                        .extra = {{"reference_is", "plain SGD in LibTorch on the same device"},
                                  {"device", device_memory(device.kind).model(device.index)}}});
  }
  return measured;
}

}  // namespace stein::bench
