// A recurrent network as plain loops in double: what every other form of it is compared with.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/models/recurrent_spec.h>

#include <cmath>
#include <string>
#include <vector>

namespace stein::test {

using namespace inference;

/// A network, numbers for its weights, and a batch: everything a comparison needs.
struct RecurrentCase {
  RecurrentSpec spec;
  std::int64_t rows, steps;
  std::vector<double> weights{};
  std::vector<std::int32_t> tokens{};
  std::vector<float> targets{}, features{}, row_weights{}, before{};
  std::vector<float> float_weights{};

  Layout layout() const { return recurrent_layout(spec); }
  std::int64_t carried_size() const { return rows * spec.state_size(); }
  /// Weights are float numbers, so that all forms have the same.
  static RecurrentCase make(const RecurrentSpec& spec, std::int64_t rows, std::int64_t steps, double spread = 0.5) {
    RecurrentCase made{.spec = spec, .rows = rows, .steps = steps};
    made.weights.resize(static_cast<std::size_t>(made.layout().size()));
    fill_normal(std::span(made.weights), {.seed = 5}, 0);
    for (double& weight : made.weights) weight = static_cast<float>(spread * weight);
    made.float_weights.assign(made.weights.begin(), made.weights.end());
    Draws draws({.seed = 6}, 0);
    const auto draw_token = [&](std::int64_t count) {
      return static_cast<std::int32_t>(draws.integer(static_cast<std::uint32_t>(count)));
    };
    for (std::int64_t i = 0; i < rows * steps; ++i) made.tokens.push_back(draw_token(spec.vocabulary));
    const std::int64_t answers = spec.readout == Readout::every_token ? steps : 1;
    for (std::int64_t i = 0; i < rows * answers; ++i)
      made.targets.push_back(static_cast<float>(draw_token(spec.outputs())));
    for (std::int64_t i = 0; i < rows * spec.features; ++i) made.features.push_back(static_cast<float>(draws.normal()));
    made.before.assign(static_cast<std::size_t>(made.carried_size()), 0.0F);
    return made;
  }
  Batch<float> batch() {
    Batch<float> made;
    made.inputs.tokens = {tokens.data(), rows, steps};
    if (spec.features > 0) made.inputs.dense = {features.data(), rows, spec.features};
    made.targets = {targets.data(), rows, std::ssize(targets) / rows};
    made.row_weights = row_weights;
    made.rows = rows;
    made.data_size = static_cast<double>(rows);
    return made;
  }
};

/// What a pass of the network leaves.
struct PlainResult {
  std::vector<double> logits{};  ///< [n · T, V] or [n, K]
  std::vector<double> after{};   ///< [layers, n, H] of h, then of c
  double log_likelihood = 0;
};

class PlainRecurrent {
 public:
  PlainRecurrent(const RecurrentCase& c, const std::vector<double>& weights)
      : case_(c), spec_(c.spec), layout_(c.layout()), weights_(weights) {}

  PlainResult run() {
    PlainResult result;
    result.after.assign(static_cast<std::size_t>(case_.rows * spec_.state_size()), 0.0);
    for (std::int64_t row = 0; row < case_.rows; ++row) run_row(row, result);
    return result;
  }

 private:
  using Numbers = std::vector<double>;
  using Sequence = std::vector<Numbers>;

