// Regressions in Eigen for AVX2; CMakeLists.txt gives this file the flags.
#ifdef __x86_64__
#define Eigen EigenAvx2
#include <stein/bench/eigen_regressions-inl.h>

namespace stein::bench {

EigenRegressions eigen_regressions_avx2() {
  return regressions_for("AVX2");
}

}  // namespace stein::bench
#endif
