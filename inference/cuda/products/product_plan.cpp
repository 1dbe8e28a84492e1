#include <stein/core/error.h>
#include <stein/inference/cuda/products/product_plan.h>

#include <algorithm>
#include <bit>

namespace stein::inference::cuda {

void check(cublasStatus_t status, std::string_view what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(ErrorKind::io, "cannot {}: cuBLASLt says '{}'", what, cublasLtGetStatusString(status));
}

namespace {

constexpr std::string_view describe = "describe a product of matrices";

/// The largest power of two, up to 256, that address and distances in bytes are multiples of.
template <class T>
std::uint32_t alignment_of(const ProductMatrix<T>& matrix) {
  const auto address = reinterpret_cast<std::uintptr_t>(matrix.data);
  const std::uint64_t bits = address | static_cast<std::uint64_t>(matrix.step) * sizeof(float) | 256;
  return std::uint32_t{1} << std::countr_zero(bits);
}

template <class T>
ProductShape::Operand operand_of(const ProductMatrix<T>& matrix) {
  return {.stride = matrix.stride, .step = matrix.step, .turned = matrix.turned, .alignment = alignment_of(matrix)};
}

/// cuBLASLt counts along columns: to it a matrix with rows end to end is its transpose.
cublasLtMatrixLayout_t layout_of(const ProductShape::Operand& matrix, std::int64_t rows, std::int64_t columns,
                                 std::int64_t count) {
  if (matrix.turned) std::swap(rows, columns);
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, static_cast<std::uint64_t>(columns),
                                   static_cast<std::uint64_t>(rows), matrix.stride),
        describe);
  const auto batch = static_cast<std::int32_t>(count);
  const cublasStatus_t counted =
      cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch));
  const cublasStatus_t stepped = cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                                  &matrix.step, sizeof(matrix.step));
  if (counted != CUBLAS_STATUS_SUCCESS || stepped != CUBLAS_STATUS_SUCCESS) cublasLtMatrixLayoutDestroy(layout);
  check(counted, describe), check(stepped, describe);
  return layout;
}

/// Numbers are floats in memory in all, and so are sums.
cublasComputeType_t arithmetic_of(Precision precision) {
  switch (precision) {
    case Precision::bfloat16: return CUBLAS_COMPUTE_32F_FAST_16BF;
    case Precision::tf32: return CUBLAS_COMPUTE_32F_FAST_TF32;
    case Precision::single: break;
  }
  return CUBLAS_COMPUTE_32F;
}

/// What an algorithm may be.
class Preference {
 public:
  Preference() { check(cublasLtMatmulPreferenceCreate(&preference_), describe); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  ~Preference() { cublasLtMatmulPreferenceDestroy(preference_); }

  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference_, attribute, &value, sizeof(value)), describe);
  }
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  cublasLtMatmulPreference_t preference_ = nullptr;
};

}  // namespace

ProductShape::ProductShape(const BatchedProduct& product)
    : count(product.count),
      rows(product.rows),
      columns(product.columns),
      inner(product.inner),
      a(operand_of(product.a)),
      b(operand_of(product.b)),
      c(operand_of(product.c)),
      precision(product.precision) {}

ProductPlan::ProductPlan(cublasLtHandle_t library, const ProductShape& shape, std::size_t workspace_bytes) {
  try {
    make(library, shape, workspace_bytes);
  } catch (...) {
    release();
    throw;
  }
}

ProductPlan::~ProductPlan() {
  release();
}

/// Along columns the product is Cᵀ = Bᵀ Aᵀ: B comes first.
void ProductPlan::make(cublasLtHandle_t library, const ProductShape& shape, std::size_t workspace_bytes) {
  check(cublasLtMatmulDescCreate(&operation_, arithmetic_of(shape.precision), CUDA_R_32F), describe);
  const cublasOperation_t turn_b = shape.b.turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t turn_a = shape.a.turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  check(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &turn_b, sizeof(turn_b)), describe);
  check(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSB, &turn_a, sizeof(turn_a)), describe);
  a_ = layout_of(shape.a, shape.rows, shape.inner, shape.count);
  b_ = layout_of(shape.b, shape.inner, shape.columns, shape.count);
  c_ = layout_of(shape.c, shape.rows, shape.columns, shape.count);
  Preference preference;
  preference.set<std::uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
  preference.set<std::uint32_t>(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, CUBLASLT_REDUCTION_SCHEME_NONE);
  preference.set<std::uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.b.alignment);
  preference.set<std::uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.a.alignment);
  preference.set<std::uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.c.alignment);
  preference.set<std::uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.c.alignment);
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  check(cublasLtMatmulAlgoGetHeuristic(library, operation_, b_, a_, c_, c_, preference.get(), 1, &found, &count),
        "choose an algorithm for a product of matrices");
  check(count > 0 ? found.state : CUBLAS_STATUS_NOT_SUPPORTED, "choose an algorithm for a product of matrices");
  algorithm_ = found.algo;
}

void ProductPlan::release() noexcept {
  for (const cublasLtMatrixLayout_t layout : {a_, b_, c_})
    if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
  if (operation_ != nullptr) cublasLtMatmulDescDestroy(operation_);
}

void ProductPlan::multiply(cublasLtHandle_t library, const BatchedProduct& product, void* workspace,
                           std::size_t workspace_bytes) const {
  const float one = 1, before = product.adds ? 1 : 0;
  check(cublasLtMatmul(library, operation_, &one, product.b.data, b_, product.a.data, a_, &before, product.c.data, c_,
                       product.c.data, c_, &algorithm_, workspace, workspace_bytes, nullptr),
        "multiply matrices");
}

}  // namespace stein::inference::cuda
