// The phases of the kernels of perceptrons in order, for the kernels and for the tests.
#pragma once

#include <stein/inference/cuda/mlp_body.h>

#include <cstdint>

namespace stein::inference::cuda {

/// The phases of a block in order.
/// @param threads  what runs phases in all threads of the block: each(phase) is phase(thread) in every thread, and a
///                 barrier after it
template <bool whole, class Threads>
STEIN_HOST_DEVICE void pass_share(const MlpBlock<whole>& block, Threads& threads) {
  threads.each([&](int thread) { block.clear(thread); });
  threads.each([&](int thread) { block.load_weights(thread); });
  for (std::int64_t tile = block.first_tile(); tile < block.end_tile(); ++tile) {
    threads.each([&](int thread) { block.load_inputs(thread, tile); });
    for (int l = 0; l < block.layers(); ++l) threads.each([&](int thread) { block.pass_layer(thread, tile, l); });
    if (block.predicts()) {
      threads.each([&](int thread) { block.write_outputs(thread, tile); });
      continue;
    }
    threads.each([&](int thread) { block.score_row(thread, tile); });
    if (!block.goes_back()) threads.each([&](int thread) { block.add_rows(thread, tile); });
    for (int l = block.layers() - 1; block.goes_back() && l >= 0; --l) {
      threads.each([&](int thread) {
        if (l + 1 == block.layers()) block.add_rows(thread, tile);
        block.layer_gradient(thread, tile, l);
      });
      if (l > 0) threads.each([&](int thread) { block.pull_back(thread, tile, l); });
    }
  }
  if (!block.predicts()) threads.each([&](int thread) { block.finish(thread); });
}

/// Adds up four numbers of the gradients of all shares, share after share; `index` counts groups of four of all
/// networks.
struct AddShares {
  MlpLaunch launch;

  STEIN_HOST_DEVICE std::int64_t groups() const { return launch.padded_size() / 4; }
  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t network = index / groups(), first = index % groups() * 4;
    FourNumbers total{};
    double noise = 0;
    for (std::int64_t share = 0; share < launch.tiling.shares; ++share) {
      const std::int64_t row = share * launch.networks + network;
      const FourNumbers own = *reinterpret_cast<const FourNumbers*>(launch.shares + row * launch.padded_size() + first);
      for (int c = 0; c < 4; ++c) total.number[c] = share == 0 ? own.number[c] : total.number[c] + own.number[c];
      if (launch.shape.log_noise_precision >= 0) noise += launch.sums[2 * row + 1];
    }
    for (int c = 0; c < 4 && first + c < launch.shape.size; ++c)
      launch.gradient[network * launch.gradient_stride + first + c] =
          first + c == launch.shape.log_noise_precision ? static_cast<float>(noise) : total.number[c];
  }
};

}  // namespace stein::inference::cuda
