#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <stein/core/error.h>
#include <stein/inference/module_model.h>
#include <stein/inference/tensor_view.h>
#include <torch/nn/module.h>

#include <algorithm>

namespace stein::inference {
namespace {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

std::vector<NamedTensor> trainable(const torch::nn::Module& module) {
  std::vector<NamedTensor> parameters;
  for (const auto& item : module.named_parameters())
    if (item.value().requires_grad()) parameters.push_back({item.key(), item.value()});
  return parameters;
}

std::vector<std::int64_t> shape_of(const at::Tensor& tensor) {
  return tensor.dim() == 0 ? std::vector<std::int64_t>{1} : tensor.sizes().vec();
}

Layout module_layout(const torch::nn::Module& module) {
  Layout layout;
  std::string owner;
  std::int64_t layer = -1;
  for (const auto& [name, tensor] : trainable(module)) {
    STEIN_CHECK(tensor.scalar_type() == at::kFloat, "module: parameter '{}' must be float32, it is {}", name,
                at::toString(tensor.scalar_type()));
    STEIN_CHECK(tensor.is_cpu(), "module: parameter '{}' must be on the CPU, it is on {}", name, tensor.device().str());
    const std::size_t dot = name.rfind('.');
    std::string path = dot == std::string::npos ? "" : name.substr(0, dot);
    if (layer < 0 || path != owner) ++layer;
    owner = std::move(path);
    layout.add(name, shape_of(tensor), tensor.dim() > 1 ? Role::weight : Role::bias, layer);
  }
  STEIN_CHECK(layout.size() > 0, "module: no parameter is trainable");
  for (const auto& item : module.named_buffers())
    if (item.value().is_floating_point()) layout.add_buffer(item.key(), shape_of(item.value()));
  return layout;
}

/// Seeds LibTorch's generator from a key and gives it its old state back at the end.
class SeededGenerator {
 public:
  SeededGenerator() : generator_(at::globalContext().defaultGenerator(at::kCPU)), state_(generator_.get_state()) {}
  ~SeededGenerator() { generator_.set_state(state_); }
  SeededGenerator(const SeededGenerator&) = delete;
  SeededGenerator& operator=(const SeededGenerator&) = delete;

  void seed(const NoiseKey& key, std::int64_t row) {
    const PhiloxBlock words = random_block(key, static_cast<std::uint32_t>(row), 0);
    generator_.set_current_seed(std::uint64_t{words[1]} << 32 | words[0]);
  }

 private:
  at::Generator generator_;
  at::Tensor state_;
};

/// What particle `i` sees of a batch.
Batch<float> own_batch(const Batch<float>& batch, std::int64_t i) {
  Batch<float> own = batch;
  if (batch.inputs_per_particle && batch.inputs.one_hot())
    own.inputs.indices = batch.inputs.indices.block(i * batch.rows, batch.rows);
  else if (batch.inputs_per_particle)
    own.inputs.dense = batch.inputs.dense.block(i * batch.rows, batch.rows);
  if (batch.targets_per_particle) own.targets = batch.targets.block(i * batch.rows, batch.rows);
  own.inputs_per_particle = own.targets_per_particle = false;
  return own;
}

}  // namespace

/// The module's parameters as views of one flat row after the other; gives the module its own tensors and buffers back.
class ModuleModel::Binding {
 public:
  Binding(const torch::nn::Module& module, const Layout& layout) : layout_(layout), parameters_(trainable(module)) {
    STEIN_CHECK(parameters_.size() == layout.entries().size(),
                "module: its parameters changed since the model was made");
    for (const NamedTensor& parameter : parameters_) {
      own_values_.push_back(parameter.tensor.detach());
      own_gradients_.push_back(parameter.tensor.grad());
    }
    for (const at::Tensor& buffer : module.buffers()) buffers_.emplace_back(buffer, buffer.clone());
  }
  ~Binding() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i].tensor.set_data(own_values_[i]);
      parameters_[i].tensor.mutable_grad() = own_gradients_[i];
    }
    restore_buffers();
  }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  void bind(std::span<const float> values, std::span<float> gradient) {
    restore_buffers();
    std::ranges::fill(gradient, 0.0F);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      at::Tensor& parameter = parameters_[i].tensor;
      parameter.mutable_grad() = at::Tensor();
      parameter.set_data(view(values, i));
      if (!gradient.empty()) parameter.mutable_grad() = view(gradient, i);
    }
  }

  /// Throws Error(usage) if a parameter or its gradient no longer lies where `bind` put it.
  void check_places(std::span<const float> values, std::span<float> gradient) const {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto& [name, tensor] = parameters_[i];
      const std::int64_t offset = layout_.entries()[i].offset;
      STEIN_CHECK(tensor.const_data_ptr() == values.data() + offset &&
                      tensor.grad().const_data_ptr() == gradient.data() + offset,
                  "module: parameter '{}' or its gradient was moved to other memory while it was scored", name);
    }
  }

 private:
  template <class Number>
  at::Tensor view(std::span<Number> row, std::size_t i) const {
    return at::from_blob(const_cast<float*>(row.data()) + layout_.entries()[i].offset, own_values_[i].sizes(),
                         tensor_options<float>());
  }
  void restore_buffers() {
    const c10::NoGradGuard no_gradient;
    for (auto& [buffer, kept] : buffers_) buffer.copy_(kept);
  }

  const Layout& layout_;
  std::vector<NamedTensor> parameters_;
  std::vector<at::Tensor> own_values_, own_gradients_;
  std::vector<std::pair<at::Tensor, at::Tensor>> buffers_;
};