  double at(const std::string& name, std::int64_t i, std::int64_t j = 0) const {
    const LayoutEntry& entry = layout_.at(name);
    return weights_[static_cast<std::size_t>(entry.offset + (entry.shape.size() == 1 ? i : i * entry.columns() + j))];
  }
  Numbers product(const std::string& name, std::int64_t first, std::int64_t count, const Numbers& x) const {
    Numbers y(static_cast<std::size_t>(count), 0.0);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < x.size(); ++j) y[i] += at(name, first + i, static_cast<std::int64_t>(j)) * x[j];
    return y;
  }
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  /// What goes into gate `g` before its function.
  Numbers gate(const std::string& layer, std::int64_t g, const Numbers& x, const Numbers& h) const {
    const std::int64_t size = spec_.hidden;
    Numbers sum = product(layer + ".weight_ih", g * size, size, x);
    const Numbers own = product(layer + ".weight_hh", g * size, size, h);
    for (std::int64_t i = 0; i < size; ++i) {
      sum[i] += own[i] + at(layer + ".bias_ih", g * size + i);
      if (spec_.cell != Cell::gru) sum[i] += at(layer + ".bias_hh", g * size + i);
    }
    return sum;
  }
  void step(const std::string& layer, const Numbers& x, Numbers& h, Numbers& c) const {
    const std::size_t size = h.size();
    const Numbers before = h;
    if (spec_.cell == Cell::tanh) {
      const Numbers inner = gate(layer, 0, x, before);
      for (std::size_t i = 0; i < size; ++i) h[i] = std::tanh(inner[i]);
    } else if (spec_.cell == Cell::lstm) {
      const Numbers in = gate(layer, 0, x, before), forget = gate(layer, 1, x, before),
                    cell = gate(layer, 2, x, before), out = gate(layer, 3, x, before);
      for (std::size_t i = 0; i < size; ++i) {
        c[i] = sigmoid(forget[i]) * c[i] + sigmoid(in[i]) * std::tanh(cell[i]);
        h[i] = sigmoid(out[i]) * std::tanh(c[i]);
      }
    } else {  // Gan et al. 2017, eq. 9–12
      const Numbers reset = gate(layer, 0, x, before), update = gate(layer, 1, x, before);
      Numbers kept = before;
      for (std::size_t i = 0; i < size; ++i) kept[i] *= sigmoid(reset[i]);
      const Numbers state = gate(layer, 2, x, kept);
      for (std::size_t i = 0; i < size; ++i) {
        const double z = sigmoid(update[i]);
        h[i] = (1 - z) * before[i] + z * std::tanh(state[i]);
      }
    }
  }

  Sequence run_layer(const std::string& layer, const Sequence& inputs, Numbers& h, Numbers& c) const {
    Sequence states;
    for (const Numbers& x : inputs) {
      step(layer, x, h, c);
      states.push_back(h);
    }
    return states;
  }

  void run_row(std::int64_t row, PlainResult& result) {
    const std::int64_t size = spec_.hidden;
    Sequence x;
    for (std::int64_t t = 0; t < case_.steps; ++t) {
      const std::int32_t token = case_.tokens[static_cast<std::size_t>(row * case_.steps + t)];
      if (token < 0) break;
      Numbers embedding;
      for (std::int64_t j = 0; j < spec_.embedding_size(); ++j) embedding.push_back(at("embedding.weight", token, j));
      x.push_back(std::move(embedding));
    }
    bool extra = false;
    if (spec_.features > 0) {
      const Numbers features(case_.features.begin() + row * spec_.features,
                             case_.features.begin() + (row + 1) * spec_.features);
      Numbers image = product("feature.weight", 0, spec_.embedding_size(), features);
      for (std::size_t j = 0; j < image.size(); ++j) image[j] += at("feature.bias", static_cast<std::int64_t>(j));
      extra = spec_.feature_use == FeatureUse::initial_state;
      if (extra)
        x.insert(x.begin(), image);
      else
        for (std::size_t j = 0; j < image.size(); ++j) x.front()[j] += image[j];
    }
    Numbers last;
    for (std::int64_t layer = 0; layer < spec_.layers; ++layer) {
      Numbers h(static_cast<std::size_t>(size), 0.0), c = h;
      const auto place = [&](std::int64_t part) {
        return static_cast<std::size_t>(((part * spec_.layers + layer) * case_.rows + row) * size);
      };
      for (std::int64_t i = 0; i < size && !case_.before.empty(); ++i) {
        h[i] = case_.before[place(0) + i];
        if (spec_.cell == Cell::lstm) c[i] = case_.before[place(1) + i];
      }
      Sequence forward = run_layer(recurrent_layer_name(layer, 0), x, h, c);
      if (spec_.state_size() > 0)
        for (std::int64_t i = 0; i < size; ++i) {
          result.after[place(0) + i] = h[i];
          if (spec_.cell == Cell::lstm) result.after[place(1) + i] = c[i];
        }
      if (spec_.bidirectional) {
        Numbers zero(static_cast<std::size_t>(size), 0.0), zero_c = zero;
        const Sequence backward = run_layer(recurrent_layer_name(layer, 1), {x.rbegin(), x.rend()}, zero, zero_c);
        last = forward.back();
        last.insert(last.end(), backward.back().begin(), backward.back().end());
        for (std::size_t t = 0; t < forward.size(); ++t) {
          const Numbers& other = backward[forward.size() - 1 - t];
          forward[t].insert(forward[t].end(), other.begin(), other.end());
        }
      } else {
        last = forward.back();
      }
      x = std::move(forward);
    }
    if (extra) x.erase(x.begin());
    if (spec_.readout == Readout::last_state) x = {last};
    const double weight = case_.row_weights.empty() ? 1 : case_.row_weights[static_cast<std::size_t>(row)];
    const std::int64_t answers = std::ssize(case_.targets) / case_.rows;
    for (std::size_t t = 0; t < x.size(); ++t) {
      Numbers logits = product(spec_.tied_embedding ? "embedding.weight" : "output.weight", 0, spec_.outputs(), x[t]);
      double sum = 0;
      for (std::size_t k = 0; k < logits.size(); ++k) {
        logits[k] += at("output.bias", static_cast<std::int64_t>(k));
        sum += std::exp(logits[k]);
      }
      const float target = case_.targets[static_cast<std::size_t>(row * answers) + t];
      if (target >= 0) result.log_likelihood += weight * (logits[static_cast<std::size_t>(target)] - std::log(sum));
      result.logits.insert(result.logits.end(), logits.begin(), logits.end());
    }
  }

