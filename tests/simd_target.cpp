// Holds a test program to the SIMD target that STEIN_TEST_SIMD_TARGET names, so that one machine tests the kernels of
// several, and says which target it runs. Exits with 77, which CTest counts as skipped, where the machine lacks it.
#include <stein/core/simd.h>

#include <hwy/targets.h>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

std::int64_t hold_to_target() {
  const char* const wanted = std::getenv("STEIN_TEST_SIMD_TARGET");
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (wanted != nullptr && std::string_view(wanted) != hwy::TargetName(target)) continue;
    if (wanted != nullptr) hwy::SetSupportedTargetsForTest(target);
    std::fprintf(stderr, "SIMD target: %s\n", hwy::TargetName(target));
    return target;
  }
  std::fprintf(stderr, "skipped: no SIMD target %s\n", wanted);
  std::exit(77);
}

[[maybe_unused]] const std::int64_t target = hold_to_target();

}  // namespace
