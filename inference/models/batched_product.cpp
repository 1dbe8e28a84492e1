#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/inference/models/batched_product.h>

namespace stein::inference {
namespace {

/// Whether the library of products is there; asked for once.
bool products_of_gpus() {
  constexpr std::string_view library = "cuda_products";
  if (!has_component(library)) return false;
  try {
    load_component(library);
  } catch (const Error&) {  // cuBLASLt is large, and not everywhere
    return false;
  }
  return true;
}

}  // namespace

Registry<const ProductDriver*>& product_drivers() {
  static Registry<const ProductDriver*> registry("driver of products of matrices");
  return registry;
}

const ProductDriver* product_driver(Device device) {
  if (device.kind != Device::Kind::cuda) return nullptr;
  static const bool there = products_of_gpus();
  return there ? product_drivers().at("cuda") : nullptr;
}

}  // namespace stein::inference
