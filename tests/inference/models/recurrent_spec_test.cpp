#include <stein/inference/models/recurrent_spec.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/error_matcher.h"

namespace stein::inference {
namespace {

std::vector<float> draw(const RecurrentSpec& spec, std::uint64_t seed = 3, std::int64_t row = 0) {
  const Layout layout = recurrent_layout(spec);
  std::vector<float> weights(static_cast<std::size_t>(layout.size()));
  draw_recurrent_start(spec, layout, weights, seed, row);
  return weights;
}

std::span<const float> part(const std::vector<float>& weights, const RecurrentSpec& spec, const char* name) {
  const LayoutEntry entry = recurrent_layout(spec).at(name);
  return std::span(weights).subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.size()));
}

TEST_CASE("an LSTM of Penn Treebank's medium size has the published number of weights", "[inference][recurrent]") {
  // Embedding and output 10,000 × 650 each, 10,000 biases; each layer 4·650 (650 + 650) weights and two biases.
  const RecurrentSpec medium{.vocabulary = 10'000, .hidden = 650, .layers = 2};
  CHECK(recurrent_layout(medium).size() == 2 * 6'500'000 + 10'000 + 2 * (2'600 * 1'300 + 2 * 2'600));
  RecurrentSpec tied = medium;
  tied.tied_embedding = true;
  CHECK(recurrent_layout(tied).size() == recurrent_layout(medium).size() - 6'500'000);
  CHECK(medium.state_size() == 2 * 2 * 650);
}

TEST_CASE("each layer's weights lie in the order of cuDNN's flat buffer", "[inference][recurrent]") {
  const RecurrentSpec spec{.vocabulary = 5,
                           .embedding = 2,
                           .hidden = 3,
                           .layers = 2,
                           .bidirectional = true,
                           .readout = Readout::last_state,
                           .classes = 4};
  CHECK(recurrent_layout(spec).description() ==
        "recurrent0.weight_ih [12, 2]\nrecurrent0.weight_hh [12, 3]\nrecurrent0.bias_ih [12]\nrecurrent0.bias_hh [12]\n"
        "recurrent0_reverse.weight_ih [12, 2]\nrecurrent0_reverse.weight_hh [12, 3]\n"
        "recurrent0_reverse.bias_ih [12]\nrecurrent0_reverse.bias_hh [12]\n"
        "recurrent1.weight_ih [12, 6]\nrecurrent1.weight_hh [12, 3]\nrecurrent1.bias_ih [12]\nrecurrent1.bias_hh [12]\n"
        "recurrent1_reverse.weight_ih [12, 6]\nrecurrent1_reverse.weight_hh [12, 3]\n"
        "recurrent1_reverse.bias_ih [12]\nrecurrent1_reverse.bias_hh [12]\n"
        "embedding.weight [5, 2]\noutput.weight [4, 6]\noutput.bias [4]\n");
}

TEST_CASE("recurrent matrices start orthogonal, gate by gate, and forget gates open", "[inference][recurrent]") {
  const RecurrentSpec spec{.vocabulary = 5, .hidden = 6, .layers = 2};
  const std::vector<float> weights = draw(spec);
  for (const char* name : {"recurrent0.weight_hh", "recurrent1.weight_hh"}) {
    const std::span<const float> all = part(weights, spec, name);
    for (int gate = 0; gate < 4; ++gate)
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
          double product = 0;
          for (int k = 0; k < 6; ++k) product += double{all[(gate * 6 + i) * 6 + k]} * all[(gate * 6 + j) * 6 + k];
          CHECK(std::abs(product - (i == j)) < 1e-6);
        }
    CHECK(all[0] != all[36]);
  }
  for (const float weight : part(weights, spec, "embedding.weight")) CHECK(std::abs(weight) <= 0.01F);
  for (const float weight : part(weights, spec, "recurrent1.weight_ih")) CHECK(std::abs(weight) <= 0.01F);
  const std::span<const float> bias = part(weights, spec, "recurrent0.bias_ih");
  for (int i = 0; i < 24; ++i) CHECK(bias[i] == (i / 6 == 1 ? 3.0F : 0.0F));
  for (const float weight : part(weights, spec, "recurrent0.bias_hh")) CHECK(weight == 0);
}

