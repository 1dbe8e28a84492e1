#include <stein/core/error.h>
#include <stein/inference/fused/categorical_pass.h>
#include <stein/inference/models/recurrent_pass.h>

#include <algorithm>
#include <string>

namespace stein::inference {
namespace {

using fused::multiply;
using fused::ProductStart;

std::size_t room(std::int64_t a, std::int64_t b) {
  return static_cast<std::size_t>(a * b);
}

}  // namespace

RecurrentPlaces::RecurrentPlaces(const RecurrentSpec& spec, const Layout& layout) {
  const auto place = [&](const std::string& name) {
    const LayoutEntry* const entry = layout.find(name);
    return entry == nullptr ? -1 : entry->offset;
  };
  embedding = place("embedding.weight");
  feature = place("feature.weight"), feature_bias = place("feature.bias");
  output = spec.tied_embedding ? embedding : place("output.weight"), output_bias = place("output.bias");
  for (std::int64_t l = 0; l < spec.layers; ++l)
    for (std::int64_t d = 0; d < spec.directions(); ++d) {
      const std::string name = recurrent_layer_name(l, d);
      layers.push_back(
          {place(name + ".weight_ih"), place(name + ".weight_hh"), place(name + ".bias_ih"), place(name + ".bias_hh")});
    }
}

RecurrentPass::RecurrentPass(const RecurrentSpec& spec, const Layout& layout)
    : spec_(spec), places_(spec, layout), dropout_(spec), feature_(spec.precision), output_(spec.precision) {
  for (std::int64_t l = 0; l < spec.layers; ++l)
    for (std::int64_t d = 0; d < spec.directions(); ++d)
      layers_.emplace_back(spec.cell, spec.layer_inputs(l), spec.hidden, spec.precision);
  inputs_.resize(static_cast<std::size_t>(spec.layers + 1));
  reversed_.resize(static_cast<std::size_t>(spec.layers));
}

void RecurrentPass::take_weights(const float* weights) {
  weights_ = weights;
  for (std::int64_t l = 0; l < spec_.layers; ++l)
    for (std::int64_t d = 0; d < spec_.directions(); ++d) layer(l, d).pack(weights_of(weights, l, d));
  if (spec_.features > 0)
    feature_.pack(spec_.features, spec_.embedding_size(), {weights + places_.feature, 1, spec_.features});
  output_.pack(states(), spec_.outputs(), {output_weight(), 1, states()});
}

void RecurrentPass::forward(const Inputs<float>& inputs, const std::optional<DropoutDraw>& dropout) {
  read_tokens(inputs);
  dropout_.draw(dropout, steps_, rows_);
  embed(inputs);
  for (std::int64_t l = 0; l < spec_.layers; ++l) run_layer(l, inputs);
  if (!inputs.carried.empty() && inputs.carried.after.rows > 0) write_state(inputs.carried.after.row(0));
  gather_outputs();
}

void RecurrentPass::predict(const Inputs<float>& inputs, std::int64_t row, MatrixView<float> to) {
  std::optional<DropoutDraw> dropout;
  if (inputs.dropout) dropout = DropoutDraw{*inputs.dropout, static_cast<std::uint32_t>(row)};
  forward(inputs, dropout);
  multiply(to.rows, {outputs_.data(), states(), 1}, output_, to.data, to.stride, ProductStart::zero);
  fused::add_bias(to, output_bias());
}

double RecurrentPass::value(const Batch<float>& batch) {
  arrange_targets(batch);
  make_logits();
  fused::add_bias(logit_view(), output_bias());
  log_probability_.resize(classes_.size());
  fused::log_probabilities(logit_view(), classes_, log_probability_);
  double sum = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i)
    sum += (row_weights_.empty() ? 1.0 : double{row_weights_[i]}) * double{log_probability_[i]};
  return sum;
}

double RecurrentPass::value_and_gradient(const Batch<float>& batch, double scale, std::span<float> gradient) {
  arrange_targets(batch);
  make_logits();
  const double value = fused::score_classes(logit_view(), output_bias(), classes_, row_weights_, scale);
  std::ranges::fill(gradient, 0.0F);
  backward(gradient.data());
  return value;
}

