#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <stein/core/error.h>
#include <stein/inference/models/masked_batch.h>
#include <stein/torch/module_model.h>
#include <stein/torch/tensor_view.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <mutex>
#include <string_view>

namespace stein::inference {
namespace {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

std::vector<NamedTensor> trainable(const torch::nn::Module& module) {
  std::vector<NamedTensor> parameters;
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    for (const auto& [name, tensor] : parameters)
      STEIN_CHECK(!tensor.is_same(item.value()),
                  "module: '{}' and '{}' are one parameter; expected it registered once and used twice in `forward`",
                  name, item.key());
    parameters.push_back({item.key(), item.value()});
  }
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
  for (const auto& item : module.named_buffers()) {
    const at::Tensor& buffer = item.value();
    STEIN_CHECK(!buffer.is_complex(), "module: buffer '{}' must be real, it is {}", item.key(),
                at::toString(buffer.scalar_type()));
    if (!buffer.is_floating_point()) continue;
    STEIN_CHECK(buffer.scalar_type() == at::kFloat, "module: buffer '{}' must be float32, it is {}", item.key(),
                at::toString(buffer.scalar_type()));
    STEIN_CHECK(buffer.is_cpu(), "module: buffer '{}' must be on the CPU, it is on {}", item.key(),
                buffer.device().str());
    layout.add_buffer(item.key(), shape_of(buffer));
  }
  return layout;
}

/// A module and all in it in evaluation mode, each back in its own at the end.
class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& module) : modules_(module.modules()) {
    for (const auto& part : modules_) trained_.push_back(part->is_training());
    module.eval();
  }
  ~EvaluationMode() {
    for (std::size_t i = 0; i < modules_.size(); ++i)  // outer ones first: what they set in inner ones is set again
      modules_[i]->train(trained_[i]);
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  std::vector<std::shared_ptr<torch::nn::Module>> modules_;
  std::vector<bool> trained_;
};

/// The buffers of the layout, in its order.
std::vector<at::Tensor> real_buffers(const torch::nn::Module& module) {
  std::vector<at::Tensor> buffers = module.buffers();
  std::erase_if(buffers, [](const at::Tensor& buffer) { return !buffer.is_floating_point(); });
  return buffers;
}

/// The place of buffer `i` in a row of buffers, as a tensor of its shape.
template <class Number>
at::Tensor buffer_view(std::span<Number> row, const Layout& layout, std::size_t i, const at::Tensor& buffer) {
  return at::from_blob(const_cast<float*>(row.data()) + layout.buffers()[i].offset, buffer.sizes(),
                       tensor_options<float>());
}

void copy_buffers(const torch::nn::Module& module, const Layout& layout, std::span<float> row) {
  const c10::NoGradGuard no_gradient;
  const std::vector<at::Tensor> buffers = real_buffers(module);
  for (std::size_t i = 0; i < buffers.size(); ++i) buffer_view(row, layout, i, buffers[i]).copy_(buffers[i]);
}

/// Held by whoever calls a module: LibTorch has one generator a process, which a call seeds and gives back.
std::mutex& module_calls() {
  static std::mutex mutex;
  return mutex;
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

void check_counts(const Batch<float>& batch) {
  STEIN_CHECK(batch.rows >= 1 && batch.data_size > 0, "batch: n and N must be positive, got {} and {}", batch.rows,
              batch.data_size);
}

}  // namespace

