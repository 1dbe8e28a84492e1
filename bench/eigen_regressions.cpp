#include <stein/bench/eigen_regressions.h>

#include <hwy/targets.h>

namespace stein::bench {

EigenRegressions eigen_regressions_baseline();
#if HWY_ARCH_X86_64
EigenRegressions eigen_regressions_avx2();
EigenRegressions eigen_regressions_avx512();
#endif

EigenRegressions eigen_regressions() {
#if HWY_ARCH_X86_64
  if ((hwy::SupportedTargets() & HWY_AVX3) != 0) return eigen_regressions_avx512();
  if ((hwy::SupportedTargets() & HWY_AVX2) != 0) return eigen_regressions_avx2();
#endif
  return eigen_regressions_baseline();
}

}  // namespace stein::bench
