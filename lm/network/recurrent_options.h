// The recurrent network of a run, as options.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/arithmetic.h>
#include <stein/inference/model.h>
#include <stein/inference/models/recurrent_spec.h>
#include <stein/inference/precision_option.h>

#include <cstdint>
#include <memory>
#include <string>

namespace stein::lm {

/// Cells, sizes, dropout and start of a network; its vocabulary, and from what state it predicts what, is the
/// trainer's affair.
struct RecurrentOptions {
  inference::RecurrentSpec spec{};

  template <class V>
  void describe(V& v) {
    using inference::Cell;
    using inference::DropoutMask;
    using inference::RecurrentStart;
    v("cell", spec.cell, "lstm; gru, its reset gate inside the product; tanh, the plain recurrent network",
      {{"lstm", Cell::lstm}, {"gru", Cell::gru}, {"tanh", Cell::tanh}});
    v("hidden", spec.hidden, "H: units of every layer and direction", between(1, 1e5));
    v("layers", spec.layers, "recurrent layers", between(1, 100));
    v("embedding", spec.embedding, "E: numbers a token becomes; 0: as many as hidden", between(0, 1e5));
    if (spec.readout == inference::Readout::every_token)
      v("tied_embedding", spec.tied_embedding, "the output's weights are those of the embedding");
    else
      v("bidirectional", spec.bidirectional, "read from both ends, with as many hidden units for each direction");
    v("dropout", spec.dropout, "share of units that is dropped, of embeddings, between layers and before the output",
      Range{.low = 0, .high = 1, .high_open = true});
    v("dropout_mask", spec.dropout_mask,
      "a mask for each step; or one for a whole sequence, of the state before as well",
      {{"each_step", DropoutMask::each_step}, {"sequence", DropoutMask::sequence}});
    inference::describe_precision(
        v, spec.precision,
        "products of matrices in float, with both factors rounded to bfloat16 (faster with AVX-512 BF16 or a GPU), or "
        "to tf32 (a GPU only)");
    v("start", spec.start,
      "orthogonal: recurrent matrices orthogonal, others U(−r, r); uniform: all U(−r, r); fan_in: embeddings N(0, 1), "
      "others N(0, 1/fan-in) cut at two sd",
      {{"orthogonal", RecurrentStart::orthogonal},
       {"uniform", RecurrentStart::uniform},
       {"fan_in", RecurrentStart::fan_in}});
    v("start_range", spec.start_range, "r of the start", non_negative);
    v("forget_bias", spec.forget_bias, "where the forget gates of an LSTM start");
  }
};

/// "lstm 2x200".
std::string network_name(const inference::RecurrentSpec& spec);

/// The likelihood of a recurrent network: fused or on LibTorch, on a device other than the host on LibTorch.
/// @param networks  how many are trained side by side and share the cores
/// @throws Error(usage) for a network that makes no sense, for reference arithmetic on a device and tf32 on the host,
///         where there is no such device, and for LibTorch where Stein was built without it
std::unique_ptr<inference::Model<float>> make_recurrent_model(const inference::RecurrentSpec& spec,
                                                              inference::Arithmetic arithmetic,
                                                              inference::Device device, std::int64_t networks);

}  // namespace stein::lm
