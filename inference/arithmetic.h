// How the same mathematics is computed.
#pragma once

#include <cstdint>

namespace stein::inference {

/// Which driver computes, chosen at run time.
enum class Arithmetic : std::uint8_t {
  fused,      ///< SIMD, on all threads
  reference,  ///< of models LibTorch autograd, all particles batched; of samplers plain loops
};

}  // namespace stein::inference
