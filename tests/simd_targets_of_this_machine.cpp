// Prints, best first, the SIMD targets that kernels are compiled for and that this machine has.
#include <stein/core/simd.h>

#include <hwy/targets.h>
#include <cstdio>

int main() {
  const char* gap = "";
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    std::printf("%s%s", gap, hwy::TargetName(target));
    gap = ";";
  }
}
