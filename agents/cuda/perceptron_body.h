// A small perceptron in the shared memory of a block: its weights, and its layers for all slots of the block at once.
#pragma once

#include <stein/agents/control/rollout_places.h>
#include <stein/inference/cuda/coordinate_group.h>

#include <cmath>

namespace stein::agents::cuda {

/// Copies a row of weights to shared memory, each thread its part.
STEIN_HOST_DEVICE inline void load_weights(const PerceptronShape& network, const float* weights, float* shared,
                                           int thread, int threads) {
  for (int l = 0; l < network.layers; ++l) {
    const PerceptronShape::Layer& layer = network.layer[l];
    const int size = layer.inputs * layer.outputs;
    for (int q = thread; q < size; q += threads)
      shared[layer.shared + q] = weights[layer.weight + q / layer.outputs * layer.stride + q % layer.outputs];
    for (int j = thread; j < layer.outputs; j += threads) shared[layer.shared + size + j] = weights[layer.bias + j];
  }
  for (int a = thread; a < network.constants; a += threads)
    shared[network.shared_constant + a] = weights[network.constant + a];
}

/// Layer l for tiles of slots: output j is bias_j + Σ_k x_k w_kj, added up from k = 0 on in multiply-adds, then the
/// activation unless it is the last layer. A thread takes a tile of slots and one output at a time.
/// @param shared        the weights
/// @param below, above  [inputs, pitch] and [outputs, pitch]: a column a slot, on 16-byte boundaries
STEIN_HOST_DEVICE inline void pass_layer(const PerceptronShape& network, int l, const float* shared, const float* below,
                                         float* above, int tiles, int pitch, int thread, int threads) {
  using inference::cuda::FourNumbers;
  const PerceptronShape::Layer& layer = network.layer[l];
  const bool last = l + 1 == network.layers;
  const float* const weights = shared + layer.shared;
  const float* const biases = weights + layer.inputs * layer.outputs;
  for (int item = thread; item < tiles * layer.outputs; item += threads) {
    const int j = item % layer.outputs, first = item / layer.outputs * tile_slots;
    const float bias = biases[j];
    FourNumbers sum{{bias, bias, bias, bias}};
    for (int k = 0; k < layer.inputs; ++k) {
      const FourNumbers x = *reinterpret_cast<const FourNumbers*>(below + k * pitch + first);
      const float weight = weights[k * layer.outputs + j];
      for (int i = 0; i < tile_slots; ++i) sum.number[i] = std::fma(x.number[i], weight, sum.number[i]);
    }
    if (!last)
      for (float& number : sum.number) number = network.relu ? (number > 0 ? number : 0) : std::tanh(number);
    *reinterpret_cast<FourNumbers*>(above + j * pitch + first) = sum;
  }
}

}  // namespace stein::agents::cuda
