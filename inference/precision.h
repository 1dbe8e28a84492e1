// In what numbers products of matrices are computed.
#pragma once

#include <cstdint>

namespace stein::inference {

/// Weights, gradients and sums are of single precision in all.
enum class Precision : std::uint8_t {
  single,    ///< float
  bfloat16,  ///< both factors rounded to 8 bits of mantissa: faster where such are multiplied (AVX-512 BF16, GPUs)
  tf32,      ///< both rounded to 11 bits by a GPU as it multiplies them
};

}  // namespace stein::inference