/// The module's parameters as views of one flat row after the other; gives the module its own tensors and buffers back.
class ModuleModel::Binding {
 public:
  Binding(const torch::nn::Module& module, const Layout& layout)
      : layout_(layout), parameters_(trainable(module)), real_buffers_(real_buffers(module)) {
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

  void bind(std::span<const float> values, std::span<const float> buffers, std::span<float> gradient) {
    restore_buffers();
    if (!buffers.empty()) take_buffers(buffers);
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

  std::vector<at::Tensor> parameters() const {
    std::vector<at::Tensor> tensors;
    for (const NamedTensor& parameter : parameters_) tensors.push_back(parameter.tensor);
    return tensors;
  }
  /// The place of parameter `i` in a row, as a tensor of its shape.
  template <class Number>
  at::Tensor view(std::span<Number> row, std::size_t i) const {
    return at::from_blob(const_cast<float*>(row.data()) + layout_.entries()[i].offset, own_values_[i].sizes(),
                         tensor_options<float>());
  }

 private:
  void take_buffers(std::span<const float> row) {
    const c10::NoGradGuard no_gradient;
    for (std::size_t i = 0; i < real_buffers_.size(); ++i)
      real_buffers_[i].copy_(buffer_view(row, layout_, i, real_buffers_[i]));
  }
  void restore_buffers() {
    const c10::NoGradGuard no_gradient;
    for (auto& [buffer, kept] : buffers_) buffer.copy_(kept);
  }

  const Layout& layout_;
  std::vector<NamedTensor> parameters_;
  std::vector<at::Tensor> own_values_, own_gradients_, real_buffers_;
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

void ModuleModel::initialise_buffers(std::span<float> row) const {
  STEIN_CHECK(std::ssize(row) == layout_.buffer_size(), "module: expected a row of {} buffers, got {}",
              layout_.buffer_size(), row.size());
  copy_buffers(*module_, layout_, row);
}

void ModuleModel::check_rows(const ParticleRows<const float>& rows) const {
  STEIN_CHECK(rows.values.columns == layout_.size(), "module: expected weights [m, {}], got [{}, {}]", layout_.size(),
              rows.values.rows, rows.values.columns);
  STEIN_CHECK(
      rows.buffers.empty() || (rows.buffers.rows == rows.values.rows && rows.buffers.columns == layout_.buffer_size()),
      "module: expected buffers [{}, {}], got [{}, {}]", rows.values.rows, layout_.buffer_size(), rows.buffers.rows,
      rows.buffers.columns);
}

at::Tensor ModuleModel::scaled_log_likelihood(const Batch<float>& batch) const {
  STEIN_CHECK(batch.score == nullptr,
              "module: a batch with a score of its own needs a perceptron; put it into "
              "the module's log-likelihood");
  const at::Tensor sum = functions_.log_likelihood(batch);
  STEIN_CHECK(sum.defined() && sum.numel() == 1 && sum.requires_grad(),
              "module: the log-likelihood must be one number that depends on the parameters");
  return sum * (batch.data_size / static_cast<double>(batch.rows));
}

void ModuleModel::log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch,
                                 const NoiseKey& noise, MatrixView<float> gradient, std::span<float> value) {
  check_rows(weights);
  STEIN_CHECK(gradient.columns == layout_.size() && gradient.rows == weights.values.rows,
              "module: expected gradients [{}, {}], got [{}, {}]", weights.values.rows, layout_.size(), gradient.rows,
              gradient.columns);
  check_counts(batch);
  const MaskedBatch<float> masked(batch);
  const std::scoped_lock lock(module_calls());
  const c10::AutoGradMode with_gradient(true);
  Binding binding(*module_, layout_);
  SeededGenerator generator;
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    generator.seed(noise, weights.first_row + i);
    binding.bind(weights.values.row(i), weights.buffers.row(i), gradient.row(i));
    const at::Tensor scaled = scaled_log_likelihood(share_of(masked.batch(), i, 1));
    scaled.backward();
    binding.check_places(weights.values.row(i), gradient.row(i));
    if (!value.empty()) value[i] = scaled.item<float>();
  }
}

void ModuleModel::hessian_product(const ParticleRows<const float>& weights, const Batch<float>& batch,
                                  const NoiseKey& noise, MatrixView<const float> vectors, MatrixView<float> product) {
  check_rows(weights);
  STEIN_CHECK(vectors.rows == weights.values.rows && vectors.columns == layout_.size() &&
                  product.rows == vectors.rows && product.columns == vectors.columns,
              "module: expected vectors and products [{}, {}], got [{}, {}] and [{}, {}]", weights.values.rows,
              layout_.size(), vectors.rows, vectors.columns, product.rows, product.columns);
  check_counts(batch);
  if (!differentiate_twice(weights, batch, noise, vectors, product))
    Model<float>::hessian_product(weights, batch, noise, vectors, product);
}

bool ModuleModel::differentiate_twice(const ParticleRows<const float>& weights, const Batch<float>& batch,
                                      const NoiseKey& noise, MatrixView<const float> vectors,
                                      MatrixView<float> product) {
  const MaskedBatch<float> masked(batch);
  const std::scoped_lock lock(module_calls());
  const c10::AutoGradMode with_gradient(true);
  Binding binding(*module_, layout_);
  SeededGenerator generator;
  const std::vector<at::Tensor> parameters = binding.parameters();
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    generator.seed(noise, weights.first_row + i);
    binding.bind(weights.values.row(i), weights.buffers.row(i), {});
    const at::Tensor scaled = scaled_log_likelihood(share_of(masked.batch(), i, 1));
    std::ranges::fill(product.row(i), 0.0F);
    try {
      // A parameter that the likelihood, or its gradient, does not depend on has no tensor here.
      const auto gradient = torch::autograd::grad({scaled}, parameters, {}, true, true, true);
      at::Tensor slope = at::zeros({}, tensor_options<float>());  // of the likelihood along the vector
      for (std::size_t k = 0; k < parameters.size(); ++k)
        if (gradient[k].defined()) slope = slope + (gradient[k] * binding.view(vectors.row(i), k)).sum();
      if (!slope.requires_grad()) continue;
      const auto bent = torch::autograd::grad({slope}, parameters, {}, false, false, true);
      const c10::NoGradGuard no_gradient;
      for (std::size_t k = 0; k < parameters.size(); ++k)
        if (bent[k].defined()) binding.view(product.row(i), k).copy_(bent[k]);
    } catch (const c10::Error& error) {  // LibTorch has no class of its own for a missing derivative
      if (std::string_view(error.what()).find("is not implemented") == std::string_view::npos) throw;
      return false;
    }
  }
  return true;
}

