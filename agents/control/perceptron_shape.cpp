#include <stein/agents/control/perceptron_shape.h>
#include <stein/core/error.h>

#include <algorithm>

namespace stein::agents {

using inference::LayoutEntry;

PerceptronShape::PerceptronShape(const inference::Layout& layout, inference::Activation activation)
    : relu(activation == inference::Activation::relu) {
  const LayoutEntry* weight = nullptr;
  while ((weight = layout.find(fmt::format("layer{}.weight", layers))) != nullptr) {
    STEIN_CHECK(layers < most_layers, "rollouts on a device: expected a network of at most {} layers", most_layers);
    const LayoutEntry* const bias = layout.find(fmt::format("layer{}.bias", layers));
    Layer& here = layer[layers++];
    here = {.inputs = static_cast<int>(weight->rows()),
            .outputs = static_cast<int>(weight->columns()),
            .weight = static_cast<int>(weight->offset),
            .bias = static_cast<int>(bias->offset),
            .stride = static_cast<int>(weight->row_stride),
            .shared = size};
    size += (here.inputs + 1) * here.outputs;
    widest = std::max(widest, here.outputs);
  }
  if (const LayoutEntry* const entry = layout.find("constants"); entry != nullptr) {
    constants = static_cast<int>(entry->columns());
    constant = static_cast<int>(entry->offset);
    shared_constant = size;
    size += constants;
  }
  size = (size + 3) / 4 * 4;
}

}  // namespace stein::agents
