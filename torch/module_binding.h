// The parameters of a LibTorch module as views of a flat row, for the length of a call.
#pragma once

#include <ATen/ATen.h>
#include <stein/inference/layout.h>
#include <stein/inference/storage/device.h>
#include <stein/torch/module_parameters.h>
#include <stein/torch/tensor_view.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stein::inference {

/// Writes the buffers of a module to the place that `layout` has for them in a row of buffers on `device`, which may be
/// another one than theirs.
void copy_buffers(const torch::nn::Module& module, const Layout& layout, Device device, std::span<float> row);

/// The module's parameters as views of one flat row after the other, its real-valued buffers on the device of the rows;
/// gives the module its own tensors and buffers back.
class ModuleBinding {
 public:
  /// @param layout      of a row, outlives the binding
  /// @param parameters  of the module, in the order of the layout
  /// @param device      where the rows lie
  /// @throws Error(usage) unless the module still trains these parameters and no others
  ModuleBinding(const torch::nn::Module& module, const Layout& layout, std::vector<ModuleParameter> parameters,
                Device device);
  ~ModuleBinding();
  ModuleBinding(const ModuleBinding&) = delete;
  ModuleBinding& operator=(const ModuleBinding&) = delete;

  /// Parameters become views of `values`, their gradients of `gradient`, which is set to zero, unless it is empty; the
  /// module's buffers are those of the row `buffers`, or its own where that is empty.
  void bind(std::span<const float> values, std::span<const float> buffers, std::span<float> gradient);
  /// Throws Error(usage) if a parameter or its gradient no longer lies where `bind` put it.
  void check_places(std::span<const float> values, std::span<float> gradient) const;

  std::vector<at::Tensor> parameters() const;
  /// The place of parameter `i` in a row, as a tensor of its shape.
  template <class Number>
  at::Tensor view(std::span<Number> row, std::size_t i) const {
    return at::from_blob(const_cast<float*>(row.data()) + layout_.entries()[i].offset, own_values_[i].sizes(),
                         options_);
  }

 private:
  bool begins_layer(std::size_t i) const {
    return i == 0 || layout_.entries()[i].layer != layout_.entries()[i - 1].layer;
  }
  /// All parameters of the layer that begins with parameter `i`, one after the other.
  template <class Number>
  at::Tensor layer_view(std::span<Number> row, std::size_t i) const {
    std::int64_t size = 0;
    for (std::size_t k = i; k < parameters_.size() && (k == i || !begins_layer(k)); ++k)
      size += layout_.entries()[k].size();
    return at::from_blob(const_cast<float*>(row.data()) + layout_.entries()[i].offset, {size}, options_);
  }
  /// The place of parameter `i` in its layer.
  at::Tensor part_of(const at::Tensor& layer, std::size_t i) const;
  void take_buffers(std::span<const float> row);
  void restore_buffers();

  const Layout& layout_;
  at::TensorOptions options_;
  std::vector<ModuleParameter> parameters_;
  std::vector<at::Tensor> own_values_, own_gradients_, real_buffers_, own_buffers_;
  std::vector<std::pair<at::Tensor, at::Tensor>> buffers_;  ///< each with the values that it had
};

}  // namespace stein::inference