std::span<const float> RecurrentPass::output_bias() const {
  return {weights_ + places_.output_bias, static_cast<std::size_t>(spec_.outputs())};
}

std::size_t RecurrentPass::number_of(std::int64_t l, std::int64_t d) const {
  return static_cast<std::size_t>(l * spec_.directions() + d);
}

void RecurrentPass::read_tokens(const Inputs<float>& inputs) {
  rows_ = inputs.tokens.rows, tokens_ = inputs.tokens.columns;
  extra_ = spec_.features > 0 && inputs.dense.data != nullptr && spec_.feature_use == FeatureUse::initial_state;
  steps_ = tokens_ + extra_;
  token_.resize(room(tokens_, rows_));
  lengths_.assign(static_cast<std::size_t>(rows_), 0);
  for (std::int64_t b = 0; b < rows_; ++b)
    for (std::int64_t t = 0; t < tokens_; ++t) {
      const std::int32_t token = inputs.tokens(b, t);
      STEIN_CHECK(token < spec_.vocabulary, "recurrent network: expected tokens below {}, got {}", spec_.vocabulary,
                  token);
      token_[room(t, rows_) + static_cast<std::size_t>(b)] = std::max(token, 0);
      lengths_[static_cast<std::size_t>(b)] += token >= 0;
    }
}

void RecurrentPass::embed(const Inputs<float>& inputs) {
  const std::int64_t size = spec_.embedding_size();
  const float* const embedding = weights_ + places_.embedding;
  std::vector<float>& x = inputs_.front();
  x.resize(room(steps_ * rows_, size));
  for (std::int64_t i = 0; i < tokens_ * rows_; ++i)
    std::copy_n(embedding + token_[static_cast<std::size_t>(i)] * size, size, x.data() + (i + extra_ * rows_) * size);
  has_image_ = spec_.features > 0 && inputs.dense.data != nullptr;
  if (has_image_) {
    features_.assign(room(rows_, spec_.features), 0.0F);
    for (std::int64_t b = 0; b < rows_; ++b)
      std::ranges::copy(inputs.dense.row(b), features_.begin() + b * spec_.features);
    if (extra_) std::fill_n(x.data(), rows_ * size, 0.0F);
    fused::add_bias({x.data(), rows_, size}, {weights_ + places_.feature_bias, static_cast<std::size_t>(size)});
    multiply(rows_, {features_.data(), spec_.features, 1}, feature_, x.data(), size, ProductStart::add);
  }
  dropout_.drop(0, x);
}

void RecurrentPass::run_layer(std::int64_t l, const Inputs<float>& inputs) {
  const auto place = static_cast<std::size_t>(l);
  const std::int64_t size = spec_.hidden, count = steps_ * rows_;
  for (std::int64_t d = 0; d < spec_.directions(); ++d) layer(l, d).begin(steps_, rows_);
  if (!inputs.carried.empty()) read_state(l, inputs.carried.before.row(0));
  layer(l, 0).forward(weights_of(weights_, l, 0), inputs_[place].data(), dropout_.kept(l));
  std::vector<float>& next = inputs_[place + 1];
  next.resize(room(count, states()));
  if (!spec_.bidirectional) {
    std::copy_n(layer(l, 0).states(), count * size, next.data());
  } else {
    reverse(inputs_[place].data(), spec_.layer_inputs(l), reversed_[place]);
    layer(l, 1).forward(weights_of(weights_, l, 1), reversed_[place].data(), dropout_.kept(l));
    for (std::int64_t t = 0; t < steps_; ++t)
      for (std::int64_t b = 0; b < rows_; ++b) {
        float* const to = next.data() + (t * rows_ + b) * 2 * size;
        std::copy_n(layer(l, 0).states() + (t * rows_ + b) * size, size, to);
        std::copy_n(layer(l, 1).states() + (mirrored(t, b) * rows_ + b) * size, size, to + size);
      }
  }
  if (spec_.readout == Readout::every_token || l + 1 < spec_.layers) dropout_.drop(l + 1, next);
}