ModuleModel::ModuleModel(std::shared_ptr<torch::nn::Module> module, ModuleFunctions functions)
    : module_(std::move(module)), functions_(std::move(functions)) {
  STEIN_CHECK(module_ != nullptr, "module: expected a module, got none");
  STEIN_CHECK(functions_.log_likelihood != nullptr, "module: expected a function that gives the log-likelihood");
  STEIN_CHECK(functions_.output_count >= 1, "module: output count must be at least 1, got {}", functions_.output_count);
  layout_ = module_layout(*module_);
}

ModuleModel::~ModuleModel() = default;

void ModuleModel::log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch,
                                 const NoiseKey& noise, MatrixView<float> gradient, std::span<float> value) {
  STEIN_CHECK(weights.values.columns == layout_.size() && gradient.columns == layout_.size() &&
                  gradient.rows == weights.values.rows,
              "module: expected weights and gradients [m, {}], got [{}, {}] and [{}, {}]", layout_.size(),
              weights.values.rows, weights.values.columns, gradient.rows, gradient.columns);
  STEIN_CHECK(batch.rows >= 1 && batch.data_size > 0, "batch: n and N must be positive, got {} and {}", batch.rows,
              batch.data_size);
  const std::scoped_lock lock(busy_);
  const c10::AutoGradMode with_gradient(true);
  Binding binding(*module_, layout_);
  SeededGenerator generator;
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    generator.seed(noise, weights.first_row + i);
    binding.bind(weights.values.row(i), gradient.row(i));
    const at::Tensor sum = functions_.log_likelihood(own_batch(batch, i));
    STEIN_CHECK(sum.defined() && sum.numel() == 1 && sum.requires_grad(),
                "module: the log-likelihood must be one number that depends on the parameters");
    const at::Tensor scaled = sum * (batch.data_size / static_cast<double>(batch.rows));
    scaled.backward();
    binding.check_places(weights.values.row(i), gradient.row(i));
    if (!value.empty()) value[i] = scaled.item<float>();
  }
}

void ModuleModel::predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                          MatrixView<float> outputs) {
  STEIN_CHECK(functions_.outputs != nullptr, "module: expected a function that gives the outputs");
  const std::int64_t rows = inputs.rows();
  STEIN_CHECK(weights.values.columns == layout_.size() && outputs.rows == weights.values.rows * rows &&
                  outputs.columns == output_count(),
              "module: expected weights [m, {}] and outputs [{}, {}], got [{}, {}] and [{}, {}]", layout_.size(),
              weights.values.rows * rows, output_count(), weights.values.rows, weights.values.columns, outputs.rows,
              outputs.columns);
  const std::scoped_lock lock(busy_);
  const c10::NoGradGuard no_gradient;
  Binding binding(*module_, layout_);
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    binding.bind(weights.values.row(i), {});
    const at::Tensor found = functions_.outputs(inputs);
    STEIN_CHECK(found.dim() == 2 && found.size(0) == rows && found.size(1) == output_count(),
                "module: the outputs must be [{}, {}], got {} numbers in {} dimensions", rows, output_count(),
                found.numel(), found.dim());
    tensor_view(outputs.block(i * rows, rows)).copy_(found);
  }
}

void ModuleModel::copy_parameters(std::span<float> row) const {
  STEIN_CHECK(row.size() >= static_cast<std::size_t>(layout_.size()), "module: expected a row of {} numbers, got {}",
              layout_.size(), row.size());
  const std::vector<NamedTensor> parameters = trainable(*module_);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor values = parameters[i].tensor.detach().contiguous();
    std::copy_n(values.const_data_ptr<float>(), values.numel(), row.begin() + layout_.entries()[i].offset);
  }
}

}  // namespace stein::inference
