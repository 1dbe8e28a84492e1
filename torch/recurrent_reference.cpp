#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <stein/core/error.h>
#include <stein/torch/module_model.h>
#include <stein/torch/recurrent_reference.h>
#include <stein/torch/tensor_view.h>
#include <torch/nn/module.h>

#include <utility>
#include <vector>

namespace stein::inference {
namespace {

using at::Tensor;

/// The weights of one layer in one direction.
class LayerWeights : public torch::nn::Module {
 public:
  LayerWeights(const RecurrentSpec& spec, std::int64_t inputs)
      : cell_(spec.cell),
        weight_ih_(register_parameter("weight_ih", at::zeros({gate_count(cell_) * spec.hidden, inputs}))),
        weight_hh_(register_parameter("weight_hh", at::zeros({gate_count(cell_) * spec.hidden, spec.hidden}))),
        bias_ih_(register_parameter("bias_ih", at::zeros({gate_count(cell_) * spec.hidden}))) {
    if (cell_ != Cell::gru) bias_hh_ = register_parameter("bias_hh", at::zeros({gate_count(cell_) * spec.hidden}));
  }

  /// States [T, n, H] behind every step of x [T, n, I]; h and c [n, H] go on to where they are behind the last.
  /// @param kept  [n, H] multiplies the state before every step, or undefined
  Tensor run(const Tensor& x, Tensor& h, Tensor& c, const Tensor& kept) const {
    return cell_ == Cell::gru || kept.defined() ? run_steps(x, h, c, kept) : run_fused(x, h, c);
  }

 private:
  /// In floats also under mixed precision, which on a GPU would take float16 here, whatever it is told: gradients of a
  /// likelihood of all data leave its range. A GPU multiplies these floats as TF32 then (ModuleModel).
  Tensor run_fused(const Tensor& inputs, Tensor& h, Tensor& c) const {
    const c10::impl::ExcludeDispatchKeyGuard no_mixed_precision(c10::autocast_dispatch_keyset);
    const Tensor x = inputs.to(at::kFloat);
    const std::vector<Tensor> weights{weight_ih_, weight_hh_, bias_ih_, bias_hh_};
    Tensor states;
    if (cell_ == Cell::lstm) {
      Tensor last_h, last_c;
      std::tie(states, last_h, last_c) =
          at::lstm(x, {h.unsqueeze(0), c.unsqueeze(0)}, weights, true, 1, 0, is_training(), false, false);
      h = last_h.squeeze(0), c = last_c.squeeze(0);
    } else {
      Tensor last;
      std::tie(states, last) = at::rnn_tanh(x, h.unsqueeze(0), weights, true, 1, 0, is_training(), false, false);
      h = last.squeeze(0);
    }
    return states;
  }

  Tensor run_steps(const Tensor& x, Tensor& h, Tensor& c, const Tensor& kept) const {
    const Tensor inputs = at::linear(x, weight_ih_, bias_hh_.defined() ? bias_ih_ + bias_hh_ : bias_ih_);
    std::vector<Tensor> states;
    for (std::int64_t t = 0; t < x.size(0); ++t) {
      const Tensor before = kept.defined() ? h * kept : h;
      h = cell_ == Cell::lstm  ? lstm_step(inputs[t], before, c)
          : cell_ == Cell::gru ? gru_step(inputs[t], before, h)
                               : at::tanh(inputs[t] + at::linear(before, weight_hh_));
      states.push_back(h);
    }
    return at::stack(states);
  }

  Tensor lstm_step(const Tensor& input, const Tensor& before, Tensor& c) const {
    const std::vector<Tensor> gates = (input + at::linear(before, weight_hh_)).chunk(4, -1);
    c = at::sigmoid(gates[1]) * c + at::sigmoid(gates[0]) * at::tanh(gates[2]);
    return at::sigmoid(gates[3]) * at::tanh(c);
  }

  /// Gan et al. 2017, eq. 9–12.
  /// @param before  the state as the products see it, under dropout
  Tensor gru_step(const Tensor& input, const Tensor& before, const Tensor& h) const {
    const std::int64_t size = h.size(-1);
    const Tensor gates =
        at::sigmoid(input.narrow(-1, 0, 2 * size) + at::linear(before, weight_hh_.narrow(0, 0, 2 * size)));
    const Tensor reset = gates.narrow(-1, 0, size), update = gates.narrow(-1, size, size);
    const Tensor state =
        at::tanh(input.narrow(-1, 2 * size, size) + at::linear(reset * before, weight_hh_.narrow(0, 2 * size, size)));
    return (1 - update) * h + update * state;
  }