std::int64_t RecurrentPass::mirrored(std::int64_t t, std::int64_t b) const {
  const std::int64_t length = lengths_[static_cast<std::size_t>(b)];
  return t < length ? length - 1 - t : t;
}

void RecurrentPass::reverse(const float* x, std::int64_t width, std::vector<float>& to) const {
  to.resize(room(steps_ * rows_, width));
  for (std::int64_t t = 0; t < steps_; ++t)
    for (std::int64_t b = 0; b < rows_; ++b)
      std::copy_n(x + (mirrored(t, b) * rows_ + b) * width, width, to.data() + (t * rows_ + b) * width);
}

void RecurrentPass::read_state(std::int64_t l, std::span<const float> before) {
  const std::int64_t size = rows_ * spec_.hidden;
  std::copy_n(before.data() + l * size, size, layer(l, 0).first_h());
  if (spec_.cell == Cell::lstm) std::copy_n(before.data() + (spec_.layers + l) * size, size, layer(l, 0).first_c());
}

void RecurrentPass::write_state(std::span<float> after) {
  const std::int64_t size = rows_ * spec_.hidden;
  for (std::int64_t l = 0; l < spec_.layers; ++l) {
    std::copy_n(layer(l, 0).last_h(), size, after.data() + l * size);
    if (spec_.cell == Cell::lstm) std::copy_n(layer(l, 0).last_c(), size, after.data() + (spec_.layers + l) * size);
  }
}

std::pair<std::int64_t, std::int64_t> RecurrentPass::state_places(std::int64_t i) const {
  if (spec_.readout == Readout::every_token) {
    const std::int64_t place = (i % tokens_ + extra_) * rows_ + i / tokens_;
    return {place, place};
  }
  const std::int64_t last = std::max<std::int64_t>(lengths_[static_cast<std::size_t>(i)], 1) - 1;
  return {(last + extra_) * rows_ + i, i};  // backwards, the last state is that of the first step
}

void RecurrentPass::gather_outputs() {
  const std::int64_t size = spec_.hidden, width = states();
  outputs_.resize(room(answers(), width));
  const float* const from = inputs_.back().data();
  for (std::int64_t i = 0; i < answers(); ++i) {
    const auto [forward, backward] = state_places(i);
    std::copy_n(from + forward * width, size, outputs_.data() + i * width);
    if (spec_.bidirectional) std::copy_n(from + backward * width + size, size, outputs_.data() + i * width + size);
  }
  if (spec_.readout == Readout::last_state) dropout_.drop(spec_.layers, outputs_);
}

void RecurrentPass::arrange_targets(const Batch<float>& batch) {
  const std::int64_t columns = answers() / rows_;
  STEIN_CHECK(batch.targets.rows == rows_ && batch.targets.columns == columns,
              "recurrent network: expected targets [{}, {}], got [{}, {}]", rows_, columns, batch.targets.rows,
              batch.targets.columns);
  classes_.resize(static_cast<std::size_t>(answers()));
  row_weights_.resize(batch.row_weights.empty() ? 0 : classes_.size());
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / columns;
    classes_[i] = batch.targets(row, static_cast<std::int64_t>(i) % columns);
    STEIN_CHECK(classes_[i] < static_cast<float>(spec_.outputs()),
                "recurrent network: expected targets below {}, got {}", spec_.outputs(), classes_[i]);
    if (!row_weights_.empty()) row_weights_[i] = batch.row_weights[static_cast<std::size_t>(row)];
  }
}

void RecurrentPass::make_logits() {
  logits_.resize(room(answers(), spec_.outputs()));
  multiply(answers(), {outputs_.data(), states(), 1}, output_, logits_.data(), spec_.outputs(), ProductStart::zero);
}

