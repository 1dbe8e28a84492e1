#include <stein/core/error.h>
#include <stein/inference/fused/categorical_pass.h>
#include <stein/inference/fused/recurrent_layer.h>
#include <stein/inference/models/particle_recurrent.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace stein::inference {
namespace {

using fused::multiply;
using fused::ProductStart;
using fused::RecurrentLayer;
using fused::RecurrentWeights;

/// The dropout of one pass: which masks there are is the same every time, so each has a number of its own.
struct DropoutDraw {
  NoiseKey key;
  std::uint32_t row;
};

/// Fills a mask: 0 with probability p, else 1/(1 − p). @param number  of the mask
void fill_mask(const DropoutDraw& draw, std::uint64_t number, double p, std::span<float> mask) {
  NoiseKey key = draw.key;
  key.step = key.step << 16 | number;
  const auto limit = static_cast<std::uint32_t>(p * 0x1p32);
  const auto kept = static_cast<float>(1 / (1 - p));
  for (std::size_t i = 0; i < mask.size(); i += 4) {
    const PhiloxBlock words = random_block(key, draw.row, static_cast<std::uint32_t>(i / 4));
    for (std::size_t k = 0; k < 4 && i + k < mask.size(); ++k) mask[i + k] = words[k] < limit ? 0.0F : kept;
  }
}

std::size_t room(std::int64_t a, std::int64_t b) {
  return static_cast<std::size_t>(a * b);
}

/// Where a network's weights begin in a row; −1: it has none.
struct WeightPlaces {
  /// Of one layer in one direction.
  struct Layer {
    std::int64_t input, recurrent, input_bias, recurrent_bias;

    template <class Number>
    RecurrentWeights<Number> in(Number* row) const {
      return {row + input, row + recurrent, row + input_bias, recurrent_bias < 0 ? nullptr : row + recurrent_bias};
    }
  };

  WeightPlaces(const RecurrentSpec& spec, const Layout& layout) {
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
        layers.push_back({place(name + ".weight_ih"), place(name + ".weight_hh"), place(name + ".bias_ih"),
                          place(name + ".bias_hh")});
      }
  }

  std::int64_t embedding, feature, feature_bias, output, output_bias;
  std::vector<Layer> layers;  ///< as `RecurrentLayer`s follow one another
};

}  // namespace

/// All that one pass forward and back keeps. Sequences are time-major: [T, n, ·].
class ParticleRecurrent::Workspace {
 public:
  Workspace(const RecurrentSpec& spec, const Layout& layout)
      : spec_(spec), places_(spec, layout), feature_(spec.precision), output_(spec.precision) {
    for (std::int64_t l = 0; l < spec.layers; ++l)
      for (std::int64_t d = 0; d < spec.directions(); ++d)
        layers_.emplace_back(spec.cell, spec.layer_inputs(l), spec.hidden, spec.precision);
    inputs_.resize(static_cast<std::size_t>(spec.layers + 1));
    reversed_.resize(static_cast<std::size_t>(spec.layers));
    masks_.resize(static_cast<std::size_t>(spec.layers + 1));
    kept_.resize(static_cast<std::size_t>(spec.layers));
  }

  /// Takes a row of weights, for all passes forward until the next pass back.
  void take_weights(const float* weights) {
    weights_ = weights;
    for (std::int64_t l = 0; l < spec_.layers; ++l)
      for (std::int64_t d = 0; d < spec_.directions(); ++d) layer(l, d).pack(weights_of(weights, l, d));
    if (spec_.features > 0)
      feature_.pack(spec_.features, spec_.embedding_size(), {weights + places_.feature, 1, spec_.features});
    output_.pack(states(), spec_.outputs(), {output_weight(), 1, states()});
  }

  /// From tokens to the states that outputs are computed of; writes the state that follows where that is asked for.
  void forward(const Inputs<float>& inputs, const std::optional<DropoutDraw>& dropout) {
    read_tokens(inputs);
    draw_masks(dropout);
    embed(inputs);
    for (std::int64_t l = 0; l < spec_.layers; ++l) run_layer(l, inputs);
    if (!inputs.carried.empty() && inputs.carried.after.rows > 0) write_state(inputs.carried.after.row(0));
    gather_outputs();
  }