void ModuleModel::adapt(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                        MatrixView<float> buffers) {
  check_rows(weights);
  STEIN_CHECK(buffers.rows == weights.values.rows && buffers.columns == layout_.buffer_size(),
              "module: expected buffers [{}, {}], got [{}, {}]", weights.values.rows, layout_.buffer_size(),
              buffers.rows, buffers.columns);
  check_counts(batch);
  const MaskedBatch<float> masked(batch);
  const std::scoped_lock lock(module_calls());
  const c10::NoGradGuard no_gradient;
  Binding binding(*module_, layout_);
  SeededGenerator generator;
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    generator.seed(noise, weights.first_row + i);
    binding.bind(weights.values.row(i), weights.buffers.row(i), {});
    functions_.log_likelihood(share_of(masked.batch(), i, 1));
    copy_buffers(*module_, layout_, buffers.row(i));
  }
}

void ModuleModel::predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                          MatrixView<float> outputs) {
  STEIN_CHECK(functions_.outputs != nullptr, "module: expected a function that gives the outputs");
  const std::int64_t rows = inputs.rows();
  check_rows(weights);
  STEIN_CHECK(outputs.rows == weights.values.rows * rows && outputs.columns == output_count(),
              "module: expected outputs [{}, {}], got [{}, {}]", weights.values.rows * rows, output_count(),
              outputs.rows, outputs.columns);
  const std::scoped_lock lock(module_calls());
  const c10::NoGradGuard no_gradient;
  const EvaluationMode evaluation(*module_);
  Binding binding(*module_, layout_);
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    binding.bind(weights.values.row(i), weights.buffers.row(i), {});
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
