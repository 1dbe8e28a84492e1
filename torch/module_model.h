// Any LibTorch module as a likelihood: its parameters are views of the flat vectors that a sampler moves.
#pragma once

#include <stein/inference/input_gradient.h>
#include <stein/inference/model.h>
#include <stein/inference/precision.h>

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
  /// Σ_i w_i log p(y_i | x_i, θ) of a batch (not scaled by N/n): a tensor of one element that autograd can follow,
  /// float or double. Where differences of its values decide (HMC, NUTS), sum terms of many rows in double. A module
  /// with state reads `inputs.carried.before` [1, C] and, unless that is empty, writes what comes after, detached, to
  /// `inputs.carried.after`, both on `inputs.carried.device`. All else that a batch has is on the host; what the module
  /// computes with it goes to the device of the model.
  std::function<at::Tensor(const Batch<float>&)> log_likelihood{};
  /// The logits [n, K] of dense inputs [n, D] as a tensor that autograd can follow to them, on the model's device: what
  /// `input_gradient` needs.
  std::function<at::Tensor(const at::Tensor& dense)> logits{};
  /// The outputs [r, K] for some inputs: means, or logits. State as above.
  std::function<at::Tensor(const Inputs<float>&)> outputs{};
  std::int64_t output_count = 1;  ///< K
  /// r for some inputs; none: one row of outputs an input row.
  std::function<std::int64_t(const Inputs<float>&)> output_rows{};
  /// C for some inputs; none: the module carries no state.
  std::function<std::int64_t(const Inputs<float>&)> carried_size{};
  std::int64_t carried_blocks = 1;  ///< as Model::carried_blocks
  /// Draws the module's parameters anew, from LibTorch's generator: how every particle starts. `draw_layers` does it
  /// for LibTorch's own layers. None: N(0, spread²/fan-in), biases 0, gains 1.
  std::function<void(torch::nn::Module&)> draw_start{};
  /// Draws a row of weights in the order of the layout instead; `row` is its global number.
  std::function<void(std::span<float> weights, std::uint64_t seed, std::int64_t row)> draw_weights{};
  /// How often a parameter is used for one row of inputs (LayoutEntry::uses); none: once.
  std::function<std::int64_t(std::string_view parameter)> uses{};
  /// Whether `log_likelihood` draws from LibTorch's generator, as dropout does. There is one for the whole process, so
  /// models that draw wait for one another; those that do not run at the same time.
  bool draws_numbers = true;
};

/// The log-likelihood of a `torch::nn::Module`, one particle after the other.
///
/// During a call every parameter is bound to a view of its place in the flat vector and its gradient to a view of the
/// flat gradient: no copies. Parameters of one layer are views of one tensor, so that a recurrent layer of cuDNN finds
/// its flat buffer. Afterwards the module has its own numbers back. A module belongs to one model.
///
/// Trainable parameters are laid out under the names of `named_parameters()`, a module's own parameters in one layer.
/// Recurrent layers come first, each in the order of cuDNN's flat buffer (matrices, then biases); the others follow in
/// the order in which they are registered. Matrices and kernels are Role::weight; gains of normalisations, and whatever
/// else of one dimension starts at 1 throughout, Role::gain; other vectors Role::bias. Weights start with the fan-in of
/// their layer: inputs × kernel of a convolution (of a transposed one, kernel / stride), inputs of a linear or
/// recurrent matrix, 1 of an embedding. Frozen
/// parameters are not sampled.
///
/// Real-valued buffers (the running statistics of batch normalisation) are the buffers of the layout: during a call the
/// module has those of the particle, or where the rows bring none its own; `adapt` writes what one more evaluation in
/// the module's present mode makes of them. Whole-numbered buffers (a count of batches) stay as they were, so batch
/// normalisation needs a momentum. A call leaves the module's own buffers as it found them.
///
/// Dropout draws from LibTorch's generator, seeded from the noise key and the particle's row for the length of a call.
/// One call of a model runs at a time; LibTorch's own threads share its work.
///
/// The likelihood is computed in the mode that the module is in; `predict` in evaluation mode, without dropout and with
/// the running statistics, unless `Inputs::dropout` gives a key: then in the module's own mode. A batch's input mask is
/// multiplied into the inputs before the function sees them.
class ModuleModel final : public Model<float>, public InputGradient {
 public:
  /// @param device  where the weights and buffers of calls lie; the module's own numbers stay on the CPU
  /// @param precision  of products and convolutions: bfloat16 is LibTorch's mixed precision, whose weights, gradients
  ///                and sums of many rows stay floats; what a GPU multiplies in floats all the same, it rounds to TF32
  ///                then. Whether a GPU does is set for the whole process: the last model that is made there says so
  /// @throws Error(usage) naming the trainable parameter or real-valued buffer that is not float32 or not on the CPU,
  ///         or is registered under two names; if no parameter is trainable; for a complex buffer; without a module or
  ///         a log-likelihood; unless output_count ≥ 1; for TF32 on the host; where there is no such device
  ModuleModel(std::shared_ptr<torch::nn::Module> module, ModuleFunctions functions, Device device = {},
              Precision precision = Precision::single);
  ~ModuleModel() override;
  ModuleModel(ModuleModel&&) noexcept;