TEST_CASE("other starts have their ranges and deviations", "[inference][recurrent]") {
  RecurrentSpec spec{.vocabulary = 400, .embedding = 50, .hidden = 40, .layers = 1};
  spec.start = RecurrentStart::uniform;
  spec.start_range = 0.1;
  spec.forget_bias = 0;
  double most = 0, square = 0;
  const std::vector<float> uniform = draw(spec);
  for (const float weight : uniform) most = std::max(most, std::abs(double{weight})), square += weight * weight;
  const auto count = static_cast<double>(uniform.size());
  CHECK(most <= 0.1F);
  // Variance r²/3, of a square (4/45) r⁴.
  CHECK(std::abs(square / count - 0.01 / 3) < 6.1 * std::sqrt(4.0 / 45 * 1e-4 / count));
  spec.start = RecurrentStart::fan_in;
  const std::vector<float> fan_in = draw(spec);
  const std::span<const float> output = part(fan_in, spec, "output.weight");
  square = 0;
  for (const float weight : output) {
    CHECK(std::abs(weight) <= 2 / std::sqrt(40.0) + 1e-6);
    square += double{weight} * weight;
  }
  // A normal cut at two sd has the variance 1 − 4 φ(2)/(2 Φ(2) − 1) = 0.7737; 1/40 of it here.
  const auto outputs = static_cast<double>(output.size());
  CHECK(std::abs(square / outputs - 0.7737 / 40) < 6.1 * 0.85 / 40 / std::sqrt(outputs));
  square = 0;
  for (const float weight : part(fan_in, spec, "embedding.weight")) square += double{weight} * weight;
  CHECK(std::abs(square / 20'000 - 1) < 6.1 * std::sqrt(2.0 / 20'000));
  for (const float weight : part(fan_in, spec, "recurrent0.bias_ih")) CHECK(weight == 0);
  // Of each row of a layer's matrices the inputs count: 50 of the embedding, 40 of the state before.
  for (const auto& [name, inputs] : {std::pair("recurrent0.weight_ih", 50.), std::pair("recurrent0.weight_hh", 40.)}) {
    CAPTURE(name);
    const std::span<const float> matrix = part(fan_in, spec, name);
    square = 0;
    for (const float weight : matrix) square += double{weight} * weight;
    const auto n = static_cast<double>(matrix.size());
    CHECK(std::abs(square / n - 0.7737 / inputs) < 6.1 * 0.85 / inputs / std::sqrt(n));
  }
}

TEST_CASE("every matrix starts by draws of its own", "[inference][recurrent]") {
  for (const RecurrentStart start : {RecurrentStart::orthogonal, RecurrentStart::uniform, RecurrentStart::fan_in}) {
    RecurrentSpec spec{.vocabulary = 6, .hidden = 6, .layers = 2};
    spec.start = start;
    const std::vector<float> weights = draw(spec);
    const std::vector<const char*> names{"embedding.weight",     "recurrent0.weight_ih", "recurrent0.weight_hh",
                                         "recurrent1.weight_ih", "recurrent1.weight_hh", "output.weight"};
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) {
        CAPTURE(names[i], names[k]);
        const auto one = part(weights, spec, names[i]), other = part(weights, spec, names[k]);
        CHECK_FALSE(std::equal(one.begin(), one.begin() + 6, other.begin()));
      }
  }
}

TEST_CASE("known rows of an embedding start where they are said to", "[inference][recurrent]") {
  RecurrentSpec spec{.vocabulary = 3, .embedding = 2, .hidden = 4, .layers = 1};
  const std::vector<float> random = draw(spec);
  spec.embedding_start =
      std::make_shared<EmbeddingStart>(EmbeddingStart{.values = {1, 2, 0, 0, 5, 6}, .known = {true, false, true}});
  const std::vector<float> started = draw(spec);
  const auto embedding = part(started, spec, "embedding.weight"), other = part(random, spec, "embedding.weight");
  CHECK(std::vector(embedding.begin(), embedding.end()) == std::vector<float>{1, 2, other[2], other[3], 5, 6});
  const auto output = part(started, spec, "output.weight"), same = part(random, spec, "output.weight");
  CHECK(std::ranges::equal(output, same));
  spec.embedding = 3;
  CHECK_ERROR(check(spec), usage, "expected 3 vectors of 3 numbers", "got 3 of 2");
}

TEST_CASE("every row of every seed starts differently, and the same each time", "[inference][recurrent]") {
  const RecurrentSpec spec{.cell = Cell::gru, .vocabulary = 5, .hidden = 6, .layers = 1};
  CHECK(draw(spec) == draw(spec));
  CHECK(draw(spec, 3, 0) != draw(spec, 3, 1));
  CHECK(draw(spec, 3, 0) != draw(spec, 4, 0));
}

}  // namespace
}  // namespace stein::inference
