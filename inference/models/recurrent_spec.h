// A recurrent network as data: cells, sizes, dropout, where its weights lie and how they start.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/layout.h>
#include <stein/inference/precision.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein::inference {

/// How a state follows from the one before it and an input.
enum class Cell {
  lstm,  ///< Hochreiter & Schmidhuber 1997 without peepholes; gates in the order input, forget, cell, output
  gru,  ///< Cho et al. 2014, the reset gate inside the product (Gan et al. 2017, eq. 9–12); order reset, update, state
  tanh,  ///< h' = tanh(W x + U h + b)
};

/// Gates of a cell: blocks of H rows in its weights.
constexpr std::int64_t gate_count(Cell cell) {
  return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
}

/// From what the outputs are computed.
enum class Readout {
  every_token,  ///< from the state behind each token: the next one is predicted
  last_state,   ///< from the state behind the last token, and in a bidirectional network that behind the first as well
};

/// How the features of an image enter.
enum class FeatureUse {
  first_input,    ///< added, projected, to the embedding of the first token (Gan et al. 2017, supplement B.2)
  initial_state,  ///< as an input of their own before the first token (Vinyals et al. 2017; Fortunato et al. 2017)
};

/// Which dropout mask a unit has.
enum class DropoutMask {
  each_step,  ///< a new one at every step, not of the state before (Zaremba et al. 2014)
  sequence,   ///< one for all steps of a sequence, of the state before as well (Gal & Ghahramani 2016)
};

/// How weights start.
enum class RecurrentStart {
  orthogonal,  ///< recurrent matrices orthogonal, gate by gate; others U(−r, r); biases 0 (Gan et al. 2017)
  uniform,     ///< all U(−r, r), biases too (Zaremba et al. 2014)
  fan_in,      ///< embeddings N(0, 1), others N(0, 1/fan-in) cut at two sd, biases 0 (Fortunato et al. 2017)
};

/// Where rows of an embedding start that others have trained.
struct EmbeddingStart {
  std::vector<float> values;  ///< [V, E]
  std::vector<bool> known;    ///< [V] which rows are meant
};

/// Tokens → embeddings [E] → `layers` recurrent layers [H] → logits [K].
struct RecurrentSpec {
  Cell cell = Cell::lstm;
  std::int64_t vocabulary = 2;  ///< V: tokens 0 … V − 1; a negative number is no token and stands behind the last one
  std::int64_t embedding = 0;  ///< E; 0: as many as `hidden`
  std::int64_t hidden = 200;   ///< H, of every layer and direction
  std::int64_t layers = 2;
  bool bidirectional = false;
  Readout readout = Readout::every_token;
  std::int64_t classes = 0;  ///< K of `last_state`; of `every_token` it is V
  /// The output's weights are those of the embedding (Inan et al. 2017; Press & Wolf 2017), which needs E = H.
  bool tied_embedding = false;
  double dropout = 0;  ///< share of units that is dropped, of embeddings, between layers and before the output
  DropoutMask dropout_mask = DropoutMask::each_step;
  /// F: numbers that describe an image, in `Inputs::dense` [n, F]; 0: none. Inputs that go on with carried state may
  /// have none: the image was there before.
  std::int64_t features = 0;
  FeatureUse feature_use = FeatureUse::first_input;
  Precision precision = Precision::single;  ///< of products; tf32 on a GPU only
  RecurrentStart start = RecurrentStart::orthogonal;
  double start_range = 0.01;  ///< r
  double forget_bias = 3;     ///< where the forget gate's bias of an LSTM starts, as the sum of both
  std::shared_ptr<const EmbeddingStart> embedding_start{};  ///< of the rows it knows, whatever `start` says; or null

  std::int64_t embedding_size() const { return embedding > 0 ? embedding : hidden; }
  std::int64_t directions() const { return bidirectional ? 2 : 1; }
  std::int64_t layer_inputs(std::int64_t layer) const { return layer == 0 ? embedding_size() : directions() * hidden; }
  std::int64_t outputs() const { return readout == Readout::every_token ? vocabulary : classes; }
  /// Numbers of one sequence's state that go from minibatch to minibatch: h of every layer, and of an LSTM c behind
  /// them; 0 where a sequence is read out once, at its end.
  std::int64_t state_size() const { return readout == Readout::last_state ? 0 : state_blocks() * hidden; }
  /// In which all sequences have H numbers each (Model::carried_blocks).
  std::int64_t state_blocks() const { return layers * (cell == Cell::lstm ? 2 : 1); }
};

/// "recurrent0", "recurrent0_reverse": what the names of a layer's weights begin with. @param direction  0, or 1:
/// reverse
std::string recurrent_layer_name(std::int64_t layer, std::int64_t direction);
/// Whether a parameter, or what a variational family says of it, is of a recurrent layer, by its name.
bool in_recurrent_layer(std::string_view parameter);

/// Throws Error(usage) naming the field that makes no sense, or does not go with another.
void check(const RecurrentSpec& spec);

/// Where the weights lie: for each layer, in the order of cuDNN's flat buffer, `recurrentL.weight_ih` [G H, inputs],
/// `.weight_hh` [G H, H], `.bias_ih` and `.bias_hh` [G H] (a GRU, whose reset gate cuDNN has elsewhere, has the first
/// bias only), and in a bidirectional network `recurrentL_reverse.…` behind them; then `embedding.weight` [V, E],
/// `feature.weight` [E, F] and `feature.bias` [E] where there are features, `output.weight` [K, directions · H] unless
/// tied, and `output.bias` [K].
Layout recurrent_layout(const RecurrentSpec& spec);

/// Draws a row of weights laid out so, as `spec.start` says; every row of every seed starts differently.
void draw_recurrent_start(const RecurrentSpec& spec, const Layout& layout, std::span<float> weights, std::uint64_t seed,
                          std::int64_t row);

/// Throws Error(usage) unless there are tokens, and features of the network's number where it has them or goes on with
/// carried state.
void check_recurrent_inputs(const RecurrentSpec& spec, const Inputs<float>& inputs);

}  // namespace stein::inference