  const RecurrentCase& case_;
  const RecurrentSpec& spec_;
  Layout layout_;
  const std::vector<double>& weights_;
};

inline PlainResult run_plain(const RecurrentCase& c) {
  return PlainRecurrent(c, c.weights).run();
}

/// ∂ log-likelihood/∂ weights by central differences, whose error is below 1e-8 here.
inline std::vector<double> plain_gradient(const RecurrentCase& c) {
  constexpr double step = 1e-5;
  std::vector<double> weights = c.weights, gradient;
  for (double& weight : weights) {
    const double middle = weight;
    weight = middle + step;
    const double up = PlainRecurrent(c, weights).run().log_likelihood;
    weight = middle - step;
    gradient.push_back((up - PlainRecurrent(c, weights).run().log_likelihood) / (2 * step));
    weight = middle;
  }
  return gradient;
}

/// Networks that between them have every option but dropout.
inline std::vector<RecurrentCase> recurrent_cases() {
  std::vector<RecurrentCase> cases;
  for (const Cell cell : {Cell::lstm, Cell::gru, Cell::tanh}) {
    cases.push_back(
        RecurrentCase::make({.cell = cell, .vocabulary = 7, .embedding = 3, .hidden = 4, .layers = 2}, 3, 5));
    cases.push_back(
        RecurrentCase::make({.cell = cell, .vocabulary = 5, .hidden = 6, .layers = 1, .tied_embedding = true}, 2, 4));
    RecurrentCase classes = RecurrentCase::make({.cell = cell,
                                                 .vocabulary = 6,
                                                 .embedding = 3,
                                                 .hidden = 4,
                                                 .layers = 2,
                                                 .bidirectional = true,
                                                 .readout = Readout::last_state,
                                                 .classes = 3},
                                                4, 5);
    for (const std::size_t gone : {4, 8, 9, 16, 17, 18, 19}) classes.tokens[gone] = -1;  // lengths 4, 3, 5, 1
    classes.row_weights = {1, 0.5F, -2, 3};
    cases.push_back(std::move(classes));
    RecurrentCase one_way = RecurrentCase::make(
        {.cell = cell, .vocabulary = 6, .hidden = 4, .layers = 1, .readout = Readout::last_state, .classes = 2}, 2, 3);
    one_way.tokens[2] = -1;
    cases.push_back(std::move(one_way));
    for (const FeatureUse use : {FeatureUse::first_input, FeatureUse::initial_state}) {
      RecurrentCase captions = RecurrentCase::make(
          {.cell = cell, .vocabulary = 6, .embedding = 3, .hidden = 4, .layers = 2, .features = 5, .feature_use = use},
          2, 4);
      captions.targets[3] = captions.targets[7] = captions.targets[6] = -1;
      captions.row_weights = {2, 1};
      cases.push_back(std::move(captions));
    }
    RecurrentCase going_on =
        RecurrentCase::make({.cell = cell, .vocabulary = 5, .embedding = 2, .hidden = 3, .layers = 2}, 2, 3);
    fill_normal(std::span(going_on.before), {.seed = 8}, 0);
    for (float& number : going_on.before) number *= 0.3F;
    cases.push_back(std::move(going_on));
  }
  return cases;
}

inline std::string describe(const RecurrentCase& c) {
  return fmt::format("cell {} tied {} bidirectional {} readout {} features {} use {} rows {}",
                     static_cast<int>(c.spec.cell), c.spec.tied_embedding, c.spec.bidirectional,
                     static_cast<int>(c.spec.readout), c.spec.features, static_cast<int>(c.spec.feature_use), c.rows);
}

}  // namespace stein::test
