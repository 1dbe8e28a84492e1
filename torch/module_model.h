// Any LibTorch module as a likelihood: its parameters are views of the flat vectors that a sampler moves.
#pragma once

#include <stein/inference/model.h>

#include <functional>
#include <memory>

namespace at {
class Tensor;
}
namespace torch::nn {
class Module;
}

namespace stein::inference {

/// What a module computes; both functions use the module that the model was made with, as they would in LibTorch.
struct ModuleFunctions {
  /// Σ_i w_i log p(y_i | x_i, θ) of a batch (not scaled by N/n): a tensor of one element that autograd can follow.
  std::function<at::Tensor(const Batch<float>&)> log_likelihood{};
  /// The outputs [n, K] for some inputs: means, or logits.
  std::function<at::Tensor(const Inputs<float>&)> outputs{};
  std::int64_t output_count = 1;  ///< K
};

/// The log-likelihood of a `torch::nn::Module`, one particle after the other.
///
/// During a call every parameter is bound to a view of its place in the flat vector and its gradient to a view of the
/// flat gradient: no copies. Afterwards the module has its own numbers back. Trainable parameters are laid out in the
/// order and under the names of `named_parameters()`: one dimension is Role::bias, more are Role::weight; a module's
/// own parameters share a layer. LibTorch keeps its matrices [outputs, inputs], so an initial spread is over √outputs.
/// Frozen parameters are not sampled.
///
/// Real-valued buffers (the running statistics of batch normalisation) are the buffers of the layout: during a call the
/// module has those of the particle, or where the rows bring none its own; `adapt` writes what one more evaluation in
/// the module's present mode makes of them. Whole-numbered buffers (a count of batches) stay as they were, so batch
/// normalisation needs a momentum. A call leaves the module's own buffers as it found them.
///
/// Dropout draws from LibTorch's generator, seeded from the noise key and the particle's row for the length of a call.
/// That generator is one for the whole process, so one call of any ModuleModel runs at a time; others wait.
///
/// The likelihood is computed in the mode that the module is in; `predict` always in evaluation mode, without dropout
/// and with the running statistics. A batch's input mask is multiplied into the inputs before the function sees them.
class ModuleModel final : public Model<float> {
 public:
  /// Throws Error(usage) naming the trainable parameter or real-valued buffer that is not float32 or not on the CPU, or
  /// or is registered under two names, or if no parameter is trainable.
  ModuleModel(std::shared_ptr<torch::nn::Module> module, ModuleFunctions functions);
  ~ModuleModel() override;

  const Layout& layout() const override { return layout_; }
  std::int64_t rows_per_call() const override { return 0; }
  std::int64_t output_count() const override { return functions_.output_count; }
  /// The module's own buffers.
  void initialise_buffers(std::span<float> row) const override;

  /// @throws Error(usage) if the functions give no scalar, or move a parameter to other memory
  void log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                      MatrixView<float> gradient, std::span<float> value) override;
  /// By differentiating twice; where an operation of the module has no second derivative, by differences.
  void hessian_product(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                       MatrixView<const float> vectors, MatrixView<float> product) override;
  void adapt(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
             MatrixView<float> buffers) override;
  void predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
               MatrixView<float> outputs) override;

  /// Writes the module's own parameters into a row: a trained network as the start of a chain.
  void copy_parameters(std::span<float> row) const;

 private:
  class Binding;
  /// (N/n) Σ_i w_i log p(y_i | x_i, θ) with the parameters that are bound.
  at::Tensor scaled_log_likelihood(const Batch<float>& batch) const;
  /// Whether it could be done.
  bool differentiate_twice(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                           MatrixView<const float> vectors, MatrixView<float> product);
  /// Throws Error(usage) unless the rows are of the layout.
  void check_rows(const ParticleRows<const float>& rows) const;

  std::shared_ptr<torch::nn::Module> module_;
  ModuleFunctions functions_;
  Layout layout_;
};

}  // namespace stein::inference
