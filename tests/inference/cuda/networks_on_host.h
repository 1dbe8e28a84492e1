// The kernels of perceptrons on the host: blocks one after the other, the last first, phases between barriers by loops
// over threads; shared memory is an array of the block, which begins with numbers that are none.
#pragma once

#include <stein/inference/cuda/layer_pass.h>
#include <stein/inference/cuda/mlp_phases.h>
#include <stein/inference/cuda/structure_body.h>
#include <stein/inference/cuda/structure_products.h>
#include <stein/inference/models/mlp_driver.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "inference/cuda/kernel_loops.h"
#include "inference/fenced_device.h"

namespace stein::test {

/// The threads of a block, as `pass_share` asks for them.
struct MlpThreadsOnHost {
  ThreadOrder order;

  template <class Phase>
  void each(const Phase& phase) {
    constexpr int threads = inference::cuda::mlp_threads;
    for (int k = 0; k < threads; ++k) phase(order == ThreadOrder::up ? k : threads - 1 - k);
  }
};

template <bool whole>
void pass_blocks(const inference::MlpLaunch& launch, ThreadOrder order) {
  using inference::cuda::FourNumbers;
  std::vector<FourNumbers> shared(static_cast<std::size_t>(launch.tiling.size / 4));
  for (std::int64_t index = launch.blocks() - 1; index >= 0; --index) {
    std::memset(shared.data(), 0xff, shared.size() * sizeof(FourNumbers));
    const inference::cuda::MlpBlock<whole> block(launch, index, shared.front().number);
    MlpThreadsOnHost threads{order};
    inference::cuda::pass_share(block, threads);
  }
}

/// To the nearest factor of a precision, ties away from zero.
inline float rounded_factor(float number, inference::Precision precision) {
  if (precision == inference::Precision::single) return number;
  const int dropped = precision == inference::Precision::bfloat16 ? 16 : 13;  // of 24 bits of mantissa 8 or 11 are left
  const std::uint32_t half = std::uint32_t{1} << (dropped - 1), below = (std::uint32_t{1} << dropped) - 1;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(number) + half) & ~below);
}

/// Products number by number, in order of the inner index, in multiply-adds.
inline void multiply_on_host(const inference::BatchedProduct& product) {
  const auto number = [&](const inference::ProductMatrix<const float>& matrix, std::int64_t i, std::int64_t r,
                          std::int64_t c) {
    return rounded_factor(
        matrix.data[i * matrix.step + (matrix.turned ? c * matrix.stride + r : r * matrix.stride + c)],
        product.precision);
  };
  for (std::int64_t i = 0; i < product.count; ++i)
    for (std::int64_t r = 0; r < product.rows; ++r)
      for (std::int64_t c = 0; c < product.columns; ++c) {
        float& to = product.c.data[i * product.c.step + r * product.c.stride + c];
        float sum = product.adds ? to : 0;
        for (std::int64_t k = 0; k < product.inner; ++k)
          sum = std::fma(number(product.a, i, r, k), number(product.b, i, k, c), sum);
        to = sum;
      }
}

/// The same on the fenced device.
inline const inference::ProductDriver& fenced_products() {
  static const inference::ProductDriver products{
      .name = "fenced", .multiply = [](std::int32_t, const inference::BatchedProduct& product) {
        const OpenFence open;
        multiply_on_host(product);
      }};
  return products;
}

/// What a pass layer by layer asks for.
struct ProductsOnHost {
  void multiply(const inference::BatchedProduct& product) { multiply_on_host(product); }
  template <class Body>
  void each(std::int64_t count, const Body& body) {
    for_each_index(count, body);
  }
};

/// The kernels of a launch.
inline void pass_on_host(const inference::MlpLaunch& launch, ThreadOrder order = ThreadOrder::down) {
  if (launch.layers.units != nullptr) {
    ProductsOnHost work;
    return inference::cuda::pass_layers(launch, work);
  }
  if (launch.tiling.whole)
    pass_blocks<true>(launch, order);
  else
    pass_blocks<false>(launch, order);
  const inference::cuda::AddShares body{launch};
  if (launch.shares != nullptr) for_each_index(launch.networks * body.groups(), body);
}

/// The kernels of structured weights.
inline void structure_on_host(const inference::StructureLaunch& launch, ThreadOrder order = ThreadOrder::down) {
  if (launch.kept != nullptr) {
    ProductsOnHost work;
    return inference::cuda::pass_structure_products(launch, work);
  }
  const bool backward = launch.gradient != nullptr;
  std::vector<float> shared(static_cast<std::size_t>(launch.places.shared_floats(backward)));
  for (std::int64_t index = launch.blocks() - 1; index >= 0; --index) {
    std::memset(shared.data(), 0xff, shared.size() * sizeof(float));
    const inference::cuda::StructureBlock block(launch, index, shared.data());
    MlpThreadsOnHost threads{order};
    if (backward)
      inference::cuda::pull_back_slopes(block, threads);
    else
      inference::cuda::make_weights(block, threads);
  }
}

/// Bytes that a block of the fenced device shares: by default those of an H100.
inline std::int64_t& fenced_shared_bytes() {
  static std::int64_t bytes = 232'448;
  return bytes;
}

/// For its time a block of the fenced device shares so many bytes.
class SharedBytes {
 public:
  explicit SharedBytes(std::int64_t bytes) : before_(std::exchange(fenced_shared_bytes(), bytes)) {}
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  ~SharedBytes() { fenced_shared_bytes() = before_; }

 private:
  std::int64_t before_;
};

/// The fenced device; the first call registers its driver of perceptrons.
inline inference::Device fenced_networks() {
  static const inference::MlpDriver fenced{
      .name = "fenced",
      .shared_bytes = [](std::int32_t) { return fenced_shared_bytes(); },
      .upload =
          [](std::int32_t, void* to, const void* host, std::size_t bytes) {  // nobody waits for it
            const OpenFence open;
            std::memcpy(to, host, bytes);
          },
      .pass =
          [](std::int32_t, const inference::MlpLaunch& launch) {
            const OpenFence open;
            pass_on_host(launch);
          },
      .structure =
          [](std::int32_t, const inference::StructureLaunch& launch) {
            const OpenFence open;
            structure_on_host(launch);
          }};
  static const bool registered = inference::mlp_drivers().add("fenced", &fenced);
  static_cast<void>(registered);
  return fenced_device();
}

}  // namespace stein::test
