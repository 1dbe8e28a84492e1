// Recurrent networks on LibTorch against plain loops in double, and against LibTorch's own modules.
#include <torch/torch.h>

#include <stein/torch/recurrent_reference.h>

#include <catch2/catch.hpp>

#include "inference/models/recurrent_checks.h"

using namespace stein;
using namespace stein::inference;

using test::one_row;
using test::predict;
using test::score;
using test::Scored;

TEST_CASE("every recurrent network scores, differentiates, predicts and carries as plain loops in double do",
          "[torch][recurrent]") {
  for (test::RecurrentCase& c : test::recurrent_cases()) test::check_plain(*make_recurrent_reference(c.spec), c);
}

// Layers of LSTM and tanh units are LibTorch's own, and stay in floats: float16, which a GPU would take for them, has
// no room for their gradients.
TEST_CASE("a recurrent network scores and differentiates in bfloat16 as in single precision but for rounding",
          "[torch][recurrent][precision]") {
  for (test::RecurrentCase& c : test::recurrent_cases()) {
    CAPTURE(describe(c));
    RecurrentSpec mixed = c.spec;
    mixed.precision = Precision::bfloat16;
    const Scored expected = score(*make_recurrent_reference(c.spec), c),
                 found = score(*make_recurrent_reference(mixed), c);
    CHECK(found.value == Approx(expected.value).epsilon(0.02));
    CHECK(found.value != expected.value);
    double apart = 0, length = 0;
    for (std::size_t q = 0; q < expected.gradient.size(); ++q) {
      apart += std::pow(found.gradient[q] - expected.gradient[q], 2);
      length += std::pow(expected.gradient[q], 2);
    }
    CHECK(std::sqrt(apart) < 0.05 * std::sqrt(length));
    for (std::size_t i = 0; i < expected.after.size(); ++i)
      CHECK(found.after[i] == Approx(expected.after[i]).margin(0.05));
    if (c.spec.cell != Cell::gru && c.spec.features == 0) CHECK((found.after == expected.after));
  }
}

