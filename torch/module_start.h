// How the layers of a LibTorch module draw their parameters.
#pragma once

namespace torch::nn {
class Module;
}

namespace stein::inference {

/// Every layer of LibTorch's own (linear, convolutional, recurrent, embedding, normalising) draws its parameters anew,
/// as it did when it was made. Throws Error(usage) naming another layer that has parameters: whoever wrote it knows how
/// they start.
void draw_layers(torch::nn::Module& module);

}  // namespace stein::inference
