#include <stein/core/error.h>
#include <stein/torch/module_parameters.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/instancenorm.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/rnn.h>

#include <algorithm>
#include <map>

namespace stein::inference {
namespace {

using torch::nn::Module;

template <class... Layers>
bool is_any(const Module& layer) {
  return ((dynamic_cast<const Layers*>(&layer) != nullptr) || ...);
}

bool is_recurrent(const Module& layer) {
  return is_any<torch::nn::RNNImpl, torch::nn::LSTMImpl, torch::nn::GRUImpl>(layer);
}

bool is_normalisation(const Module& layer) {
  using namespace torch::nn;
  return is_any<BatchNorm1dImpl, BatchNorm2dImpl, BatchNorm3dImpl, InstanceNorm1dImpl, InstanceNorm2dImpl,
                InstanceNorm3dImpl, LayerNormImpl, GroupNormImpl>(layer);
}

bool is_embedding(const Module& layer) {
  return is_any<torch::nn::EmbeddingImpl, torch::nn::EmbeddingBagImpl>(layer);
}

/// Also of layers that Stein does not know: nothing else with one dimension starts at 1 throughout.
bool is_gain(const Module* owner, const std::string& own_name, const at::Tensor& tensor) {
  if (owner != nullptr && is_normalisation(*owner)) return own_name == "weight";
  return tensor.dim() == 1 && tensor.numel() > 0 && tensor.eq(1).all().item<bool>();
}

/// Weights of a transposed convolution are [inputs, outputs / groups, kernel…]; of a kernel one place of every stride
/// meets a number of the output. 0 if the layer is none.
template <std::size_t dimensions, class Layer>
std::int64_t transposed_fan_in(const Module* owner, const at::Tensor& tensor) {
  const auto* layer = dynamic_cast<const Layer*>(owner);
  if (layer == nullptr) return 0;
  std::int64_t found = tensor.size(0) / layer->options.groups();
  for (std::size_t d = 0; d < dimensions; ++d)
    found *= std::max<std::int64_t>(1, layer->options.kernel_size()->at(d) / layer->options.stride()->at(d));
  return found;
}

/// Other layers of LibTorch keep weights [outputs, inputs, …]; a row of an embedding is chosen, not added up.
std::int64_t fan_in(const Module* owner, const at::Tensor& tensor) {
  using namespace torch::nn;
  if (tensor.dim() < 2 || (owner != nullptr && is_embedding(*owner))) return 1;
  for (const std::int64_t transposed : {transposed_fan_in<1, ConvTranspose1dImpl>(owner, tensor),
                                        transposed_fan_in<2, ConvTranspose2dImpl>(owner, tensor),
                                        transposed_fan_in<3, ConvTranspose3dImpl>(owner, tensor)})
    if (transposed > 0) return transposed;
  return tensor.numel() / tensor.size(0);
}

}  // namespace

std::vector<ModuleParameter> module_parameters(const Module& module) {
  const c10::NoGradGuard no_gradient;
  std::map<std::string, std::shared_ptr<const Module>> layers;
  for (const auto& layer : module.named_modules("", /*include_self=*/false)) layers[layer.key()] = layer.value();
  const auto owner_of = [&](const std::string& path) -> const Module* {
    const auto place = layers.find(path);
    return path.empty() ? &module : place == layers.end() ? nullptr : place->second.get();
  };

  std::vector<ModuleParameter> recurrent, others;
  std::string last_path;
  std::size_t first_of_layer = 0;
  const auto matrices_first = [&] {
    std::stable_partition(recurrent.begin() + static_cast<std::ptrdiff_t>(first_of_layer), recurrent.end(),
                          [](const ModuleParameter& parameter) { return parameter.tensor.dim() > 1; });
    first_of_layer = recurrent.size();
  };
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    for (const auto* known : {&recurrent, &others})
      for (const ModuleParameter& parameter : *known)
        STEIN_CHECK(!parameter.tensor.is_same(item.value()),
                    "module: '{}' and '{}' are one parameter; expected it registered once and used twice in `forward`",
                    parameter.name, item.key());
    const std::string& name = item.key();
    const std::size_t dot = name.rfind('.');
    const std::string path = dot == std::string::npos ? "" : name.substr(0, dot);
    const Module* owner = owner_of(path);
    const bool gain = is_gain(owner, dot == std::string::npos ? name : name.substr(dot + 1), item.value());
    const Role role = gain ? Role::gain : item.value().dim() > 1 ? Role::weight : Role::bias;
    if (owner == nullptr || !is_recurrent(*owner)) {
      others.push_back(
          {name, item.value(), role, fan_in(owner, item.value()), owner != nullptr && is_embedding(*owner)});
      continue;
    }
    if (path != last_path) matrices_first();
    last_path = path;
    recurrent.push_back({name, item.value(), role, fan_in(owner, item.value())});
  }
  matrices_first();
  recurrent.insert(recurrent.end(), others.begin(), others.end());
  return recurrent;
}

}  // namespace stein::inference
