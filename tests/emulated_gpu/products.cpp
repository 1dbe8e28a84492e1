// The functions of cuBLASLt that Stein calls, on the GPU of the tests: batches of C = αAB + βC, by columns, as plain
// loops.
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include "emulated_gpu/gpu.h"

namespace {

/// What stands in cuBLASLt's opaque descriptors here.
struct Operation {
  cublasComputeType_t arithmetic;
  cublasOperation_t turn_a, turn_b;
};
struct Layout {
  std::uint64_t rows, columns;
  std::int64_t stride, step;
  std::int32_t count;
};
struct Preference {
  std::array<std::uint32_t, 4> alignments{1, 1, 1, 1};  ///< of A, B, C, D [bytes]
};
/// What an algorithm was chosen for.
struct Algorithm {
  std::array<std::uint32_t, 4> alignments;
};

template <class T, class Opaque>
T& in(Opaque* opaque) {
  static_assert(sizeof(T) <= sizeof(Opaque));
  return *reinterpret_cast<T*>(opaque);
}
template <class T, class Opaque>
const T& in(const Opaque* opaque) {
  static_assert(sizeof(T) <= sizeof(Opaque));
  return *reinterpret_cast<const T*>(opaque);
}

/// A number with so many bits of its mantissa less, to nearest even.
float rounded(float number, int bits) {
  const auto word = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t last = word >> bits & 1U, half = (1U << (bits - 1)) - 1 + last;
  return std::isfinite(number) ? std::bit_cast<float>((word + half) >> bits << bits) : number;
}

int dropped_bits(cublasComputeType_t arithmetic) {
  if (arithmetic == CUBLAS_COMPUTE_32F_FAST_16BF) return 16;
  return arithmetic == CUBLAS_COMPUTE_32F_FAST_TF32 ? 13 : 0;
}

/// A number of a matrix of a batch.
struct Factor {
  const float* data;
  std::int64_t stride;
  bool turned;
  int bits;

  float operator()(std::int64_t row, std::int64_t column) const {
    const float number = turned ? data[row * stride + column] : data[column * stride + row];
    return bits == 0 ? number : rounded(number, bits);
  }
};

bool is_aligned(const void* address, const Layout& layout, std::uint32_t alignment) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return (at | static_cast<std::uint64_t>(layout.step) * sizeof(float)) % alignment == 0;
}

}  // namespace

extern "C" {

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "invalid value";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* library) {
  static int any;
  *library = reinterpret_cast<cublasLtHandle_t>(&any);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation, cublasComputeType_t arithmetic,
                                        cudaDataType_t) {
  *operation = new cublasLtMatmulDescOpaque_t{};
  in<Operation>(*operation) = {.arithmetic = arithmetic, .turn_a = CUBLAS_OP_N, .turn_b = CUBLAS_OP_N};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  Operation& own = in<Operation>(operation);
  if (bytes != sizeof(cublasOperation_t)) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute != CUBLASLT_MATMUL_DESC_TRANSA && attribute != CUBLASLT_MATMUL_DESC_TRANSB)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(attribute == CUBLASLT_MATMUL_DESC_TRANSA ? &own.turn_a : &own.turn_b, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete operation;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t stride) {
  *layout = new cublasLtMatrixLayoutOpaque_t{};
  in<Layout>(*layout) = {.rows = rows, .columns = columns, .stride = stride, .step = 0, .count = 1};
  return stride >= static_cast<std::int64_t>(rows) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
  Layout& own = in<Layout>(layout);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes == sizeof own.count)
    std::memcpy(&own.count, value, bytes);
  else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && bytes == sizeof own.step)
    std::memcpy(&own.step, value, bytes);
  else
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t{};
  in<Preference>(*preference) = {};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
  auto& alignments = in<Preference>(preference).alignments;
  const auto set = [&](std::size_t which) {
    if (bytes != sizeof(std::uint32_t)) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&alignments[which], value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return set(0);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return set(1);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return set(2);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return set(3);
    default: return CUBLAS_STATUS_SUCCESS;
  }
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t preference, int,
                                              cublasLtMatmulHeuristicResult_t* found, int* count) {
  *found = {};
  in<Algorithm>(&found->algo) = {.alignments = in<Preference>(preference).alignments};
  found->state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

/// Refuses what it was not told: sizes that do not fit, addresses that lie worse than the algorithm was chosen for.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void*,
                              std::size_t, cudaStream_t) {
  const Operation own = in<Operation>(operation);
  const Layout left = in<Layout>(a_layout), right = in<Layout>(b_layout), result = in<Layout>(d_layout);
  const bool turn_a = own.turn_a == CUBLAS_OP_T, turn_b = own.turn_b == CUBLAS_OP_T;
  const std::uint64_t rows = turn_a ? left.columns : left.rows, inner = turn_a ? left.rows : left.columns;
  const std::uint64_t columns = turn_b ? right.rows : right.columns;
  const auto& alignments = in<Algorithm>(algorithm).alignments;
  if (c != d || c_layout != d_layout || inner != (turn_b ? right.columns : right.rows) || rows != result.rows ||
      columns != result.columns || left.count != result.count || right.count != result.count ||
      !is_aligned(a, left, alignments[0]) || !is_aligned(b, right, alignments[1]) ||
      !is_aligned(d, result, alignments[3]))
    return CUBLAS_STATUS_INVALID_VALUE;
  const float scale = *static_cast<const float*>(alpha), before = *static_cast<const float*>(beta);
  const int bits = dropped_bits(own.arithmetic);
  stein::test::start_work([=] {
    for (std::int64_t k = 0; k < result.count; ++k) {
      const Factor first{static_cast<const float*>(a) + k * left.step, left.stride, turn_a, bits};
      const Factor second{static_cast<const float*>(b) + k * right.step, right.stride, turn_b, bits};
      float* const to = static_cast<float*>(d) + k * result.step;
      for (std::int64_t column = 0; column < static_cast<std::int64_t>(columns); ++column)
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(rows); ++row) {
          float sum = 0;
          for (std::int64_t i = 0; i < static_cast<std::int64_t>(inner); ++i) sum += first(row, i) * second(i, column);
          float& at = to[column * result.stride + row];
          at = before == 0 ? scale * sum : scale * sum + before * at;  // what was there may be no number
        }
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
