#include <stein/bench/torch/function_update.h>
#include <stein/torch/tensor_view.h>
#include <torch/csrc/autograd/autograd.h>

#include <ATen/Functions.h>

namespace stein::bench {
namespace {

using namespace stein::inference;

/// The inputs [n, D]; on a CPU dense products beat gathering rows (particle_mlp_reference.cpp).
at::Tensor dense_rows(const Inputs<float>& inputs, std::int64_t columns) {
  if (!inputs.one_hot()) return tensor_view(inputs.dense);
  return at::zeros({inputs.rows(), columns}).scatter_(1, tensor_view(inputs.ones).to(at::kLong), 1);
}

}  // namespace

TensorFunctionUpdate::TensorFunctionUpdate(const Particles<float>& start) : particles_(start), adam_(start) {
  for (const LayoutEntry& entry : particles_.layout().entries()) {
    weights_.push_back(entry_view(particles_.values(), entry));
    gradients_.push_back(entry_view(particles_.gradients(), entry));
  }
}

void TensorFunctionUpdate::step(const Batch<float>& batch) {
  const std::int64_t particles = particles_.rows();
  std::vector<at::Tensor> leaves;
  for (const at::Tensor& weights : weights_) leaves.push_back(weights.detach().set_requires_grad(true));
  const at::Tensor inputs = dense_rows(batch.inputs, leaves[0].size(1));
  at::Tensor layer = at::baddbmm(leaves[1], inputs.expand({particles, -1, -1}), leaves[0]);
  for (std::size_t i = 2; i < leaves.size(); i += 2) layer = at::baddbmm(leaves[i + 1], layer.relu(), leaves[i]);
  const MatrixView<const std::int32_t> chosen(batch.outputs.data(), batch.rows, 1);
  const at::Tensor functions =
      layer.gather(2, tensor_view(chosen).to(at::kLong).expand({particles, -1, -1})).squeeze(2);

  at::Tensor drive;
  {
    const c10::NoGradGuard no_gradient;
    const at::Tensor f = functions.detach();
    double bandwidth = 0;
    at::Tensor kernel = median_kernel(f, bandwidth);
    kernel.div_(kernel.sum(1, true));
    const at::Tensor climb = (tensor_view(batch.targets).t() - f).mul_(batch.likelihood_scale()).sub_(f, 2 / bandwidth);
    drive = at::addmm(f * (2 / bandwidth), kernel, climb);
  }
  const std::vector<at::Tensor> slopes = torch::autograd::grad({functions}, leaves, {drive});
  const c10::NoGradGuard no_gradient;
  for (std::size_t i = 0; i < slopes.size(); ++i) gradients_[i].copy_(slopes[i]);
  at::Tensor values = tensor_view(particles_.values()), gradients = tensor_view(particles_.gradients());
  adam_.step(values, gradients.sub_(values));  // the prior
}

}  // namespace stein::bench
