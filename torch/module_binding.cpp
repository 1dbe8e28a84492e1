#include <stein/core/error.h>
#include <stein/torch/module_binding.h>

#include <algorithm>

namespace stein::inference {
namespace {

/// The buffers of the layout, in its order.
std::vector<at::Tensor> real_buffers(const torch::nn::Module& module) {
  std::vector<at::Tensor> buffers = module.buffers();
  std::erase_if(buffers, [](const at::Tensor& buffer) { return !buffer.is_floating_point(); });
  return buffers;
}

/// The place of buffer `i` in a row of buffers, as a tensor of its shape.
template <class Number>
at::Tensor buffer_view(std::span<Number> row, const Layout& layout, std::size_t i, const at::Tensor& buffer,
                       const at::TensorOptions& options) {
  return at::from_blob(const_cast<float*>(row.data()) + layout.buffers()[i].offset, buffer.sizes(), options);
}

/// Throws Error(usage) unless the module trains `known` and no others.
void check_parameters(const torch::nn::Module& module, const std::vector<ModuleParameter>& known) {
  std::size_t found = 0;
  for (const at::Tensor& tensor : module.parameters())
    if (tensor.requires_grad()) {
      ++found;
      STEIN_CHECK(std::ranges::any_of(known, [&](const auto& each) { return each.tensor.is_same(tensor); }),
                  "module: its parameters changed since the model was made");
    }
  STEIN_CHECK(found == known.size(), "module: its parameters changed since the model was made");
}

}  // namespace

void copy_buffers(const torch::nn::Module& module, const Layout& layout, Device device, std::span<float> row) {
  const c10::NoGradGuard no_gradient;
  const std::vector<at::Tensor> buffers = real_buffers(module);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    buffer_view(row, layout, i, buffers[i], tensor_options<float>(device)).copy_(buffers[i]);
}

ModuleBinding::ModuleBinding(const torch::nn::Module& module, const Layout& layout,
                             std::vector<ModuleParameter> parameters, Device device)
    : layout_(layout),
      options_(tensor_options<float>(device)),
      parameters_(std::move(parameters)),
      real_buffers_(real_buffers(module)) {
  check_parameters(module, parameters_);
  for (const ModuleParameter& parameter : parameters_) {
    own_values_.push_back(parameter.tensor.detach());
    own_gradients_.push_back(parameter.tensor.grad());
  }
  for (const at::Tensor& buffer : module.buffers()) buffers_.emplace_back(buffer, buffer.clone());
  for (at::Tensor& buffer : real_buffers_) {
    own_buffers_.push_back(buffer.detach());
    if (buffer.device() != options_.device()) buffer.set_data(buffer.to(options_.device()));
  }
}

ModuleBinding::~ModuleBinding() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].tensor.set_data(own_values_[i]);
    parameters_[i].tensor.mutable_grad() = own_gradients_[i];
  }
  for (std::size_t i = 0; i < real_buffers_.size(); ++i)
    if (real_buffers_[i].device() != own_buffers_[i].device()) real_buffers_[i].set_data(own_buffers_[i]);
  restore_buffers();
}

void ModuleBinding::bind(std::span<const float> values, std::span<const float> buffers, std::span<float> gradient) {
  restore_buffers();
  if (!buffers.empty()) take_buffers(buffers);
  if (!gradient.empty()) at::from_blob(gradient.data(), {std::ssize(gradient)}, options_).zero_();
  at::Tensor layer_values, layer_gradient;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& parameter = parameters_[i].tensor;
    if (begins_layer(i)) {
      layer_values = layer_view(values, i);
      if (!gradient.empty()) layer_gradient = layer_view(gradient, i);
    }
    parameter.mutable_grad() = at::Tensor();
    parameter.set_data(part_of(layer_values, i));
    if (!gradient.empty()) parameter.mutable_grad() = part_of(layer_gradient, i);
  }
}

void ModuleBinding::check_places(std::span<const float> values, std::span<float> gradient) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, tensor, role, fan_in, looked_up] = parameters_[i];
    const std::int64_t offset = layout_.entries()[i].offset;
    STEIN_CHECK(tensor.const_data_ptr() == values.data() + offset &&
                    (gradient.empty() || tensor.grad().const_data_ptr() == gradient.data() + offset),
                "module: parameter '{}' or its gradient was moved to other memory while it was scored", name);
  }
}

std::vector<at::Tensor> ModuleBinding::parameters() const {
  std::vector<at::Tensor> tensors;
  for (const ModuleParameter& parameter : parameters_) tensors.push_back(parameter.tensor);
  return tensors;
}

at::Tensor ModuleBinding::part_of(const at::Tensor& layer, std::size_t i) const {
  std::size_t first = i;
  while (!begins_layer(first)) --first;
  const LayoutEntry& entry = layout_.entries()[i];
  return layer.narrow(0, entry.offset - layout_.entries()[first].offset, entry.size()).view(own_values_[i].sizes());
}

void ModuleBinding::take_buffers(std::span<const float> row) {
  const c10::NoGradGuard no_gradient;
  for (std::size_t i = 0; i < real_buffers_.size(); ++i)
    real_buffers_[i].copy_(buffer_view(row, layout_, i, real_buffers_[i], options_));
}

void ModuleBinding::restore_buffers() {
  const c10::NoGradGuard no_gradient;
  for (auto& [buffer, kept] : buffers_) buffer.copy_(kept);
}

}  // namespace stein::inference
