// In what numbers products of matrices are computed.
#pragma once

#include <cstdint>

namespace stein::inference {

/// Weights, gradients and sums are of single precision in both.
enum class Precision : std::uint8_t {
  single,    ///< float
  bfloat16,  ///< both factors rounded to 8 bits of mantissa: faster where the processor multiplies such (AVX-512 BF16)
};

}  // namespace stein::inference
