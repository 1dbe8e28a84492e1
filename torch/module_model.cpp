#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <stein/core/error.h>
#include <stein/inference/models/masked_batch.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/inference/weight_driver.h>
#include <stein/torch/device_room.h>
#include <stein/torch/module_binding.h>
#include <stein/torch/module_model.h>
#include <stein/torch/product_precision.h>
#include <stein/torch/tensor_view.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <optional>
#include <string_view>

namespace stein::inference {
namespace {

std::vector<std::int64_t> shape_of(const at::Tensor& tensor) {
  return tensor.dim() == 0 ? std::vector<std::int64_t>{1} : tensor.sizes().vec();
}

using Uses = std::function<std::int64_t(std::string_view parameter)>;

Layout module_layout(const torch::nn::Module& module, const std::vector<ModuleParameter>& parameters,
                     const Uses& uses) {
  Layout layout;
  std::string owner;
  std::int64_t layer = -1;
  for (const auto& [name, tensor, role, fan_in, looked_up] : parameters) {
    STEIN_CHECK(tensor.scalar_type() == at::kFloat, "module: parameter '{}' must be float32, it is {}", name,
                at::toString(tensor.scalar_type()));
    STEIN_CHECK(tensor.is_cpu(), "module: parameter '{}' must be on the CPU, it is on {}", name, tensor.device().str());
    const std::size_t dot = name.rfind('.');
    std::string path = dot == std::string::npos ? "" : name.substr(0, dot);
    if (layer < 0 || path != owner) ++layer;
    owner = std::move(path);
    layout.add(name, shape_of(tensor), role, layer, 0, fan_in, looked_up ? 0 : uses ? uses(name) : 1);
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

/// Held by whoever draws from LibTorch's generator, of which there is one a process.
std::mutex& generator_use() {
  static std::mutex mutex;
  return mutex;
}

/// Seeds LibTorch's generator of a device from a key and gives it its old state back at the end.
class SeededGenerator {
 public:
  explicit SeededGenerator(Device device)
      : generator_(at::globalContext().defaultGenerator(tensor_device(device))), state_(generator_.get_state()) {}
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

/// A NaN that no arithmetic makes: it marks carried state on the host that a function has yet to write.
constexpr std::uint32_t unwritten = 0x7FC57E19;

void mark_unwritten(const CarriedRows<float>& carried) {
  if (carried.device.kind != Device::Kind::host) return;
  for (std::int64_t i = 0; i < carried.after.rows; ++i)
    std::ranges::fill(carried.after.row(i), std::bit_cast<float>(unwritten));
}

/// Throws Error(usage) if the function left some of it as it was.
void check_written(const CarriedRows<float>& carried) {
  if (carried.device.kind != Device::Kind::host) return;
  for (std::int64_t i = 0; i < carried.after.rows; ++i)
    STEIN_CHECK(
        std::ranges::none_of(carried.after.row(i),
                             [](float number) { return std::bit_cast<std::uint32_t>(number) == unwritten; }),
        "module: the function was given the state of the minibatch before and has not written all {} numbers of "
        "what comes after to `inputs.carried.after`",
        carried.after.columns);
}

}  // namespace

struct ModuleModel::Parameters {
  std::vector<ModuleParameter> all;
  std::mutex calls{};  ///< held by a call: it binds them
};

/// A call of the module on a device: alone, in the model's precision, and where it draws numbers, with the generator to
/// itself.
class ModuleModel::Call {
 public:
  Call(const ModuleModel& model, bool draws, Device device)
      : own_(model.parameters_->calls), use_(device), generator_(generator_use(), std::defer_lock) {
    if (model.precision_ == Precision::bfloat16) mixed_.emplace(device);
    if (!draws) return;
    generator_.lock();
    seeded_.emplace(device);
  }
  /// For what is drawn for one row.
  void seed(const NoiseKey& key, std::int64_t row) {
    if (seeded_) seeded_->seed(key, row);
  }

 private:
  std::scoped_lock<std::mutex> own_;
  DeviceUse use_;
  std::optional<MixedPrecision> mixed_;
  std::unique_lock<std::mutex> generator_;
  std::optional<SeededGenerator> seeded_;
};

ModuleModel::ModuleModel(std::shared_ptr<torch::nn::Module> module, ModuleFunctions functions, Device device,
                         Precision precision)
    : module_(std::move(module)), functions_(std::move(functions)), precision_(precision), device_(device) {
  STEIN_CHECK(module_ != nullptr, "module: expected a module, got none");
  STEIN_CHECK(functions_.log_likelihood != nullptr, "module: expected a function that gives the log-likelihood");
  STEIN_CHECK(functions_.output_count >= 1, "module: output count must be at least 1, got {}", functions_.output_count);
  parameters_ = std::make_unique<Parameters>();
  parameters_->all = module_parameters(*module_);
  layout_ = module_layout(*module_, parameters_->all, functions_.uses);
  check_present(device);
  STEIN_CHECK(precision != Precision::tf32 || device.kind != Device::Kind::host,
              "module: tf32 is of a GPU, expected single or bfloat16 on the host");
  if (device.kind == Device::Kind::cuda) allow_tf32(precision != Precision::single);
}

ModuleModel::~ModuleModel() = default;
ModuleModel::ModuleModel(ModuleModel&&) noexcept = default;

void ModuleModel::initialise_buffers(std::span<float> row) const {
  STEIN_CHECK(std::ssize(row) == layout_.buffer_size(), "module: expected a row of {} buffers, got {}",
              layout_.buffer_size(), row.size());
  copy_buffers(*module_, layout_, Device{}, row);
}

void ModuleModel::check_rows(const ParticleRows<const float>& rows) const {
  STEIN_CHECK(rows.values.columns == layout_.size(), "module: expected weights [m, {}], got [{}, {}]", layout_.size(),
              rows.values.rows, rows.values.columns);
  STEIN_CHECK(
      rows.buffers.empty() || (rows.buffers.rows == rows.values.rows && rows.buffers.columns == layout_.buffer_size()),
      "module: expected buffers [{}, {}], got [{}, {}]", rows.values.rows, layout_.buffer_size(), rows.buffers.rows,
      rows.buffers.columns);
  STEIN_CHECK(lies_on(device_, rows.values.data), "module: expected weights on device {}, got some elsewhere",
              device_name(device_));
}

std::int64_t ModuleModel::output_rows(const Inputs<float>& inputs) const {
  return functions_.output_rows ? functions_.output_rows(inputs) : inputs.rows();
}

std::int64_t ModuleModel::carried_size(const Inputs<float>& inputs) const {
  return functions_.carried_size ? functions_.carried_size(inputs) : 0;
}

bool ModuleModel::draw_start(std::span<float> weights, std::uint64_t seed, std::int64_t row) const {
  if (!functions_.draw_start && !functions_.draw_weights) return false;
  STEIN_CHECK(std::ssize(weights) == layout_.size(), "module: expected a row of {} weights, got {}", layout_.size(),
              weights.size());
  if (functions_.draw_weights) {
    functions_.draw_weights(weights, seed, row);
    return true;
  }
  Call call(*this, true, Device{});
  const c10::NoGradGuard no_gradient;
  ModuleBinding binding(*module_, layout_, parameters_->all, Device{});
  call.seed({.seed = seed, .stream = Stream::initial_values}, row);
  copy_parameters(weights);
  binding.bind(weights, {}, {});
  functions_.draw_start(*module_);
  binding.check_places(weights, {});
  return true;
}

at::Tensor ModuleModel::log_likelihood_of(const Batch<float>& batch) const {
  STEIN_CHECK(batch.score == nullptr,
              "module: a batch with a score of its own needs a perceptron; put it into "
              "the module's log-likelihood");
  const at::Tensor sum = functions_.log_likelihood(batch);
  STEIN_CHECK(sum.defined() && sum.numel() == 1 && (sum.requires_grad() || !c10::GradMode::is_enabled()),
              "module: the log-likelihood must be one number that depends on the parameters");
  return sum;
}

std::unique_ptr<LateNumbers> ModuleModel::send_home(const at::Tensor& number) const {
  const at::Tensor wide = number.detach().to(at::kDouble);
  return device_memory(device_.kind).send_home(device_.index, wide.const_data_ptr<double>(), 1);
}

void ModuleModel::log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch,
                                 const NoiseKey& noise, const Evaluation<float>& wanted) {
  check_rows(weights);
  const bool with_gradient = wanted.wants_gradient();
  STEIN_CHECK(
      !with_gradient || (wanted.gradient.columns == layout_.size() && wanted.gradient.rows == weights.values.rows),
      "module: expected gradients [{}, {}], got [{}, {}]", weights.values.rows, layout_.size(), wanted.gradient.rows,
      wanted.gradient.columns);
  check_counts(batch);
  const MaskedBatch<float> masked(batch);
  Call call(*this, functions_.draws_numbers, device_);
  const c10::AutoGradMode mode(with_gradient);
  ModuleBinding binding(*module_, layout_, parameters_->all, device_);
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    const std::span<float> gradient = with_gradient ? wanted.gradient.row(i) : std::span<float>();
    call.seed(noise, weights.first_row + i);
    binding.bind(weights.values.row(i), weights.buffers.row(i), gradient);
    const Batch<float> own = rows_of(masked.batch(), i);
    mark_unwritten(own.inputs.carried);
    const at::Tensor sum = with_room([&] {
      at::Tensor found = log_likelihood_of(own);
      check_written(own.inputs.carried);
      if (with_gradient) (found * batch.likelihood_scale()).backward();
      return found;
    });
    binding.check_places(weights.values.row(i), gradient);
    if (wanted.late != nullptr)
      wanted.late->put(wanted.late_row + i, send_home(sum), batch.likelihood_scale());
    else if (wanted.wants_value())
      wanted.value[i] = sum.item<double>() * batch.likelihood_scale();
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
  if (!with_room([&] { return differentiate_twice(weights, batch, noise, vectors, product); }))
    Model<float>::hessian_product(weights, batch, noise, vectors, product);
}

bool ModuleModel::differentiate_twice(const ParticleRows<const float>& weights, const Batch<float>& batch,
                                      const NoiseKey& noise, MatrixView<const float> vectors,
                                      MatrixView<float> product) {
  Batch<float> unmoved = batch;
  unmoved.inputs.carried.after = {};
  const MaskedBatch<float> masked(unmoved);
  Call call(*this, functions_.draws_numbers, device_);
  const c10::AutoGradMode with_gradient(true);
  ModuleBinding binding(*module_, layout_, parameters_->all, device_);
  const std::vector<at::Tensor> parameters = binding.parameters();
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    call.seed(noise, weights.first_row + i);
    binding.bind(weights.values.row(i), weights.buffers.row(i), {});
    const at::Tensor scaled = log_likelihood_of(rows_of(masked.batch(), i)) * batch.likelihood_scale();
    weight_driver<float>(device_).fill(product.row(i), 0.0F);
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
  Call call(*this, functions_.draws_numbers, device_);
  const c10::NoGradGuard no_gradient;
  ModuleBinding binding(*module_, layout_, parameters_->all, device_);
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    call.seed(noise, weights.first_row + i);
    binding.bind(weights.values.row(i), weights.buffers.row(i), {});
    with_room([&] { return functions_.log_likelihood(rows_of(masked.batch(), i)); });
    copy_buffers(*module_, layout_, device_, buffers.row(i));
  }
}

void ModuleModel::predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                          MatrixView<float> outputs) {
  const std::int64_t rows = output_rows(inputs);
  STEIN_CHECK(outputs.rows == weights.values.rows * rows && outputs.columns == output_count(),
              "module: expected outputs [{}, {}], got [{}, {}]", weights.values.rows * rows, output_count(),
              outputs.rows, outputs.columns);
  for_outputs(weights, inputs, [&](std::int64_t i, const at::Tensor& found) {
    tensor_view(outputs.block(i * rows, rows)).copy_(found);
  });
}

void ModuleModel::input_gradient(const ParticleRows<const float>& weights, MatrixView<const float> inputs,
                                 std::span<const std::int64_t> classes, MatrixView<float> gradient) {
  STEIN_CHECK(functions_.logits != nullptr, "module: it has no logits that can be differentiated by its inputs");
  check_rows(weights);
  STEIN_CHECK(weights.values.rows == 1 && std::ssize(classes) == inputs.rows && gradient.rows == inputs.rows &&
                  gradient.columns == inputs.columns,
              "module: expected one row of weights, gradients [{}, {}] and {} classes, got {}, [{}, {}] and {}",
              inputs.rows, inputs.columns, inputs.rows, weights.values.rows, gradient.rows, gradient.columns,
              classes.size());
  Call call(*this, false, device_);
  const EvaluationMode evaluation(*module_);
  const c10::AutoGradMode with_gradient(true);
  ModuleBinding binding(*module_, layout_, parameters_->all, device_);
  binding.bind(weights.values.row(0), weights.buffers.row(0), {});
  const at::Tensor dense = tensor_view(inputs).to(tensor_device(device_)).contiguous().clone().requires_grad_(true);
  const at::Tensor chosen =
      at::from_blob(const_cast<std::int64_t*>(classes.data()), {std::ssize(classes), 1}, at::kLong).to(dense.device());
  // log p_c by its slope (1 − p_c) ∇(z_c − log Σ_{k≠c} e^{z_k}), in which 1 − p_c is no difference: where the network
  // is sure, that of log_softmax is lost to rounding.
  const at::Tensor logits = functions_.logits(dense).to(at::kFloat),
                   of_others = logits.scatter(1, chosen, -std::numeric_limits<float>::infinity()).logsumexp(1),
                   share_of_others = (of_others - logits.logsumexp(1)).exp().detach();
  const at::Tensor sum = (share_of_others * (logits.gather(1, chosen).squeeze(1) - of_others)).sum();
  tensor_view(gradient).copy_(torch::autograd::grad({sum}, {dense})[0]);
}

void ModuleModel::for_outputs(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                              const std::function<void(std::int64_t, const at::Tensor&)>& take) {
  STEIN_CHECK(functions_.outputs != nullptr, "module: expected a function that gives the outputs");
  check_rows(weights);
  inputs.carried.check(weights.values.rows, carried_size(inputs));
  const std::int64_t rows = output_rows(inputs);
  Call call(*this, inputs.dropout.has_value(), device_);
  const c10::NoGradGuard no_gradient;
  std::optional<EvaluationMode> evaluation;
  if (!inputs.dropout) evaluation.emplace(*module_);
  ModuleBinding binding(*module_, layout_, parameters_->all, device_);
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    if (inputs.dropout) call.seed(*inputs.dropout, weights.first_row + i);
    binding.bind(weights.values.row(i), weights.buffers.row(i), {});
    Inputs<float> own = inputs;
    own.carried = inputs.carried.block(i, 1);
    mark_unwritten(own.carried);
    const at::Tensor found = with_room([&] { return functions_.outputs(own).to(at::kFloat); });
    check_written(own.carried);
    STEIN_CHECK(found.dim() == 2 && found.size(0) == rows && found.size(1) == output_count(),
                "module: the outputs must be [{}, {}], got {} numbers in {} dimensions", rows, output_count(),
                found.numel(), found.dim());
    binding.check_places(weights.values.row(i), {});
    take(i, found);
  }
}

