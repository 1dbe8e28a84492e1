// A recurrent network on LibTorch: its layers on CPU and GPU, with automatic differentiation.
#pragma once

#include <stein/inference/model.h>
#include <stein/inference/models/recurrent_spec.h>

#include <memory>

namespace stein::inference {

/// The likelihood of tokens, or of classes, under a recurrent network, laid out as `recurrent_layout(spec)` says.
///
/// Inputs are `tokens` [n, T], and `dense` [n, F] where the network has features. Targets are [n, T], the next token of
/// each (a negative number: none, it is not scored), or [n, 1], the class of each sequence. The state of a minibatch of
/// n rows is h of every layer [n, H], then of an LSTM c of every layer; a bidirectional network carries none.
///
/// LSTM and tanh layers run as LibTorch's fused layers (oneDNN; cuDNN), of which each has its weights as views of one
/// flat piece of the particle; a GRU, and `DropoutMask::sequence`, step by step.
///
/// @param device  where weights and gradients lie and all is computed (Model::device)
/// @throws Error(usage) for a spec that makes no sense, and where there is no such device
std::unique_ptr<Model<float>> make_recurrent_reference(const RecurrentSpec& spec, Device device = {});

}  // namespace stein::inference
