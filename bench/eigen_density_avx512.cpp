// The log density in Eigen for AVX-512; CMakeLists.txt gives this file the flags.
#ifdef __x86_64__
#define Eigen EigenAvx512
#include <stein/bench/eigen_density-inl.h>

namespace stein::bench {

EigenArithmetic eigen_avx512() {
  return {.instructions = "AVX-512", .log_density = log_density, .products = products};
}

}  // namespace stein::bench
#endif
