// Regressions in Eigen for AVX-512; CMakeLists.txt gives this file the flags.
#ifdef __x86_64__
#define Eigen EigenAvx512
#include <stein/bench/eigen_regressions-inl.h>

namespace stein::bench {

EigenRegressions eigen_regressions_avx512() {
  return regressions_for("AVX-512");
}

}  // namespace stein::bench
#endif