  Cell cell_;
  Tensor weight_ih_, weight_hh_, bias_ih_, bias_hh_;
};

/// A matrix, and a bias unless it has none.
class Affine : public torch::nn::Module {
 public:
  Affine(std::int64_t outputs, std::int64_t inputs, bool with_weight, bool with_bias) {
    if (with_weight) weight = register_parameter("weight", at::zeros({outputs, inputs}));
    if (with_bias) bias = register_parameter("bias", at::zeros({outputs}));
  }
  Tensor weight, bias;
};

/// Its own parameters are on the host; those of a call are on `device`, to which inputs and targets go.
class RecurrentModule : public torch::nn::Module {
 public:
  RecurrentModule(const RecurrentSpec& spec, Device device) : spec_(spec), device_(tensor_device(device)) {
    for (std::int64_t layer = 0; layer < spec.layers; ++layer)
      for (std::int64_t d = 0; d < spec.directions(); ++d)
        layers_.push_back(register_module(recurrent_layer_name(layer, d),
                                          std::make_shared<LayerWeights>(spec, spec.layer_inputs(layer))));
    const std::int64_t size = spec.embedding_size();
    embedding_ = register_module("embedding", std::make_shared<Affine>(spec.vocabulary, size, true, false));
    if (spec.features > 0)
      feature_ = register_module("feature", std::make_shared<Affine>(size, spec.features, true, true));
    output_ = register_module("output", std::make_shared<Affine>(spec.outputs(), spec.directions() * spec.hidden,
                                                                 !spec.tied_embedding, true));
  }

  /// Logits [n, T, V] or [n, K].
  Tensor logits(const Inputs<float>& inputs) const {
    const MatrixView<const std::int32_t> view = inputs.tokens;
    const Tensor tokens = sent_to(device_, tensor_view(view)).t();  // [T, n]
    std::vector<Tensor> h, c;
    read_state(inputs, view.rows, h, c);
    Tensor x = at::embedding(embedding_->weight, tokens.clamp_min(0));
    bool extra_step = false;
    if (feature_ != nullptr && inputs.dense.data != nullptr) {
      const Tensor image =
          at::linear(sent_to(device_, tensor_view(inputs.dense)), feature_->weight, feature_->bias).unsqueeze(0);
      extra_step = spec_.feature_use == FeatureUse::initial_state;
      x = extra_step ? at::cat({image, x}) : at::cat({x.narrow(0, 0, 1) + image, x.narrow(0, 1, x.size(0) - 1)});
    }
    const Tensor lengths = tokens.ge(0).sum(0);  // [n]
    for (std::int64_t layer = 0; layer < spec_.layers; ++layer) x = run_layer(layer, dropped(x), lengths, h, c);
    write_state(inputs, h, c);
    if (extra_step) x = x.narrow(0, 1, x.size(0) - 1);
    if (spec_.readout == Readout::last_state) x = last_states(x, lengths);
    const Tensor& weight = spec_.tied_embedding ? embedding_->weight : output_->weight;
    const Tensor result = at::linear(dropped(x), weight, output_->bias);
    return spec_.readout == Readout::last_state ? result : result.transpose(0, 1);
  }

  /// Σ w_i log p of the targets.
  Tensor log_likelihood(const Batch<float>& batch) const {
    const Tensor scores = logits(batch.inputs);
    const Tensor targets = sent_to(device_, tensor_view(batch.targets)).to(at::kLong).reshape({-1});
    const Tensor losses = at::cross_entropy_loss(scores.reshape({-1, spec_.outputs()}), targets.clamp_min(-1), {},
                                                 at::Reduction::None, /*ignore_index=*/-1)
                              .to(at::kDouble);
    if (batch.row_weights.empty()) return -losses.sum();
    const MatrixView<const float> row_weights{batch.row_weights.data(), batch.rows, 1};
    const Tensor weights = sent_to(device_, tensor_view(row_weights));
    return -(losses.reshape({batch.rows, -1}) * weights).sum();
  }

  std::int64_t carried_size(const Inputs<float>& inputs) const { return inputs.tokens.rows * spec_.state_size(); }

 private:
  Tensor dropped(const Tensor& x) const {
    if (spec_.dropout == 0 || !is_training()) return x;
    if (spec_.dropout_mask == DropoutMask::each_step || x.dim() == 2) return at::dropout(x, spec_.dropout, true);
    return x * at::dropout(at::ones({1, x.size(1), x.size(2)}, device_), spec_.dropout, true);
  }

