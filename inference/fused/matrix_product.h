// Products of matrices of any size, for networks whose layers are larger than a cache.
#pragma once

#include <stein/inference/precision.h>
#include <stein/inference/storage/aligned_buffer.h>

#include <cstdint>

namespace stein::inference::fused {

/// A matrix as a product reads it: element (i, j) lies at data[i · row + j · column], so a transposed one is the same
/// numbers with the strides swapped.
struct MatrixOperand {
  const float* data;
  std::int64_t row, column;
};

/// The right side of a product, copied into the order in which products read it: once for many products. Memory grows
/// to the largest matrix it has held.
class PackedMatrix {
 public:
  explicit PackedMatrix(Precision precision = Precision::single);

  Precision precision() const { return precision_; }
  /// Copies B [k, n], on all threads.
  void pack(std::int64_t k, std::int64_t n, const MatrixOperand& b);

  std::int64_t rows() const { return k_; }
  std::int64_t columns() const { return n_; }
  const float* data() const { return numbers_.data(); }
  /// Whether the numbers lie in pairs of bfloat16 (bfloat16_product.h), as a processor that multiplies such reads them.
  bool in_pairs() const { return in_pairs_; }
  const std::uint32_t* pairs() const { return pairs_.data(); }

 private:
  Precision precision_;
  bool in_pairs_;
  std::int64_t k_ = 0, n_ = 0;
  AlignedBuffer<float> numbers_;
  AlignedBuffer<std::uint32_t> pairs_;  ///< instead
};

/// What a product does with the numbers that are there.
enum class ProductStart { zero, add };

/// C [m, n] = A [m, k] · B, or C + A · B; rows of C lie `c_stride` apart. Every number is a sum in the order of k with
/// one rounding a term, so the bits depend neither on threads nor on the SIMD target (one that multiplies and adds at
/// once).
///
/// Where B is of bfloat16 numbers, A is rounded to such too, and their products are summed in single precision: by the
/// instructions for that where the processor has them (AVX-512 BF16), with its order and roundings of sums, else as
/// other floats are, at their speed. The same bits at any number of threads.
void multiply(std::int64_t m, const MatrixOperand& a, const PackedMatrix& b, float* c, std::int64_t c_stride,
              ProductStart start);

}  // namespace stein::inference::fused
