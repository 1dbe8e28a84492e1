// The log density in Eigen for AVX2; CMakeLists.txt gives this file the flags.
#ifdef __x86_64__
#define Eigen EigenAvx2
#include <stein/bench/eigen_density-inl.h>

namespace stein::bench {

EigenArithmetic eigen_avx2() {
  return {.instructions = "AVX2", .log_density = log_density, .products = products};
}

}  // namespace stein::bench
#endif