  Tensor run_layer(std::int64_t layer, const Tensor& x, const Tensor& lengths, std::vector<Tensor>& h,
                   std::vector<Tensor>& c) const {
    Tensor kept;
    if (spec_.dropout > 0 && spec_.dropout_mask == DropoutMask::sequence && is_training())
      kept = at::dropout(at::ones({x.size(1), spec_.hidden}, device_), spec_.dropout, true);
    const auto i = static_cast<std::size_t>(layer);
    if (!spec_.bidirectional) return layers_[i]->run(x, h[i], c[i], kept);
    Tensor zero = at::zeros({x.size(1), spec_.hidden}, device_), zero_c = zero;
    Tensor forward_h = zero, forward_c = zero;
    const Tensor forward = layers_[2 * i]->run(x, forward_h, forward_c, kept);
    const Tensor backward = layers_[2 * i + 1]->run(reversed(x, lengths), zero, zero_c, kept);
    return at::cat({forward, reversed(backward, lengths)}, -1);
  }

  /// Each sequence of x [T, n, ·] back to front; what lies behind its end stays there.
  Tensor reversed(const Tensor& x, const Tensor& lengths) const {
    const Tensor place = at::arange(x.size(0), at::device(device_).dtype(at::kLong)).unsqueeze(1);  // [T, 1]
    const Tensor mirrored = lengths.unsqueeze(0) - 1 - place;
    const Tensor index = at::where(mirrored.ge(0), mirrored, place);
    return x.gather(0, index.unsqueeze(-1).expand_as(x));
  }

  /// [n, directions · H]: forward states behind the last token, backward ones behind the first.
  Tensor last_states(const Tensor& x, const Tensor& lengths) const {
    const Tensor index = (lengths - 1).clamp_min(0).reshape({1, -1, 1}).expand({1, x.size(1), spec_.hidden});
    const Tensor forward = x.narrow(-1, 0, spec_.hidden).gather(0, index).squeeze(0);
    return spec_.bidirectional ? at::cat({forward, x[0].narrow(-1, spec_.hidden, spec_.hidden)}, -1) : forward;
  }

  void read_state(const Inputs<float>& inputs, std::int64_t rows, std::vector<Tensor>& h,
                  std::vector<Tensor>& c) const {
    const std::int64_t size = rows * spec_.hidden;
    for (std::int64_t k = 0; k < 2 * spec_.layers; ++k) {
      const bool is_cell = k >= spec_.layers;
      Tensor state = at::zeros({rows, spec_.hidden}, device_);
      if (!inputs.carried.empty() && (!is_cell || spec_.cell == Cell::lstm))
        state.copy_(at::from_blob(inputs.carried.before.row(0).data() + k * size, {rows, spec_.hidden},
                                  tensor_options<float>(inputs.carried.device)));
      (is_cell ? c : h).push_back(state);
    }
  }
  void write_state(const Inputs<float>& inputs, const std::vector<Tensor>& h, const std::vector<Tensor>& c) const {
    if (inputs.carried.after.data == nullptr || inputs.carried.after.rows == 0) return;
    const c10::NoGradGuard no_gradient;
    float* to = inputs.carried.after.row(0).data();
    for (const auto* states : {&h, spec_.cell == Cell::lstm ? &c : nullptr}) {
      if (states == nullptr) continue;
      for (const Tensor& state : *states) {
        at::from_blob(to, state.sizes(), tensor_options<float>(inputs.carried.device)).copy_(state);
        to += state.numel();
      }
    }
  }

  RecurrentSpec spec_;
  at::Device device_;
  std::vector<std::shared_ptr<LayerWeights>> layers_;
  std::shared_ptr<Affine> embedding_, feature_, output_;
};

}  // namespace

std::unique_ptr<Model<float>> make_recurrent_reference(const RecurrentSpec& spec, Device device) {
  const Layout layout = recurrent_layout(spec);
  auto module = std::make_shared<RecurrentModule>(spec, device);
  ModuleFunctions functions;
  functions.log_likelihood = [module = module.get(), spec](const Batch<float>& batch) {
    check_recurrent_inputs(spec, batch.inputs);
    return module->log_likelihood(batch);
  };
  functions.outputs = [module = module.get(), spec](const Inputs<float>& inputs) {
    check_recurrent_inputs(spec, inputs);
    return module->logits(inputs).reshape({-1, spec.outputs()});
  };
  functions.output_count = spec.outputs();
  if (spec.readout == Readout::every_token)
    functions.output_rows = [](const Inputs<float>& inputs) { return inputs.tokens.rows * inputs.tokens.columns; };
  functions.carried_size = [module = module.get()](const Inputs<float>& inputs) {
    return module->carried_size(inputs);
  };
  functions.carried_blocks = spec.state_blocks();
  functions.draw_weights = [spec, layout](std::span<float> weights, std::uint64_t seed, std::int64_t row) {
    draw_recurrent_start(spec, layout, weights, seed, row);
  };
  functions.draws_numbers = spec.dropout > 0;
  auto model = std::make_unique<ModuleModel>(module, std::move(functions), device, spec.precision);
  model->layout().check_description(layout.description());
  return model;
}

}  // namespace stein::inference
