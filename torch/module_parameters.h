// The parameters of a LibTorch module in the order in which a flat row holds them, and what each of them is.
#pragma once

#include <ATen/ATen.h>
#include <stein/inference/layout.h>
#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace stein::inference {

/// A trainable parameter.
struct ModuleParameter {
  std::string name;  ///< as `named_parameters()` has it
  at::Tensor tensor;
  Role role = Role::weight;
  std::int64_t fan_in = 1;  ///< numbers that one of the layer's output adds up
  bool looked_up = false;   ///< of an embedding: rows are chosen, nothing is multiplied
};

/// The trainable parameters of `module`: first those of recurrent layers (torch::nn::RNN, LSTM, GRU), of each all
/// matrices and then all biases, as cuDNN's flat buffer has them; then the others in the order of `named_parameters()`.
/// Rows begin on 64-byte boundaries, so the first recurrent layer does too.
///
/// Throws Error(usage) for a parameter that is registered under two names.
std::vector<ModuleParameter> module_parameters(const torch::nn::Module& module);

}  // namespace stein::inference