TEST_CASE("LSTM and tanh networks are those of LibTorch's own modules", "[torch][recurrent]") {
  for (const Cell cell : {Cell::lstm, Cell::tanh}) {
    test::RecurrentCase c =
        test::RecurrentCase::make({.cell = cell, .vocabulary = 9, .embedding = 4, .hidden = 5, .layers = 2}, 3, 6);
    const Layout layout = c.layout();
    torch::nn::LSTM lstm(torch::nn::LSTMOptions(4, 5).num_layers(2));
    torch::nn::RNN plain(torch::nn::RNNOptions(4, 5).num_layers(2).nonlinearity(torch::kTanh));
    const auto view = [&](const std::string& name) {
      const LayoutEntry& entry = layout.at(name);
      return torch::from_blob(c.float_weights.data() + entry.offset, entry.shape);
    };
    const torch::NoGradGuard no_gradient;
    const auto parameters = cell == Cell::lstm ? lstm->named_parameters() : plain->named_parameters();
    for (int layer = 0; layer < 2; ++layer)
      for (const std::string part : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
        parameters[fmt::format("{}_l{}", part, layer)].copy_(view(fmt::format("recurrent{}.{}", layer, part)));
    const torch::Tensor tokens = torch::from_blob(c.tokens.data(), {3, 6}, torch::kInt).t();
    const torch::Tensor x = torch::embedding(view("embedding.weight"), tokens);
    const torch::Tensor states = cell == Cell::lstm ? std::get<0>(lstm(x)) : std::get<0>(plain(x));
    const torch::Tensor logits = torch::linear(states, view("output.weight"), view("output.bias")).transpose(0, 1);
    const std::vector<float> ours = predict(*make_recurrent_reference(c.spec), c);
    const torch::Tensor difference = torch::from_blob(const_cast<float*>(ours.data()), {3, 6, 9}) - logits.contiguous();
    CHECK(difference.abs().max().item<float>() < 1e-6F);
  }
}

TEST_CASE("a GRU whose reset gate is open is LibTorch's, with the update gate turned round", "[torch][recurrent]") {
  test::RecurrentCase c =
      test::RecurrentCase::make({.cell = Cell::gru, .vocabulary = 9, .embedding = 4, .hidden = 5, .layers = 1}, 3, 6);
  const Layout layout = c.layout();
  const auto view = [&](const std::string& name) {
    const LayoutEntry& entry = layout.at(name);
    return torch::from_blob(c.float_weights.data() + entry.offset, entry.shape);
  };
  const torch::NoGradGuard no_gradient;
  view("recurrent0.bias_ih").narrow(0, 0, 5).fill_(40);  // r = 1 to the last bit
  torch::nn::GRU gru(torch::nn::GRUOptions(4, 5));
  auto parameters = gru->named_parameters();
  for (const std::string part : {"weight_ih", "weight_hh", "bias_ih"}) {
    torch::Tensor to = parameters[part + "_l0"];
    to.copy_(view("recurrent0." + part));
    to.narrow(0, 5, 5).neg_();  // LibTorch keeps the old state by z, eq. 12 by 1 − z
  }
  parameters["bias_hh_l0"].zero_();
  const torch::Tensor tokens = torch::from_blob(c.tokens.data(), {3, 6}, torch::kInt).t();
  const torch::Tensor states = std::get<0>(gru(torch::embedding(view("embedding.weight"), tokens)));
  const torch::Tensor logits = torch::linear(states, view("output.weight"), view("output.bias")).transpose(0, 1);
  const std::vector<float> ours = predict(*make_recurrent_reference(c.spec), c);
  const torch::Tensor difference = torch::from_blob(const_cast<float*>(ours.data()), {3, 6, 9}) - logits.contiguous();
  CHECK(difference.abs().max().item<float>() < 1e-6F);
}

TEST_CASE("a text in chunks with carried state scores as the text in one piece", "[torch][recurrent]") {
  for (const Cell cell : {Cell::lstm, Cell::gru, Cell::tanh})
    test::check_chunks(
        cell, [](const RecurrentSpec& spec) { return make_recurrent_reference(spec); }, 1e-6);
}

TEST_CASE("dropout draws by key and row, hides a share of the units, and is off where it is not asked for",
          "[torch][recurrent]") {
  for (const DropoutMask mask : {DropoutMask::each_step, DropoutMask::sequence}) {
    test::RecurrentCase c = test::RecurrentCase::make(
        {.vocabulary = 7, .embedding = 8, .hidden = 8, .layers = 2, .dropout_mask = mask}, 3, 5);
    const double plain = score(*make_recurrent_reference(c.spec), c).value;
    c.spec.dropout = 0.5;
    const auto model = make_recurrent_reference(c.spec);
    const Scored first = score(*model, c, {.seed = 1}), again = score(*model, c, {.seed = 1}),
                 other = score(*model, c, {.seed = 2});
    CHECK(first.value == again.value);
    CHECK(first.gradient == again.gradient);
    CHECK(first.value != other.value);
    CHECK(first.value != plain);
    const std::vector<float> without = predict(*model, c);
    c.spec.dropout = 0;
    CHECK(without == predict(*make_recurrent_reference(c.spec), c));
    c.spec.dropout = 0.5;
    Inputs<float> inputs = c.batch().inputs;
    const auto sampled = [&](std::uint64_t seed) {
      inputs.dropout = NoiseKey{.seed = seed};
      std::vector<float> outputs(without.size());
      model->predict(one_row(c.float_weights), inputs, {outputs.data(), 15, 7});
      return outputs;
    };
    CHECK(sampled(1) == sampled(1));
    CHECK(sampled(1) != sampled(2));
    CHECK(sampled(1) != without);
  }
}

TEST_CASE("bad inputs of a recurrent network are refused", "[torch][recurrent]") {
  const auto refused = [](const RecurrentSpec& spec, const std::string& part) {
    CHECK_THROWS_WITH(make_recurrent_reference(spec), Catch::Contains(part));
  };
  refused({.vocabulary = 0}, "vocabulary");
  refused({.hidden = 0}, "hidden");
  refused({.dropout = 1}, "dropout");
  refused({.bidirectional = true}, "sees the tokens");
  refused({.embedding = 3, .hidden = 4, .tied_embedding = true}, "3 and 4");
  refused({.readout = Readout::last_state, .classes = 1}, "classes");
  test::RecurrentCase c = test::RecurrentCase::make({.vocabulary = 6, .hidden = 4, .layers = 1, .features = 5}, 2, 4);
  const auto model = make_recurrent_reference(c.spec);
  c.spec.features = 4;
  c.features.resize(8);
  CHECK_THROWS_WITH(score(*model, c), Catch::Contains("features [2, 5], got [2, 4]"));
}