void RecurrentPass::backward(float* gradient) {
  const std::int64_t width = states(), classes = spec_.outputs(), count = answers(), size = spec_.hidden;
  output_.pack(count, width, {outputs_.data(), width, 1});
  multiply(classes, {logits_.data(), 1, classes}, output_, gradient + places_.output, width, ProductStart::zero);
  fused::sum_columns({logits_.data(), count, classes},
                     {gradient + places_.output_bias, static_cast<std::size_t>(classes)});
  output_.pack(classes, width, {output_weight(), width, 1});
  slope_outputs_.resize(room(count, width));
  multiply(count, {logits_.data(), classes, 1}, output_, slope_outputs_.data(), width, ProductStart::zero);
  if (spec_.readout == Readout::last_state) dropout_.drop(spec_.layers, slope_outputs_);
  slope_.assign(room(steps_ * rows_, width), 0.0F);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [forward, backward] = state_places(i);
    std::copy_n(slope_outputs_.data() + i * width, size, slope_.data() + forward * width);
    if (spec_.bidirectional)
      std::copy_n(slope_outputs_.data() + i * width + size, size, slope_.data() + backward * width + size);
  }
  if (spec_.readout == Readout::every_token) dropout_.drop(spec_.layers, slope_);
  for (std::int64_t l = spec_.layers - 1; l >= 0; --l) back_through_layer(l, gradient);
  dropout_.drop(0, slope_);
  back_through_embedding(gradient);
}

void RecurrentPass::back_through_layer(std::int64_t l, float* gradient) {
  const auto place = static_cast<std::size_t>(l);
  const std::int64_t width = spec_.layer_inputs(l), size = spec_.hidden, count = steps_ * rows_;
  slope_inputs_.resize(room(count, width));
  if (!spec_.bidirectional) {
    layer(l, 0).backward(weights_of(weights_, l, 0), inputs_[place].data(), dropout_.kept(l), slope_.data(),
                         weights_of(gradient, l, 0), slope_inputs_.data());
  } else {
    slope_forward_.resize(room(count, size)), slope_backward_.resize(room(count, size));
    for (std::int64_t t = 0; t < steps_; ++t)
      for (std::int64_t b = 0; b < rows_; ++b) {
        const float* const from = slope_.data() + (t * rows_ + b) * 2 * size;
        std::copy_n(from, size, slope_forward_.data() + (t * rows_ + b) * size);
        std::copy_n(from + size, size, slope_backward_.data() + (mirrored(t, b) * rows_ + b) * size);
      }
    layer(l, 0).backward(weights_of(weights_, l, 0), inputs_[place].data(), dropout_.kept(l), slope_forward_.data(),
                         weights_of(gradient, l, 0), slope_inputs_.data());
    slope_reversed_.resize(room(count, width));
    layer(l, 1).backward(weights_of(weights_, l, 1), reversed_[place].data(), dropout_.kept(l), slope_backward_.data(),
                         weights_of(gradient, l, 1), slope_reversed_.data());
    for (std::int64_t t = 0; t < steps_; ++t)
      for (std::int64_t b = 0; b < rows_; ++b) {
        float* const to = slope_inputs_.data() + (t * rows_ + b) * width;
        const float* const from = slope_reversed_.data() + (mirrored(t, b) * rows_ + b) * width;
        for (std::int64_t j = 0; j < width; ++j) to[j] += from[j];
      }
  }
  std::swap(slope_, slope_inputs_);
  if (l > 0) dropout_.drop(l, slope_);
}

void RecurrentPass::back_through_embedding(float* gradient) {
  const std::int64_t size = spec_.embedding_size();
  float* const embedding = gradient + places_.embedding;
  for (std::int64_t i = 0; i < tokens_ * rows_; ++i) {
    const float* const from = slope_.data() + (i + extra_ * rows_) * size;
    float* const to = embedding + token_[static_cast<std::size_t>(i)] * size;
    for (std::int64_t j = 0; j < size; ++j) to[j] += from[j];
  }
  if (!has_image_) return;
  output_.pack(rows_, spec_.features, {features_.data(), spec_.features, 1});
  multiply(size, {slope_.data(), 1, size}, output_, gradient + places_.feature, spec_.features, ProductStart::zero);
  fused::sum_columns({slope_.data(), rows_, size}, {gradient + places_.feature_bias, static_cast<std::size_t>(size)});
}

}  // namespace stein::inference
