// How cuBLASLt makes products of one shape: descriptors, and the algorithm that it is told to use.
#pragma once

#include <stein/inference/models/batched_product.h>

#include <cublasLt.h>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stein::inference::cuda {

/// Throws Error(io) with cuBLASLt's reason; `what` completes "cannot …".
void check(cublasStatus_t status, std::string_view what);

/// Everything that the choice of an algorithm depends on besides the GPU.
struct ProductShape {
  explicit ProductShape(const BatchedProduct& product);
  auto operator<=>(const ProductShape&) const = default;

  /// One matrix.
  struct Operand {
    std::int64_t stride, step;
    bool turned;
    std::uint32_t alignment;  ///< bytes, of every matrix of it
    auto operator<=>(const Operand&) const = default;
  };
  std::int64_t count, rows, columns, inner;
  Operand a, b, c;
  Precision precision;
};

/// Made once for a shape on a GPU: the first algorithm that cuBLASLt names for the precision, without sums that are
/// split between blocks. The choice is that of the library and the GPU, so the bits are too.
class ProductPlan {
 public:
  /// Throws Error(io) where there is no such algorithm.
  ProductPlan(cublasLtHandle_t library, const ProductShape& shape, std::size_t workspace_bytes);
  ProductPlan(const ProductPlan&) = delete;
  ProductPlan& operator=(const ProductPlan&) = delete;
  ~ProductPlan();

  /// In the stream 0 of the current GPU.
  void multiply(cublasLtHandle_t library, const BatchedProduct& product, void* workspace,
                std::size_t workspace_bytes) const;

 private:
  void make(cublasLtHandle_t library, const ProductShape& shape, std::size_t workspace_bytes);
  void release() noexcept;

  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace stein::inference::cuda