  const Layout& layout() const override { return layout_; }
  Device device() const override { return device_; }
  bool answers_late() const override { return device_.kind != Device::Kind::host; }
  bool concurrent() const override { return false; }
  std::int64_t output_count() const override { return functions_.output_count; }
  std::int64_t output_rows(const Inputs<float>& inputs) const override;
  std::int64_t carried_size(const Inputs<float>& inputs) const override;
  std::int64_t carried_blocks() const override { return functions_.carried_blocks; }
  bool draw_start(std::span<float> weights, std::uint64_t seed, std::int64_t row) const override;
  /// The module's own buffers.
  void initialise_buffers(std::span<float> row) const override;

  /// @throws Error(usage) for shapes that do not fit and for a batch with a score of its own; if the functions leave
  ///         some of `inputs.carried.after` as it was, give no scalar, or move a parameter to other memory; if the
  ///         module's parameters changed since the model was made
  void log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                      const Evaluation<float>& wanted) override;
  /// By differentiating twice; where an operation of the module has no second derivative, by
  /// differences.
  void hessian_product(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                       MatrixView<const float> vectors, MatrixView<float> product) override;
  void adapt(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
             MatrixView<float> buffers) override;
  void predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
               MatrixView<float> outputs) override;
  /// Throws Error(usage) where the functions have no `logits`.
  void input_gradient(const ParticleRows<const float>& weights, MatrixView<const float> inputs,
                      std::span<const std::int64_t> classes, MatrixView<float> gradient) override;
  /// On a device its `log_probabilities` brings nothing else to the host than these.
  std::unique_ptr<Predictor<float>> predictor(const ParticleRows<const float>& weights) override;

  /// Writes the module's own parameters into a row: a trained network as the start of a chain.
  void copy_parameters(std::span<float> row) const;

 private:
  class Call;
  class DevicePredictor;
  /// Calls take(i, outputs [r, K]) for row i of the weights.
  void for_outputs(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                   const std::function<void(std::int64_t, const at::Tensor&)>& take);
  /// Σ_i w_i log p(y_i | x_i, θ) with the parameters that are bound.
  at::Tensor log_likelihood_of(const Batch<float>& batch) const;
  std::unique_ptr<LateNumbers> send_home(const at::Tensor& number) const;
  /// Whether it could be done.
  bool differentiate_twice(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                           MatrixView<const float> vectors, MatrixView<float> product);
  /// Throws Error(usage) unless the rows are of the layout and on the device.
  void check_rows(const ParticleRows<const float>& rows) const;

  struct Parameters;
  std::shared_ptr<torch::nn::Module> module_;
  ModuleFunctions functions_;
  Precision precision_;
  std::unique_ptr<Parameters> parameters_;  ///< the module's, in the order of the layout
  Layout layout_;
  Device device_;
};

}  // namespace stein::inference
