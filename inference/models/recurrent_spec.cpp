#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/inference/models/recurrent_spec.h>

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

using DoubleMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void check_size(std::int64_t value, std::int64_t low, const char* name) {
  constexpr std::int64_t most = 100'000'000;
  STEIN_CHECK(value >= low && value <= most, "recurrent network: {} must be between {} and {}, got {}", name, low, most,
              value);
}

void add_layer(Layout& layout, const RecurrentSpec& spec, const std::string& name, std::int64_t inputs,
               std::int64_t number) {
  const std::int64_t rows = gate_count(spec.cell) * spec.hidden;
  layout.add(name + ".weight_ih", {rows, inputs}, Role::weight, number, 0, inputs);
  layout.add(name + ".weight_hh", {rows, spec.hidden}, Role::weight, number, 0, spec.hidden);
  layout.add(name + ".bias_ih", {rows}, Role::bias, number);
  if (spec.cell != Cell::gru) layout.add(name + ".bias_hh", {rows}, Role::bias, number);
}

/// A random orthogonal matrix: Q of a Gaussian one, with the signs that make it uniform (Mezzadri 2007).
DoubleMatrix draw_orthogonal(std::int64_t size, Draws& draws) {
  DoubleMatrix gaussian(size, size);
  for (Eigen::Index i = 0; i < gaussian.size(); ++i) gaussian.data()[i] = draws.normal();
  const Eigen::HouseholderQR<DoubleMatrix> factors(gaussian);
  DoubleMatrix q = factors.householderQ();
  for (Eigen::Index j = 0; j < size; ++j)
    if (factors.matrixQR()(j, j) < 0) q.col(j) = -q.col(j);
  return q;
}

void fill_uniform(std::span<float> weights, double range, Draws& draws) {
  for (float& weight : weights) weight = static_cast<float>(draws.uniform(-range, range));
}

/// N(0, sd²) without what is further out than two sd.
void fill_cut_normal(std::span<float> weights, double deviation, Draws& draws) {
  for (float& weight : weights) {
    double normal = draws.normal();
    while (std::abs(normal) > 2) normal = draws.normal();
    weight = static_cast<float>(deviation * normal);
  }
}

/// Puts the rows that are known into an embedding.
void put_known_rows(const EmbeddingStart& start, std::span<float> embedding) {
  const std::size_t width = embedding.size() / start.known.size();
  for (std::size_t row = 0; row < start.known.size(); ++row)
    if (start.known[row])
      std::ranges::copy(std::span(start.values).subspan(row * width, width), embedding.subspan(row * width).begin());
}

void draw_matrix(const RecurrentSpec& spec, const LayoutEntry& entry, std::span<float> weights, Draws& draws) {
  if (spec.start == RecurrentStart::uniform) return fill_uniform(weights, spec.start_range, draws);
  if (spec.start == RecurrentStart::fan_in) {
    if (entry.name == "embedding.weight")
      for (float& weight : weights) weight = static_cast<float>(draws.normal());
    else
      fill_cut_normal(weights, 1 / std::sqrt(static_cast<double>(entry.fan_in)), draws);
    return;
  }
  if (entry.name.find("weight_hh") == std::string::npos) return fill_uniform(weights, spec.start_range, draws);
  const auto block = static_cast<std::size_t>(spec.hidden * spec.hidden);
  for (std::size_t gate = 0; gate * block < weights.size(); ++gate) {
    const DoubleMatrix q = draw_orthogonal(spec.hidden, draws);
    std::transform(q.data(), q.data() + block, weights.begin() + static_cast<std::ptrdiff_t>(gate * block),
                   [](double number) { return static_cast<float>(number); });
  }
}

}  // namespace

std::string recurrent_layer_name(std::int64_t layer, std::int64_t direction) {
  return fmt::format("recurrent{}{}", layer, direction == 0 ? "" : "_reverse");
}

bool in_recurrent_layer(std::string_view parameter) {
  return parameter.starts_with("recurrent");
}

