// Products of matrices on a GPU, registered as "cuda". Everything is put in the stream 0 of the GPU, as all that stands
// beside it, so all products of a GPU can have the same working memory.
#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/products/product_plan.h>

#include <map>
#include <memory>
#include <mutex>

namespace stein::inference::cuda {
namespace {

/// cuBLASLt on one GPU, working memory there, and the plans so far. Stays until the program ends, when CUDA may be gone
/// before: nothing is released.
struct ProductsOfGpu {
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  cublasLtHandle_t library = nullptr;
  void* workspace = nullptr;
  std::map<ProductShape, std::unique_ptr<const ProductPlan>> plans{};

  ProductsOfGpu() {
    check(cublasLtCreate(&library), "use cuBLASLt");
    check_memory(cudaMalloc(&workspace, workspace_bytes), workspace_bytes);
  }
  void multiply(const BatchedProduct& product) {
    std::unique_ptr<const ProductPlan>& plan = plans[ProductShape(product)];
    if (plan == nullptr) plan = std::make_unique<const ProductPlan>(library, ProductShape(product), workspace_bytes);
    plan->multiply(library, product, workspace, workspace_bytes);
  }
};

void multiply(std::int32_t index, const BatchedProduct& product) {
  if (product.count == 0 || product.rows == 0 || product.columns == 0) return;
  static std::mutex one_at_a_time;
  static auto& of_gpus = *new std::map<std::int32_t, ProductsOfGpu>;  // never destroyed
  const CurrentDevice device(index);
  const std::lock_guard lock(one_at_a_time);
  of_gpus[index].multiply(product);
}

const ProductDriver driver{.name = "cuda", .multiply = multiply};
const bool registered = product_drivers().add("cuda", &driver);

}  // namespace
}  // namespace stein::inference::cuda
