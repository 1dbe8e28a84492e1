// A GPU for tests, where there is one.
#pragma once

#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/inference/models/batched_product.h>
#include <stein/inference/storage/device_memory.h>

#include <string>

#include "skip.h"

namespace stein::test {

/// The first GPU. Skips the case where there is none.
inline inference::Device gpu() {
  const inference::Device device{.kind = inference::Device::Kind::cuda};
  if (!has_component("cuda")) skip("built without CUDA");
  try {
    inference::check_present(device);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    skip(std::string("no GPU: ") + error.what());
  }
  return device;
}

/// The products of matrices of a GPU. Skips the case where there are none.
inline const inference::ProductDriver& products_of(inference::Device gpu) {
  if (!has_component("cuda_products")) skip("built without cuBLASLt");
  const inference::ProductDriver* const found = inference::product_driver(gpu);
  if (found == nullptr) skip("cuBLASLt is not installed");
  return *found;
}

}  // namespace stein::test