  /// Logits [r, K] in the order of outputs: sequence by sequence. @param row  of the weights, for dropout
  void predict(const Inputs<float>& inputs, std::int64_t row, MatrixView<float> to) {
    std::optional<DropoutDraw> dropout;
    if (inputs.dropout) dropout = DropoutDraw{*inputs.dropout, static_cast<std::uint32_t>(row)};
    forward(inputs, dropout);
    multiply(to.rows, {outputs_.data(), states(), 1}, output_, to.data, to.stride, ProductStart::zero);
    fused::add_bias(to, output_bias());
  }

  /// Σ w_i log p of the targets.
  double value(const Batch<float>& batch) {
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

  /// The same, and ∇θ of `scale` times it.
  double value_and_gradient(const Batch<float>& batch, double scale, std::span<float> gradient) {
    arrange_targets(batch);
    make_logits();
    const double value = fused::score_classes(logit_view(), output_bias(), classes_, row_weights_, scale);
    std::ranges::fill(gradient, 0.0F);
    backward(gradient.data());
    return value;
  }

 private:
  const float* output_weight() const { return weights_ + places_.output; }
  std::span<const float> output_bias() const {
    return {weights_ + places_.output_bias, static_cast<std::size_t>(spec_.outputs())};
  }
  std::int64_t states() const { return spec_.directions() * spec_.hidden; }
  std::int64_t answers() const { return spec_.readout == Readout::every_token ? rows_ * tokens_ : rows_; }
  MatrixView<float> logit_view() { return {logits_.data(), answers(), spec_.outputs()}; }
  std::size_t number_of(std::int64_t l, std::int64_t d) const {
    return static_cast<std::size_t>(l * spec_.directions() + d);
  }
  RecurrentLayer& layer(std::int64_t l, std::int64_t d) { return layers_[number_of(l, d)]; }
  template <class Number>
  RecurrentWeights<Number> weights_of(Number* row, std::int64_t l, std::int64_t d) const {
    return places_.layers[number_of(l, d)].in(row);
  }

  void read_tokens(const Inputs<float>& inputs) {
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

  void draw_masks(const std::optional<DropoutDraw>& dropout) {
    drops_ = dropout.has_value() && spec_.dropout > 0;
    if (!drops_) return;
    const bool each_step = spec_.dropout_mask == DropoutMask::each_step;
    std::uint64_t number = 0;
    for (std::int64_t l = 0; l <= spec_.layers; ++l) {
      const bool is_output = l == spec_.layers;
      const std::int64_t width = is_output ? states() : spec_.layer_inputs(l);
      const bool last_state = is_output && spec_.readout == Readout::last_state;
      std::vector<float>& mask = masks_[static_cast<std::size_t>(l)];
      mask.resize(room((each_step && !last_state ? steps_ : 1) * rows_, width));
      fill_mask(*dropout, number++, spec_.dropout, mask);
      if (each_step || is_output) continue;
      kept_[static_cast<std::size_t>(l)].resize(room(rows_, spec_.hidden));
      fill_mask(*dropout, number++, spec_.dropout, kept_[static_cast<std::size_t>(l)]);
    }
  }

  /// x ∘ mask l, in place; masks for whole sequences are repeated.
  void drop(std::int64_t l, std::vector<float>& x) const {
    if (!drops_) return;
    const std::vector<float>& mask = masks_[static_cast<std::size_t>(l)];
    for (std::size_t begin = 0; begin < x.size(); begin += mask.size())
      for (std::size_t i = 0; i < mask.size(); ++i) x[begin + i] *= mask[i];
  }
  const float* kept(std::int64_t l) const {
    return drops_ && spec_.dropout_mask == DropoutMask::sequence ? kept_[static_cast<std::size_t>(l)].data() : nullptr;
  }

  void embed(const Inputs<float>& inputs) {
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
    drop(0, x);
  }

  void run_layer(std::int64_t l, const Inputs<float>& inputs) {
    const auto place = static_cast<std::size_t>(l);
    const std::int64_t size = spec_.hidden, count = steps_ * rows_;
    for (std::int64_t d = 0; d < spec_.directions(); ++d) layer(l, d).begin(steps_, rows_);
    if (!inputs.carried.empty()) read_state(l, inputs.carried.before.row(0));
    layer(l, 0).forward(weights_of(weights_, l, 0), inputs_[place].data(), kept(l));
    std::vector<float>& next = inputs_[place + 1];
    next.resize(room(count, states()));
    if (!spec_.bidirectional) {
      std::copy_n(layer(l, 0).states(), count * size, next.data());
    } else {
      reverse(inputs_[place].data(), spec_.layer_inputs(l), reversed_[place]);
      layer(l, 1).forward(weights_of(weights_, l, 1), reversed_[place].data(), kept(l));
      for (std::int64_t t = 0; t < steps_; ++t)
        for (std::int64_t b = 0; b < rows_; ++b) {
          float* const to = next.data() + (t * rows_ + b) * 2 * size;
          std::copy_n(layer(l, 0).states() + (t * rows_ + b) * size, size, to);
          std::copy_n(layer(l, 1).states() + (mirrored(t, b) * rows_ + b) * size, size, to + size);
        }
    }
    if (spec_.readout == Readout::every_token || l + 1 < spec_.layers) drop(l + 1, next);
  }

  /// The step of row b that is t from its end; steps behind the end stay where they are.
  std::int64_t mirrored(std::int64_t t, std::int64_t b) const {
    const std::int64_t length = lengths_[static_cast<std::size_t>(b)];
    return t < length ? length - 1 - t : t;
  }
  void reverse(const float* x, std::int64_t width, std::vector<float>& to) const {
    to.resize(room(steps_ * rows_, width));
    for (std::int64_t t = 0; t < steps_; ++t)
      for (std::int64_t b = 0; b < rows_; ++b)
        std::copy_n(x + (mirrored(t, b) * rows_ + b) * width, width, to.data() + (t * rows_ + b) * width);
  }

  void read_state(std::int64_t l, std::span<const float> before) {
    const std::int64_t size = rows_ * spec_.hidden;
    std::copy_n(before.data() + l * size, size, layer(l, 0).first_h());
    if (spec_.cell == Cell::lstm) std::copy_n(before.data() + (spec_.layers + l) * size, size, layer(l, 0).first_c());
  }
  void write_state(std::span<float> after) {
    const std::int64_t size = rows_ * spec_.hidden;
    for (std::int64_t l = 0; l < spec_.layers; ++l) {
      std::copy_n(layer(l, 0).last_h(), size, after.data() + l * size);
      if (spec_.cell == Cell::lstm) std::copy_n(layer(l, 0).last_c(), size, after.data() + (spec_.layers + l) * size);
    }
  }

  /// Where the state that output i is computed of lies among all states; of the second half of a bidirectional one too.
  std::pair<std::int64_t, std::int64_t> state_places(std::int64_t i) const {
    if (spec_.readout == Readout::every_token) {
      const std::int64_t place = (i % tokens_ + extra_) * rows_ + i / tokens_;
      return {place, place};
    }
    const std::int64_t last = std::max<std::int64_t>(lengths_[static_cast<std::size_t>(i)], 1) - 1;
    return {(last + extra_) * rows_ + i, i};  // backwards, the last state is that of the first step
  }
  void gather_outputs() {
    const std::int64_t size = spec_.hidden, width = states();
    outputs_.resize(room(answers(), width));
    const float* const from = inputs_.back().data();
    for (std::int64_t i = 0; i < answers(); ++i) {
      const auto [forward, backward] = state_places(i);
      std::copy_n(from + forward * width, size, outputs_.data() + i * width);
      if (spec_.bidirectional) std::copy_n(from + backward * width + size, size, outputs_.data() + i * width + size);
    }
    if (spec_.readout == Readout::last_state) drop(spec_.layers, outputs_);
  }

  void arrange_targets(const Batch<float>& batch) {
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
  void make_logits() {
    logits_.resize(room(answers(), spec_.outputs()));
    multiply(answers(), {outputs_.data(), states(), 1}, output_, logits_.data(), spec_.outputs(), ProductStart::zero);
  }

  /// From the slopes of the logits, which take their place, to those of all weights.
  void backward(float* gradient) {
    const std::int64_t width = states(), classes = spec_.outputs(), count = answers(), size = spec_.hidden;
    output_.pack(count, width, {outputs_.data(), width, 1});
    multiply(classes, {logits_.data(), 1, classes}, output_, gradient + places_.output, width, ProductStart::zero);
    fused::sum_columns({logits_.data(), count, classes},
                       {gradient + places_.output_bias, static_cast<std::size_t>(classes)});
    output_.pack(classes, width, {output_weight(), width, 1});
    slope_outputs_.resize(room(count, width));
    multiply(count, {logits_.data(), classes, 1}, output_, slope_outputs_.data(), width, ProductStart::zero);
    if (spec_.readout == Readout::last_state) drop(spec_.layers, slope_outputs_);
    slope_.assign(room(steps_ * rows_, width), 0.0F);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto [forward, backward] = state_places(i);
      std::copy_n(slope_outputs_.data() + i * width, size, slope_.data() + forward * width);
      if (spec_.bidirectional)
        std::copy_n(slope_outputs_.data() + i * width + size, size, slope_.data() + backward * width + size);
    }
    if (spec_.readout == Readout::every_token) drop(spec_.layers, slope_);
    for (std::int64_t l = spec_.layers - 1; l >= 0; --l) back_through_layer(l, gradient);
    drop(0, slope_);
    back_through_embedding(gradient);
  }

  /// `slope_`, of the layer's states, becomes that of its inputs.
  void back_through_layer(std::int64_t l, float* gradient) {
    const auto place = static_cast<std::size_t>(l);
    const std::int64_t width = spec_.layer_inputs(l), size = spec_.hidden, count = steps_ * rows_;
    slope_inputs_.resize(room(count, width));
    if (!spec_.bidirectional) {
      layer(l, 0).backward(weights_of(weights_, l, 0), inputs_[place].data(), kept(l), slope_.data(),
                           weights_of(gradient, l, 0), slope_inputs_.data());
    } else {
      slope_forward_.resize(room(count, size)), slope_backward_.resize(room(count, size));
      for (std::int64_t t = 0; t < steps_; ++t)
        for (std::int64_t b = 0; b < rows_; ++b) {
          const float* const from = slope_.data() + (t * rows_ + b) * 2 * size;
          std::copy_n(from, size, slope_forward_.data() + (t * rows_ + b) * size);
          std::copy_n(from + size, size, slope_backward_.data() + (mirrored(t, b) * rows_ + b) * size);
        }
      layer(l, 0).backward(weights_of(weights_, l, 0), inputs_[place].data(), kept(l), slope_forward_.data(),
                           weights_of(gradient, l, 0), slope_inputs_.data());
      slope_reversed_.resize(room(count, width));
      layer(l, 1).backward(weights_of(weights_, l, 1), reversed_[place].data(), kept(l), slope_backward_.data(),
                           weights_of(gradient, l, 1), slope_reversed_.data());
      for (std::int64_t t = 0; t < steps_; ++t)
        for (std::int64_t b = 0; b < rows_; ++b) {
          float* const to = slope_inputs_.data() + (t * rows_ + b) * width;
          const float* const from = slope_reversed_.data() + (mirrored(t, b) * rows_ + b) * width;
          for (std::int64_t j = 0; j < width; ++j) to[j] += from[j];
        }
    }
    std::swap(slope_, slope_inputs_);
    if (l > 0) drop(l, slope_);
  }

  void back_through_embedding(float* gradient) {
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

  const RecurrentSpec& spec_;
  WeightPlaces places_;
  const float* weights_ = nullptr;
  std::int64_t rows_ = 0, tokens_ = 0;  ///< n, tokens of a row
  std::int64_t steps_ = 0, extra_ = 0;  ///< tokens and the step of an image that is the initial state; 1 of those
  bool drops_ = false, has_image_ = false;
  std::vector<RecurrentLayer> layers_;
  std::vector<std::int32_t> token_;                    ///< [T, n]
  std::vector<std::int64_t> lengths_;                  ///< [n]
  std::vector<float> features_;                        ///< [n, F]
  std::vector<std::vector<float>> inputs_, reversed_;  ///< of each layer, after dropout; and the last one's states
  std::vector<std::vector<float>> masks_, kept_;
  std::vector<float> outputs_, logits_, classes_, row_weights_, log_probability_;
  std::vector<float> slope_, slope_inputs_, slope_outputs_, slope_forward_, slope_backward_, slope_reversed_;
  fused::PackedMatrix feature_, output_;  ///< the latter of a pass back for its other products as well
};

/// A working memory that keeps its weights.
class ParticleRecurrent::PackedNetwork final : public Predictor<float> {
 public:
  PackedNetwork(const ParticleRecurrent& model, const ParticleRows<const float>& weights)
      : model_(model), space_(model.spec_, model.layout_), row_(weights.first_row) {
    STEIN_CHECK(weights.values.rows == 1, "a predictor has one row of weights, got {}", weights.values.rows);
    space_.take_weights(weights.values.row(0).data());
  }

  void predict(const Inputs<float>& inputs, MatrixView<float> outputs) override {
    model_.check_prediction(1, inputs, outputs);
    space_.predict(inputs, row_, outputs);
  }

 private:
  const ParticleRecurrent& model_;
  Workspace space_;
  std::int64_t row_;
};

ParticleRecurrent::ParticleRecurrent(const RecurrentSpec& spec) : spec_(spec), layout_(recurrent_layout(spec)) {
  static_cast<void>(fused::PackedMatrix(spec.precision));  // that the processor has it is known before it is needed
}
ParticleRecurrent::~ParticleRecurrent() = default;

bool ParticleRecurrent::draw_start(std::span<float> weights, std::uint64_t seed, std::int64_t row) const {
  draw_recurrent_start(spec_, layout_, weights, seed, row);
  return true;
}

std::int64_t ParticleRecurrent::tasks(const Batch<float>& batch) const {
  constexpr std::int64_t small = 1 << 22, many = 64;  // multiply-adds that are not worth sharing
  return batch.inputs.tokens.rows * batch.inputs.tokens.columns * layout_.size() > small ? many : 1;
}

std::int64_t ParticleRecurrent::carried_size(const Inputs<float>& inputs) const {
  return inputs.tokens.rows * spec_.state_size();
}

std::int64_t ParticleRecurrent::output_rows(const Inputs<float>& inputs) const {
  return inputs.tokens.rows * (spec_.readout == Readout::every_token ? inputs.tokens.columns : 1);
}

void ParticleRecurrent::log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch,
                                       const NoiseKey& noise, const Evaluation<float>& wanted) {
  STEIN_CHECK(batch.score == nullptr, "recurrent network: a batch with a score of its own needs a perceptron");
  check_recurrent_inputs(spec_, batch.inputs);
  check_counts(batch);
  const auto space = workspaces_.borrow([this] { return std::make_unique<Workspace>(spec_, layout_); });
  const double scale = batch.likelihood_scale();
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    const Batch<float> own = rows_of(batch, i);
    space->take_weights(weights.values.row(i).data());
    space->forward(own.inputs, DropoutDraw{noise, static_cast<std::uint32_t>(weights.first_row + i)});
    const double value =
        wanted.wants_gradient() ? space->value_and_gradient(own, scale, wanted.gradient.row(i)) : space->value(own);
    if (wanted.wants_value()) wanted.value[static_cast<std::size_t>(i)] = scale * value;
  }
}

void ParticleRecurrent::check_prediction(std::int64_t weight_rows, const Inputs<float>& inputs,
                                         MatrixView<const float> outputs) const {
  check_recurrent_inputs(spec_, inputs);
  const std::int64_t rows = weight_rows * output_rows(inputs);
  STEIN_CHECK(outputs.rows == rows && outputs.columns == output_count(),
              "recurrent network: expected outputs [{}, {}], got [{}, {}]", rows, output_count(), outputs.rows,
              outputs.columns);
  inputs.carried.check(weight_rows, carried_size(inputs));
}

void ParticleRecurrent::predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                                MatrixView<float> outputs) {
  check_prediction(weights.values.rows, inputs, outputs);
  const std::int64_t rows = output_rows(inputs);
  const auto space = workspaces_.borrow([this] { return std::make_unique<Workspace>(spec_, layout_); });
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    Inputs<float> own = inputs;
    own.carried = inputs.carried.block(i, 1);
    space->take_weights(weights.values.row(i).data());
    space->predict(own, weights.first_row + i, outputs.block(i * rows, rows));
  }
}

std::unique_ptr<Predictor<float>> ParticleRecurrent::predictor(const ParticleRows<const float>& weights) {
  return std::make_unique<PackedNetwork>(*this, weights);
}

}  // namespace stein::inference
