// What `stein bench mlp-gpu` measures, on any device.
#pragma once

#include <stein/bench/benchmark.h>
#include <stein/inference/models/batched_product.h>
#include <stein/inference/storage/device.h>

#include <cstdint>
#include <vector>

namespace stein::bench {

/// A classifier whose weights are more than a block of threads has room for.
struct MlpGpuCase {
  std::int64_t particles = 20;
  std::int64_t rows = 100;  ///< of a minibatch
  std::int64_t inputs = 784;
  std::vector<std::int64_t> hidden{400, 400};
  std::int64_t outputs = 10;

  /// Of the products of one gradient, a multiply-add counted as two: forward, weights, and slopes of hidden units.
  double operations() const;
};

/// GFLOP/s of the gradients of all particles on a device, from a minibatch on the host to slopes of the weights,
/// against the bare products of matrices that they are made of, with everything on the device.
/// @throws Error(usage)    where there is no such device
/// @throws Error(numeric)  where gradients on the device are not those of the host
std::vector<Row> measure_gradients_on(inference::Device device, const inference::ProductDriver& products,
                                      const MlpGpuCase& which, const PairSettings& settings = {});

}  // namespace stein::bench
