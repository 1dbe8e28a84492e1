// Perceptrons on a GPU, registered as "cuda". Everything is put in the stream 0 of the GPU, as the memory of GPUs is.
#include <stein/core/error.h>
#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/layer_pass.h>
#include <stein/inference/cuda/mlp_kernels.h>
#include <stein/inference/cuda/scratch.h>
#include <stein/inference/cuda/structure_products.h>
#include <stein/inference/cuda/upload.h>
#include <stein/inference/models/mlp_driver.h>

namespace stein::inference::cuda {
namespace {

std::int64_t shared_bytes(std::int32_t index) {
  const CurrentDevice device(index);  // says how many GPUs there are where this is none of them
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, index), "use a GPU");
  return most;
}

void upload_batch(std::int32_t index, void* to, const void* host, std::size_t bytes) {
  const CurrentDevice device(index);
  upload(to, host, bytes, first_stream);
}

/// Products by their library, everything else by kernels.
struct ProductsOnGpu {
  std::int32_t index;
  const ProductDriver& products;

  void multiply(const BatchedProduct& product) const { products.multiply(index, product); }
  template <class Body>
  void each(std::int64_t count, const Body& body) {
    for_each_unit(count, body, first_stream);
  }
};

ProductsOnGpu products_on(std::int32_t index) {
  const ProductDriver* const products = product_driver({.kind = Device::Kind::cuda, .index = index});
  STEIN_CHECK(products != nullptr, "perceptrons on a GPU: there is no library of products of matrices here");
  return {index, *products};
}

void pass_by_layers(std::int32_t index, const MlpLaunch& launch) {
  ProductsOnGpu work = products_on(index);
  const CurrentDevice device(index);
  pass_layers(launch, work);
  check(cudaGetLastError(), "start a kernel of perceptrons");
}

void pass(std::int32_t index, const MlpLaunch& launch) {
  if (launch.layers.units != nullptr) return pass_by_layers(index, launch);
  constexpr std::int64_t most_blocks = (std::int64_t{1} << 31) - 1;
  STEIN_CHECK(launch.blocks() <= most_blocks, "perceptrons on a GPU: expected at most {} tiles of rows, got {}",
              most_blocks, launch.blocks());
  const CurrentDevice device(index);
  pass_networks(launch, first_stream);
  if (launch.shares != nullptr) add_shares(launch, first_stream);
  check(cudaGetLastError(), "start a kernel of perceptrons");
}

void structure(std::int32_t index, const StructureLaunch& launch) {
  const CurrentDevice device(index);
  if (launch.kept != nullptr) {
    ProductsOnGpu work = products_on(index);
    pass_structure_products(launch, work);
  } else {
    pass_structure(launch, first_stream);
  }
  check(cudaGetLastError(), "start a kernel of structured weights");
}

const MlpDriver driver{
    .name = "cuda", .shared_bytes = shared_bytes, .upload = upload_batch, .pass = pass, .structure = structure};
const bool registered = mlp_drivers().add("cuda", &driver);

}  // namespace
}  // namespace stein::inference::cuda