void check(const RecurrentSpec& spec) {
  check_size(spec.vocabulary, 1, "vocabulary");
  check_size(spec.embedding, 0, "embedding");
  check_size(spec.hidden, 1, "hidden");
  check_size(spec.layers, 1, "layers");
  check_size(spec.features, 0, "features");
  STEIN_CHECK(spec.dropout >= 0 && spec.dropout < 1, "recurrent network: dropout must be in [0, 1), got {}",
              spec.dropout);
  STEIN_CHECK(spec.start_range >= 0, "recurrent network: start_range must be >= 0, got {}", spec.start_range);
  if (spec.readout == Readout::last_state) {
    check_size(spec.classes, 2, "classes");
    STEIN_CHECK(!spec.tied_embedding, "recurrent network: tied_embedding is for networks that predict tokens");
  } else {
    STEIN_CHECK(!spec.bidirectional,
                "recurrent network: a bidirectional one sees the tokens that it would have to predict");
  }
  STEIN_CHECK(!spec.tied_embedding || spec.embedding_size() == spec.hidden,
              "recurrent network: tied_embedding needs as many numbers an embedding as hidden units, got {} and {}",
              spec.embedding_size(), spec.hidden);
  if (spec.embedding_start != nullptr) {
    const EmbeddingStart& start = *spec.embedding_start;
    STEIN_CHECK(std::ssize(start.known) == spec.vocabulary &&
                    std::ssize(start.values) == spec.vocabulary * spec.embedding_size(),
                "recurrent network: expected {} vectors of {} numbers to start from, got {} of {}", spec.vocabulary,
                spec.embedding_size(), start.known.size(),
                start.values.size() / std::max<std::size_t>(1, start.known.size()));
  }
  STEIN_CHECK(spec.features == 0 || !spec.bidirectional,
              "recurrent network: features enter before the first token, which a bidirectional one has two of");
}

Layout recurrent_layout(const RecurrentSpec& spec) {
  check(spec);
  Layout layout;
  std::int64_t layer = 0;
  for (std::int64_t l = 0; l < spec.layers; ++l)
    for (std::int64_t d = 0; d < spec.directions(); ++d)
      add_layer(layout, spec, recurrent_layer_name(l, d), spec.layer_inputs(l), layer++);
  const std::int64_t size = spec.embedding_size(), states = spec.directions() * spec.hidden;
  // As the output layer too it is multiplied, else rows of it are looked up.
  layout.add("embedding.weight", {spec.vocabulary, size}, Role::weight, layer++, 0, 1, spec.tied_embedding ? 1 : 0);
  if (spec.features > 0) {
    layout.add("feature.weight", {size, spec.features}, Role::weight, layer, 0, spec.features);
    layout.add("feature.bias", {size}, Role::bias, layer++);
  }
  if (!spec.tied_embedding) layout.add("output.weight", {spec.outputs(), states}, Role::weight, layer, 0, states);
  layout.add("output.bias", {spec.outputs()}, Role::bias, layer);
  return layout;
}

void draw_recurrent_start(const RecurrentSpec& spec, const Layout& layout, std::span<float> weights, std::uint64_t seed,
                          std::int64_t row) {
  STEIN_CHECK(std::ssize(weights) == layout.size(), "recurrent network: expected a row of {} weights, got {}",
              layout.size(), weights.size());
  std::uint64_t number = 0;
  for (const LayoutEntry& entry : layout.entries()) {
    const std::span<float> own =
        weights.subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.size()));
    Draws draws({.seed = seed, .step = number++, .stream = Stream::initial_values}, static_cast<std::uint32_t>(row));
    if (entry.role == Role::weight)
      draw_matrix(spec, entry, own, draws);
    else if (spec.start == RecurrentStart::uniform)
      fill_uniform(own, spec.start_range, draws);
    else
      std::ranges::fill(own, 0.0F);
    if (spec.embedding_start != nullptr && entry.name == "embedding.weight") put_known_rows(*spec.embedding_start, own);
    if (spec.cell == Cell::lstm && entry.name.find("bias_ih") != std::string::npos)
      for (float& bias : own.subspan(static_cast<std::size_t>(spec.hidden), static_cast<std::size_t>(spec.hidden)))
        bias += static_cast<float>(spec.forget_bias);
  }
}

void check_recurrent_inputs(const RecurrentSpec& spec, const Inputs<float>& inputs) {
  STEIN_CHECK(inputs.tokens.data != nullptr && inputs.tokens.columns >= 1,
              "recurrent network: expected tokens [n, T] as inputs");
  const bool goes_on = inputs.dense.data == nullptr && !inputs.carried.empty();
  STEIN_CHECK(spec.features == 0 || goes_on ||
                  (inputs.dense.rows == inputs.tokens.rows && inputs.dense.columns == spec.features),
              "recurrent network: expected features [{}, {}], got [{}, {}]", inputs.tokens.rows, spec.features,
              inputs.dense.rows, inputs.dense.columns);
}

}  // namespace stein::inference
