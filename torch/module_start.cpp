#include <stein/core/error.h>
#include <stein/torch/module_start.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/instancenorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/rnn.h>

namespace stein::inference {
namespace {

using torch::nn::Module;

/// Whether it was a `Layer`, which has drawn its parameters.
template <class Layer>
bool draw_as(Module& module) {
  auto* const layer = dynamic_cast<Layer*>(&module);
  if (layer != nullptr) layer->reset_parameters();
  return layer != nullptr;
}

template <class... Layers>
bool draw_as_any(Module& module) {
  return (draw_as<Layers>(module) || ...);
}

bool draw_layer(Module& layer) {
  using namespace torch::nn;
  return draw_as_any<LinearImpl, BilinearImpl, Conv1dImpl, Conv2dImpl, Conv3dImpl, ConvTranspose1dImpl,
                     ConvTranspose2dImpl, ConvTranspose3dImpl, RNNImpl, LSTMImpl, GRUImpl, RNNCellImpl, LSTMCellImpl,
                     GRUCellImpl, EmbeddingImpl, EmbeddingBagImpl, BatchNorm1dImpl, BatchNorm2dImpl, BatchNorm3dImpl,
                     InstanceNorm1dImpl, InstanceNorm2dImpl, InstanceNorm3dImpl, LayerNormImpl, GroupNormImpl>(layer);
}

}  // namespace

void draw_layers(Module& module) {
  const auto draw = [](Module& layer, const std::string& name) {
    STEIN_CHECK(draw_layer(layer) || layer.parameters(/*recurse=*/false).empty(),
                "module: layer '{}' has parameters of its own, and only it knows how they start; expected a function "
                "that draws them",
                name);
  };
  draw(module, module.name());
  for (const auto& layer : module.named_modules("", /*include_self=*/false)) draw(*layer.value(), layer.key());
}

}  // namespace stein::inference