class ModuleModel::DevicePredictor final : public Predictor<float> {
 public:
  DevicePredictor(ModuleModel& model, const ParticleRows<const float>& weights) : model_(model), weights_(weights) {}

  void predict(const Inputs<float>& inputs, MatrixView<float> outputs) override {
    model_.predict(weights_, inputs, outputs);
  }
  void log_probabilities(const Inputs<float>& inputs, std::span<const float> classes, MatrixView<float>,
                         std::span<float> log_probability) override {
    const auto count = std::ssize(log_probability);
    model_.for_outputs(weights_, inputs, [&](std::int64_t, const at::Tensor& logits) {
      const at::Tensor target =
          tensor_view(MatrixView<const float>{classes.data(), 1, count}).to(logits.device(), at::kLong).reshape({-1});
      const at::Tensor losses = at::cross_entropy_loss(logits, target.clamp_min(-1), {}, at::Reduction::None, -1);
      tensor_view(MatrixView<float>{log_probability.data(), 1, count}).copy_(losses.neg().unsqueeze(0));
    });
  }

 private:
  ModuleModel& model_;
  ParticleRows<const float> weights_;
};

std::unique_ptr<Predictor<float>> ModuleModel::predictor(const ParticleRows<const float>& weights) {
  if (device_.kind == Device::Kind::host) return Model<float>::predictor(weights);
  return std::make_unique<DevicePredictor>(*this, weights);
}

void ModuleModel::copy_parameters(std::span<float> row) const {
  STEIN_CHECK(row.size() >= static_cast<std::size_t>(layout_.size()), "module: expected a row of {} numbers, got {}",
              layout_.size(), row.size());
  const std::vector<ModuleParameter>& parameters = parameters_->all;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor values = parameters[i].tensor.detach().contiguous();
    std::copy_n(values.const_data_ptr<float>(), values.numel(), row.begin() + layout_.entries()[i].offset);
  }
}

}  // namespace stein::inference
